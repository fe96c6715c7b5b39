// The peer of kernel_bench: an int8 x int8 -> int32 product by oneDNN, its weights brought once
// into whatever layout it likes best.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace tidemark {

class OneDnnProduct {
 public:
  // x [T, K]; weights: N rows of K, `stride` bytes apart, which are copied.
  OneDnnProduct(int64_t tokens, int64_t columns, int64_t rows, std::span<const int8_t> x,
                std::span<const std::byte> weights, int64_t stride);
  ~OneDnnProduct();
  OneDnnProduct(const OneDnnProduct&) = delete;
  OneDnnProduct& operator=(const OneDnnProduct&) = delete;

  void run();
  std::span<const int32_t> out() const;  // [T, N]
  std::string implementation() const;    // oneDNN's name for it

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tidemark
