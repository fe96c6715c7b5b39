#include "planner/engine/llama_cpp/device_split.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "planner/base/check.h"

namespace tidemark {
namespace {

using Device = std::optional<size_t>;

bool is_view_op(const GgmlTensor& tensor) {
  constexpr std::array kViews{std::string_view("PERMUTE"), std::string_view("RESHAPE"),
                              std::string_view("TRANSPOSE"), std::string_view("VIEW")};
  return std::ranges::binary_search(kViews, tensor.op);
}

// Assigns every tensor a device.
class Assignment {
 public:
  Assignment(const GgmlGraph& graph, const DeviceRequest& request)
      : graph_(graph), request_(request), device_(request.wish) {}

  std::vector<size_t> run() {
    for (size_t i = 0; i < device_.size(); ++i) {
      if (!device_[i]) device_[i] = given(graph_.tensors[i]);
    }
    spread(false, true);
    spread(true, true);
    spread(false, false);
    spread(true, false);
    return settled();
  }

 private:
  size_t cpu() const { return request_.n_devices - 1; }

  Device given(const GgmlTensor& tensor) const {
    const auto id = TensorId::of(&tensor - graph_.tensors.data());
    if (tensor.external) return request_.home[root_of(graph_, id).index()];
    if (tensor.owner) return std::nullopt;
    if (tensor.input) return cpu();
    if (tensor.op == "ROPE" || tensor.op == "FLASH_ATTN_EXT") return std::nullopt;
    for (const TensorId source : tensor.sources) {
      if (!request_.is_weight[source.index()]) continue;
      const Device home = request_.home[source.index()];
      return home == cpu() && wants_offload(tensor) ? 0 : home;
    }
    return std::nullopt;
  }

  // GET_ROWS is never worth the copy of its table.
  bool wants_offload(const GgmlTensor& tensor) const {
    if (request_.offload_batch == 0 || tensor.op == "GET_ROWS") return false;
    int64_t rows = tensor.ne[1] * tensor.ne[2] * tensor.ne[3];
    if (tensor.op == "MUL_MAT") rows = tensor.ne[1];
    if (tensor.op == "MUL_MAT_ID") rows = tensor.ne[2];
    return rows >= request_.offload_batch;
  }

  // Nodes without a device take that of the node before them; "up" goes from the end.
  void spread(bool up, bool skip_cpu) {
    Device at;
    const size_t n = device_.size();
    for (size_t step = 0; step < n; ++step) {
      const size_t i = up ? n - 1 - step : step;
      const GgmlTensor& tensor = graph_.tensors[i];
      if (tensor.leaf || is_view_op(tensor)) continue;
      if (!device_[i]) {
        device_[i] = at;
      } else {
        at = skip_cpu && *device_[i] == cpu() ? Device() : device_[i];
      }
    }
  }

  // Views are where their owner is, leaves where they are first read.
  std::vector<size_t> settled() {
    for (size_t i = 0; i < device_.size(); ++i) {
      const GgmlTensor& tensor = graph_.tensors[i];
      if (tensor.leaf) continue;
      if (tensor.owner && !tensor.external) device_[i] = device_[tensor.owner->index()];
      if (!device_[i]) device_[i] = cpu();
      for (const TensorId source : tensor.sources) {
        Device& of_source = device_[source.index()];
        const auto& owner = graph_[source].owner;
        if (!of_source) of_source = owner ? device_[owner->index()] : device_[i];
      }
    }
    std::vector<size_t> all;
    for (const Device& device : device_) all.push_back(device.value_or(cpu()));
    return all;
  }

  const GgmlGraph& graph_;
  const DeviceRequest& request_;
  std::vector<Device> device_;
};

// Writes down, device by device, what is placed there and in which order.
class Cutting {
 public:
  Cutting(const GgmlGraph& graph, const DeviceRequest& request, std::vector<size_t> device)
      : graph_(graph), request_(request) {
    made_.device = std::move(device);
    made_.graphs.resize(request.n_devices);
    placed_.resize(graph.tensors.size());
  }

  DeviceSplit run() {
    find_splits();
    add_leaves();
    for (const Split& split : splits_) {
      for (const TensorId input : split.inputs) add_copy(input, split.device);
      for (const TensorId node : split.nodes) add_node(node);
    }
    made_.n_splits = std::ssize(splits_);
    return std::move(made_);
  }

 private:
  struct Split {
    size_t device = 0;
    std::vector<TensorId> inputs{};
    std::vector<TensorId> nodes{};
  };

  size_t device_of(TensorId id) const { return made_.device[id.index()]; }

  bool wants_weight(const GgmlTensor& node, size_t device) const {
    return std::ranges::any_of(node.sources, [&](TensorId source) {
      return request_.is_weight[source.index()] && device_of(source) != device;
    });
  }

