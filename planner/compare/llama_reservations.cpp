// What each device reserves: its part of the graph, replayed by the allocator.
#include <algorithm>

#include "planner/compare/graph_parts.h"
#include "planner/compare/llama_setup.h"
#include "planner/engine/ggml_alloc.h"

namespace tidemark {
namespace {

constexpr size_t kMostWork = 4'000'000;  // tensors, of all parts together

bool is_head(WeightRole role) {
  return role == WeightRole::kOutput || role == WeightRole::kOutputNorm;
}

bool is_in_tower(const ModelSpec& model, const WeightTensor& tensor) {
  if (tensor.stack < 0) return false;
  const StackRole role = model.transformer()->stacks[static_cast<size_t>(tensor.stack)].role;
  return role == StackRole::kVision || role == StackRole::kAudio;
}

const DeviceShare* share_of(const Placement& placement, std::string_view device) {
  const auto found = std::ranges::find(placement.shares, device, &DeviceShare::device);
  return found == placement.shares.end() ? nullptr : &*found;
}

}  // namespace

LlamaReservations::LlamaReservations(const LlamaSetup& setup, const LoggedWeights& weights)
    : setup_(setup) {
  if (!setup.impossible.empty()) {
    impossible_ = setup.impossible;
    return;
  }
  if (setup.era.unknown_graph) {
    impossible_ = "graphs of 2023 are not known";
    return;
  }
  const WeightsInventory inventory =
      weights.inventory ? *weights.inventory : weights_inventory(setup.model, DType::kF16);
  const Result<LlamaGraph> made =
      llama_graph(setup.model, inventory, setup.context, prompt_run(setup.context));
  if (!made) {
    impossible_ = made.diagnostics().front().message;
    return;
  }
  graph_ = as_of(made->graph, setup.era);
  ends_ = layer_ends(graph_, setup.model.n_layer());
  n_nodes_ = made->n_nodes;
  exact_ = made->exact_for_architecture;
}

Bytes LlamaReservations::of_device(const DeviceShare& share) const {
  const size_t all = graph_.tensors.size();
  const auto begin_of = [&](int64_t layer) {
    return layer == 0 ? behind_embedding(graph_) : ends_[static_cast<size_t>(layer - 1)];
  };
  GraphPart part{.first = begin_of(share.first),
                 .last = share.head ? all : begin_of(share.last),
                 .n_copies = setup_.n_copies};
  const Bytes layers = reserve(part_of(graph_, part)).reserved;
  const DeviceShare& last = setup_.placement.shares.back();
  const DeviceShare* host = share_of(setup_.placement, "");
  // The product with a head on the host is sent to the device that computes, weights and all.
  if (host == nullptr || !host->head || last.device != share.device) return layers;
  const GraphPart head{.first = ends_.back(), .last = all, .copies_weights = true};
  return std::max(layers, reserve(part_of(graph_, head)).reserved);
}

LlamaReservation LlamaReservations::of(std::string_view device) const {
  if (!impossible_.empty()) return {.reason = impossible_};
  const Placement& placement = setup_.placement;
  if (placement.shares.empty()) return {.reason = placement.how};
  if (placement.shares.size() == 1 && placement.shares[0].device.empty()) {
    if (!device.empty()) return {.reason = "no layer is on that device"};
    return {.bytes = reserve(graph_).reserved};
  }
  if (placement.cache_on_host) {
    return {.reason = "the KV cache is kept on the host, which cuts the graph in another way"};
  }
  if (ends_.empty()) return {.reason = "the graph does not tell its layers apart"};
  if (graph_.tensors.size() * placement.shares.size() > kMostWork) {
    return {.reason = "the graph is too large"};
  }
  if (device.empty()) {
    const GraphPart host{.last = behind_embedding(graph_), .all_inputs = true};
    return {.bytes = reserve(part_of(graph_, host)).reserved};
  }
  const DeviceShare* share = share_of(placement, device);
  if (share == nullptr) return {.reason = "no layer is on that device"};
  return {.bytes = of_device(*share)};
}

Bytes weights_on(const LlamaSetup& setup, const WeightsInventory& weights,
                 const DeviceShare& share) {
  const bool tied = setup.model.transformer()->tied_embeddings;
  const bool alone = setup.placement.shares.size() == 1 && share.device.empty();
  Bytes sum;
  for (const WeightTensor& tensor : weights.tensors) {
    if (is_in_tower(setup.model, tensor)) continue;
    const Bytes bytes = align_up(tensor.bytes, Alignment::of(32));
    if (alone) {
      sum += bytes;
    } else if (tensor.layer >= 0) {
      if (tensor.layer >= share.first && tensor.layer < share.last) sum += bytes;
    } else if (is_head(tensor.role)) {
      if (share.head) sum += bytes;
    } else if (share.device.empty()) {
      sum += bytes;
    } else if (tied && share.head && tensor.role == WeightRole::kTokenEmbedding) {
      sum += bytes;  // its second copy, for the product
    }
  }
  return sum;
}

}  // namespace tidemark
