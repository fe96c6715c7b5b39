#include "planner/engine/llama_cpp/llama_projector.h"

#include <algorithm>

#include "planner/engine/ggml_alloc.h"
#include "planner/engine/llama_cpp/device_split.h"

namespace tidemark {
namespace {

constexpr Alignment kCpuAlignment = Alignment::of(32);
constexpr Alignment kDeviceAlignment = Alignment::of(128);

bool is_tower(StackRole role) { return role == StackRole::kVision || role == StackRole::kAudio; }

bool is_patches(std::string_view name) { return name.find("patch_embd") != std::string_view::npos; }
bool is_positions(std::string_view name) {
  return name.find("position_embd") != std::string_view::npos;
}

const StackSpec* vision_of(const ModelSpec& model) {
  const TransformerSpec* spec = model.transformer();
  if (spec == nullptr) return nullptr;
  const auto found = std::ranges::find(spec->stacks, StackRole::kVision, &StackSpec::role);
  return found == spec->stacks.end() ? nullptr : &*found;
}

// Pixels a side of the image that it warms up with: as trained, or a number of tokens.
int64_t first_image(const ImageSpec& image) {
  constexpr int64_t kTokensOfAnySize = 46;  // a side
  if (image.image_size > 0) return image.image_size;
  return checked_mul(checked_mul(kTokensOfAnySize, image.patch_size), image.merge);
}

Bytes reserved_on(GgmlGraph graph, Alignment alignment) {
  for (GgmlTensor& tensor : graph.tensors) {
    if (needs_memory(tensor)) tensor.bytes = align_up(tensor.bytes, alignment);
  }
  return reserve(graph).reserved;
}

// All weights on the device, the inputs with the CPU.
DeviceSplit split_of(const GgmlGraph& graph) {
  const size_t n = graph.tensors.size();
  DeviceRequest request{.n_devices = 2,
                        .home = std::vector<std::optional<size_t>>(n),
                        .is_weight = std::vector<bool>(n, false),
                        .wish = std::vector<std::optional<size_t>>(n)};
  for (size_t i = 0; i < n; ++i) {
    if (!graph.tensors[i].leaf || !graph.tensors[i].external) continue;
    request.home[i] = 0;
    request.is_weight[i] = true;
  }
  return split_devices(graph, request);
}

}  // namespace

LlamaProjectorFile projector_weights(const ModelSpec& model, DType type) {
  LlamaProjectorFile made{.name = "auto"};
  const TransformerSpec* spec = model.transformer();
  if (spec == nullptr) return made;
  for (const WeightTensor& tensor : weight_tensors(model)) {
    if (tensor.stack < 0 || !is_tower(spec->stacks[static_cast<size_t>(tensor.stack)].role)) {
      continue;
    }
    const bool is_wide = (tensor.rows == 1 && tensor.count == 1) || is_positions(tensor.name) ||
                         (is_patches(tensor.name) && type != DType::kF16);
    const Bytes row = row_bytes(is_wide ? DType::kF32 : type, tensor.columns);
    const Bytes bytes = row * checked_mul(tensor.rows, tensor.count);
    made.tensors += bytes;
    made.whole += align_up(bytes, kCpuAlignment);
    ++made.n_tensors;
  }
  return made;
}

std::optional<LlamaProjectorCompute> projector_compute(const ModelSpec& model, bool flash,
                                                       bool on_device, DType patches) {
  const StackSpec* tower = vision_of(model);
  if (tower == nullptr) return std::nullopt;
  LlamaProjectorCompute made{.pixels = first_image(tower->image)};
  const std::optional<GgmlGraph> graph = projector_graph(model, made.pixels, flash, patches);
  if (!graph) return std::nullopt;
  made.n_nodes = std::ranges::count(graph->tensors, false, &GgmlTensor::leaf);
  if (!on_device) {
    made.compute = reserve(*graph).reserved;
    return made;
  }
  const DeviceSplit split = split_of(*graph);
  made.compute = reserved_on(split.graphs[0], kDeviceAlignment);
  made.host = reserved_on(split.graphs[1], kCpuAlignment);
  return made;
}

}  // namespace tidemark
