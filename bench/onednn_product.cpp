#include "onednn_product.h"

#include <cstring>
#include <oneapi/dnnl/dnnl.hpp>
#include <vector>

namespace tidemark {

struct OneDnnProduct::State {
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
  std::vector<int8_t> x{};
  std::vector<int32_t> out{};
  dnnl::matmul::primitive_desc chosen{};
  dnnl::matmul product{};
  dnnl::memory x_memory{};
  dnnl::memory weights_memory{};
  dnnl::memory out_memory{};
};

OneDnnProduct::OneDnnProduct(int64_t tokens, int64_t columns, int64_t rows,
                             std::span<const int8_t> x, std::span<const std::byte> weights,
                             int64_t stride)
    : state_(std::make_unique<State>()) {
  using dnnl::memory;
  State& s = *state_;
  s.x.assign(x.begin(), x.end());
  s.out.resize(static_cast<size_t>(tokens * rows));
  const memory::desc of_x({tokens, columns}, memory::data_type::s8, memory::format_tag::ab);
  const memory::desc as_given({columns, rows}, memory::data_type::s8, memory::format_tag::ba);
  const memory::desc as_liked({columns, rows}, memory::data_type::s8, memory::format_tag::any);
  const memory::desc of_out({tokens, rows}, memory::data_type::s32, memory::format_tag::ab);
  s.chosen = {dnnl::matmul::desc(of_x, as_liked, of_out), s.engine};
  s.product = dnnl::matmul(s.chosen);
  s.x_memory = memory(of_x, s.engine, s.x.data());
  s.out_memory = memory(of_out, s.engine, s.out.data());
  s.weights_memory = memory(s.chosen.weights_desc(), s.engine);
  // Its reorders take no rows with something between them.
  std::vector<std::byte> dense(static_cast<size_t>(rows * columns));
  for (int64_t n = 0; n < rows; ++n) {
    std::memcpy(dense.data() + n * columns, weights.data() + n * stride,
                static_cast<size_t>(columns));
  }
  memory given(as_given, s.engine, dense.data());
  dnnl::reorder(given, s.weights_memory).execute(s.stream, given, s.weights_memory);
  s.stream.wait();
}

OneDnnProduct::~OneDnnProduct() = default;

void OneDnnProduct::run() {
  state_->product.execute(state_->stream, {{DNNL_ARG_SRC, state_->x_memory},
                                           {DNNL_ARG_WEIGHTS, state_->weights_memory},
                                           {DNNL_ARG_DST, state_->out_memory}});
  state_->stream.wait();
}

std::span<const int32_t> OneDnnProduct::out() const { return state_->out; }

std::string OneDnnProduct::implementation() const { return state_->chosen.impl_info_str(); }

}  // namespace tidemark
