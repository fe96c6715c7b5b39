// A logged run of llama.cpp as settings of the model of its memory, with what its age did
// otherwise.
#pragma once

#include "planner/compare/placement.h"
#include "planner/compare/predict.h"
#include "planner/engine/llama_cpp/llama_context.h"
#include "planner/engine/llama_cpp/llama_graph.h"

namespace tidemark {

struct LlamaSetup {
  ModelSpec model{};  // as the engine sees it
  LlamaEra era{};
  LlamaContext context{};
  std::vector<Bytes> layer_cache{};  // keys and values of each layer
  std::vector<Bytes> layer_state{};  // recurrent state of each layer
  Placement placement{};
  bool embeddings = false;   // the output buffer holds them beside the logits
  int64_t n_copies = 1;      // of inputs, with devices at work at once
  std::string impossible{};  // why nothing that depends on the context can be predicted
};

// Notes settings and what is missing in input.out, unless the variant is one for a reason.
LlamaSetup set_up_llama(const PredictInput& input, const LlamaVariant& variant);

// What a device reserves to compute its share ("" = the host); nothing, with a reason, where the
// schedule is not known.
struct LlamaReservation {
  std::optional<Bytes> bytes{};
  std::string reason{};
};
class LlamaReservations {
 public:
  LlamaReservations(const LlamaSetup& setup, const LoggedWeights& weights);
  LlamaReservation of(std::string_view device) const;
  int64_t n_nodes() const { return n_nodes_; }
  bool exact_for_architecture() const { return exact_; }

 private:
  void split(const GgmlGraph& graph);

  const LlamaSetup& setup_;
  std::vector<std::string> devices_{};  // "" is the last
  std::vector<Bytes> reserved_{};       // by device
  int64_t n_nodes_ = 0;
  bool exact_ = false;
  std::string impossible_{};
};

// Weights that a device holds: layers of its share, the head, or what stays on the host.
Bytes weights_on(const LlamaSetup& setup, const WeightsInventory& weights,
                 const DeviceShare& share);

}  // namespace tidemark