  // View ops do not count: they stand in whatever run is open.
  void find_splits() {
    std::vector<TensorId> ahead;
    for (size_t i = 0; i < graph_.tensors.size(); ++i) {
      const GgmlTensor& tensor = graph_.tensors[i];
      if (tensor.leaf) continue;
      const auto id = TensorId::of(i);
      if (is_view_op(tensor)) {
        (splits_.empty() ? ahead : splits_.back().nodes).push_back(id);
        continue;
      }
      const size_t device = device_of(id);
      const bool opens = splits_.empty() || splits_.back().device != device ||
                         (!splits_.back().inputs.empty() && wants_weight(tensor, device));
      if (opens) splits_.push_back({.device = device, .nodes = std::exchange(ahead, {})});
      note_inputs(tensor, splits_.back());
      splits_.back().nodes.push_back(id);
    }
  }

  void note_inputs(const GgmlTensor& node, Split& split) {
    for (const TensorId source : node.sources) {
      if (device_of(source) == split.device) continue;
      if (copied_.emplace(source, split.device).second) split.inputs.push_back(source);
    }
  }

  // Batches in flight keep the inputs that are read, and all copies, for good.
  void add_leaves() {
    std::vector<bool> read(graph_.tensors.size(), false);
    for (const GgmlTensor& tensor : graph_.tensors) {
      for (const TensorId source : tensor.sources) read[source.index()] = true;
    }
    for (size_t i = 0; i < graph_.tensors.size(); ++i) {
      const GgmlTensor& tensor = graph_.tensors[i];
      if (!tensor.leaf) continue;
      GgmlGraph& graph = made_.graphs[made_.device[i]];
      const bool kept = request_.n_copies > 1 && tensor.input && read[i];
      for (int64_t copy = 0; copy < (kept ? request_.n_copies : 1); ++copy) {
        GgmlTensor leaf = tensor;
        leaf.output = leaf.output || kept;
        placed_[i][made_.device[i]] = add(graph, std::move(leaf));
      }
    }
    add_kept_copies();
  }

  void add_kept_copies() {
    if (request_.n_copies == 1) return;
    for (const Split& split : splits_) {
      for (const TensorId input : split.inputs) {
        for (int64_t copy = 0; copy < request_.n_copies; ++copy) {
          GgmlTensor leaf = copy_of(input);
          leaf.op = "NONE";
          leaf.leaf = leaf.output = true;
          placed_[input.index()][split.device] = add(made_.graphs[split.device], std::move(leaf));
        }
      }
    }
  }

  GgmlTensor copy_of(TensorId id) const {
    const GgmlTensor& tensor = graph_[id];
    return {.name = tensor.name + " (copy)",
            .op = "COPY_IN",
            .type = tensor.type,
            .ne = tensor.ne,
            .bytes = tensor.bytes,
            .contiguous = tensor.contiguous};
  }

  // Where it is, the copy is one more reader; where it is wanted, it is a node of its own.
  void add_copy(TensorId input, size_t device) {
    const size_t from = device_of(input);
    if (is_view_op(graph_[input])) add_node(input);
    GgmlTensor read{.name = graph_[input].name + " (read)", .op = "COPY_OUT", .ne = {0, 1, 1, 1}};
    read.sources = {placed_[input.index()].at(from)};
    add(made_.graphs[from], std::move(read));
    if (request_.n_copies > 1) return;
    placed_[input.index()][device] = add(made_.graphs[device], copy_of(input));
  }

  // A view may have been wanted before its turn: it takes no memory, so it may stand anywhere
  // behind its owner.
  void add_node(TensorId id) {
    const size_t device = device_of(id);
    if (placed_[id.index()].contains(device)) return;
    for (const TensorId source : graph_[id].sources) {
      if (is_view_op(graph_[source]) && device_of(source) == device) add_node(source);
    }
    GgmlTensor node = graph_[id];
    for (TensorId& source : node.sources) source = on(source, device);
    if (node.owner) node.owner = on(*node.owner, device);
    placed_[id.index()][device] = add(made_.graphs[device], std::move(node));
  }

  TensorId on(TensorId id, size_t device) const {
    const auto found = placed_[id.index()].find(device);
    check(found != placed_[id.index()].end(), "what is read was placed or copied");
    return found->second;
  }

  const GgmlGraph& graph_;
  const DeviceRequest& request_;
  DeviceSplit made_{};
  std::vector<Split> splits_{};
  std::set<std::pair<TensorId, size_t>> copied_{};
  std::vector<std::map<size_t, TensorId>> placed_{};  // by TensorId: device -> its id there
};

}  // namespace

DeviceSplit split_devices(const GgmlGraph& graph, const DeviceRequest& request) {
  const size_t n = graph.tensors.size();
  check(request.n_devices > 0 && request.home.size() == n && request.is_weight.size() == n &&
            request.wish.size() == n && request.n_copies > 0,
        "one entry for each tensor");
  for (const auto* list : {&request.home, &request.wish}) {
    for (const Device& device : *list) check(!device || *device < request.n_devices, "a device");
  }
  return Cutting(graph, request, Assignment(graph, request).run()).run();
}

}  // namespace tidemark
