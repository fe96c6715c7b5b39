// Activations as the kernel of a level wants them: which kernel, which layout, and what must be
// taken off the sums afterwards (gemm.h says why).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/kernels/isa.h"
#include "sim/kernels/matmul/gemm_kernels.h"

namespace tidemark {

// What packing found out about weights; rows as they lie have none.
struct WeightFacts {
  bool packed = false;
  int largest = 0;                    // max |w|
  const int32_t* row_sums = nullptr;  // sum over k of w[n][k]
};

class Activations {
 public:
  // x is [T, K], which must outlive this, as must the facts' row sums. Laid out copies stand in a
  // buffer of the calling thread, one at a time: the last made is the one to use.
  Activations(const int8_t* x, int64_t tokens, int64_t columns, const WeightFacts& facts);

  GemmKernel kernel() const { return kernel_; }
  // `weights` with the activations beside them.
  GemmJob added_to(GemmJob weights) const;

 private:
  void choose(const WeightFacts& facts);
  void choose_unsigned(GemmKernel chosen, int32_t offset, const WeightFacts& facts);
  void choose_narrow(const WeightFacts& facts);
  void lay_out();
  void lay_out_groups();
  template <typename Value, typename Copy>
  void lay_out_rows(const Copy& copy);
  void sum_tokens();

  const int8_t* x_;
  int64_t tokens_;
  int64_t columns_;
  GemmKernel kernel_ = gemm_baseline;
  Layout layout_ = Layout::kPlain;
  const void* laid_out_ = nullptr;
  int64_t stride_ = 0;
  int32_t offset_ = 0;
  const int32_t* row_sums_ = nullptr;
  std::vector<int32_t> token_terms_{};
};

using DotKernel = int32_t (*)(const int8_t* a, const int8_t* b, int64_t length);
DotKernel dot_kernel(Isa isa);

}  // namespace tidemark
