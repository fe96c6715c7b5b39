// Where the rows of a replay's weights come from. Asked for every tensor of the inventory in order,
// and for its rows from the first to the last.
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "planner/base/diagnostic.h"
#include "planner/model/weights.h"
#include "sim/replay/value_ranges.h"

namespace tidemark {

// Weights that were read and are of no use, each tensor named.
class BadWeights : public std::runtime_error {
 public:
  explicit BadWeights(Diagnostics problems)
      : std::runtime_error("weights of no use"), problems_(std::move(problems)) {}
  const Diagnostics& problems() const { return problems_; }

 private:
  Diagnostics problems_;
};

class WeightSource {
 public:
  WeightSource() = default;
  virtual ~WeightSource() = default;
  WeightSource(const WeightSource&) = delete;
  WeightSource& operator=(const WeightSource&) = delete;

  // "made up from seed 0"
  virtual std::string describe() const = 0;
  // All throw std::system_error.
  virtual void begin(const WeightTensor& tensor, WeightId id) = 0;
  // `columns` values as the tensor's type stores them (weight_format.h).
  virtual void next_row(std::span<std::byte> row) = 0;
  // Behind the last row of the last tensor. Throws BadWeights.
  virtual void end() {}
};

// Numbers that keep a made-up model alive (value_ranges.h); the same for the same seed. A matrix of
// another format is that of int8 quantized once more, so that outputs of formats can be compared.
class MadeUpWeights : public WeightSource {
 public:
  MadeUpWeights(uint64_t seed, int64_t layers) : seed_(seed), layers_(layers) {}
  std::string describe() const override;
  void begin(const WeightTensor& tensor, WeightId id) override;
  void next_row(std::span<std::byte> row) override;

 private:
  void floats(std::span<std::byte> row);

  uint64_t seed_;
  int64_t layers_;
  Generator generator_{0};
  const WeightTensor* tensor_ = nullptr;
  uint16_t scale_ = 0;
  std::vector<int8_t> integers_{};  // of one row that is not int8
  std::vector<float> values_{};
};

}  // namespace tidemark
