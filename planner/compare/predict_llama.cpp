#include <algorithm>

#include "planner/compare/llama_setup.h"
#include "planner/engine/llama_cpp/llama_model_buffers.h"

namespace tidemark {
namespace {

class Predictor {
 public:
  Predictor(const PredictInput& input, const LlamaVariant& variant)
      : input_(input), setup_(set_up_llama(input, variant)), reservations_(setup_, input.weights) {}

  void predict(std::vector<ComparedTerm>& terms) {
    for (ComparedTerm& term : terms) predict(term, terms);
    if (setup_.impossible.empty()) {
      input_.out.notes.push_back("Layers: " + setup_.placement.how + ".");
      if (!reservations_.exact_for_architecture()) {
        input_.out.notes.emplace_back(
            "Its graph was never held against this engine's: compute buffers are estimates.");
      }
    }
  }

 private:
  void predict(ComparedTerm& term, const std::vector<ComparedTerm>& terms) {
    switch (term.kind) {
      case TermKind::kModel:
      case TermKind::kRepacked:
        return weights(term, terms);
      case TermKind::kFileSize:
        if (input_.weights.inventory) {
          term.predicted = input_.weights.inventory->bytes.count();
        } else {
          term.reason = input_.weights.how;
        }
        return;
      case TermKind::kCompute:
        return compute(term, terms);
      case TermKind::kGraphNodes:
        term.judged = false;
        if (reservations_.n_nodes() > 0) term.predicted = reservations_.n_nodes();
        return;
      default:
        break;
    }
    if (!setup_.impossible.empty()) {
      term.reason = setup_.impossible;
      return;
    }
    if (term.kind == TermKind::kKv || term.kind == TermKind::kRecurrent ||
        term.kind == TermKind::kContext) {
      return on_device(term);
    }
    of_all(term);
  }

  Bytes sum(const std::vector<Bytes>& layers, int64_t first, int64_t last) const {
    Bytes all;
    for (int64_t i = first; i < last; ++i) all += layers[static_cast<size_t>(i)];
    return all;
  }

  Bytes all_of(const std::vector<Bytes>& layers) const {
    return sum(layers, 0, std::ssize(layers));
  }

  void on_device(ComparedTerm& term) {
    const std::string device = device_of(term.device);
    if (setup_.placement.shares.empty()) {
      term.reason = setup_.placement.how;
      return;
    }
    int64_t first = 0;
    int64_t last = 0;
    for (const DeviceShare& share : setup_.placement.shares) {
      if (share.device != device) continue;
      first = share.first;
      last = share.last;
    }
    const auto n_layer = std::ssize(setup_.layer_cache);
    if (setup_.placement.cache_on_host && device.empty()) last = n_layer;
    Bytes bytes;
    if (term.kind != TermKind::kRecurrent) bytes += sum(setup_.layer_cache, first, last);
    if (term.kind != TermKind::kKv) bytes += sum(setup_.layer_state, first, last);
    // Before there was a name for it, recurrent state was printed as KV.
    if (term.kind == TermKind::kKv && bytes == Bytes{}) {
      bytes = sum(setup_.layer_state, first, last);
    }
    term.predicted = bytes.count();
  }

  Bytes window_cache() const {
    Bytes bytes;
    const std::vector<LayerSpec>& layers = setup_.model.transformer()->layers;
    for (size_t i = 0; i < layers.size(); ++i) {
      const AttentionSpec* attention = layers[i].attention();
      if (attention != nullptr && (attention->window > 0 || attention->chunk > 0)) {
        bytes += setup_.layer_cache[i];
      }
    }
    return bytes;
  }

  // Tokens, embeddings, positions, mask, positions of cells, shifts, means and classes.
  Bytes inputs() const {
    const int64_t tokens = setup_.context.n_tokens;
    const int64_t cells = setup_.context.n_ctx;
    const int64_t width = setup_.model.transformer()->n_embd;
    int64_t values = checked_mul(tokens, checked_add(width, 3));
    values = checked_add(values, checked_mul(tokens, checked_add(cells, tokens)));
    return Bytes::of(checked_mul(4, checked_add(values, checked_mul(2, cells))));
  }

  void of_all(ComparedTerm& term) {
    const Bytes cache = all_of(setup_.layer_cache);
    const Bytes state = all_of(setup_.layer_state);
    const int64_t rows = setup_.context.n_seq;
    const TransformerSpec& spec = *setup_.model.transformer();
    switch (term.kind) {
      case TermKind::kKvTotal:
        term.predicted = (cache == Bytes{} ? state : cache).count();
        return;
      case TermKind::kKvFull:
        term.predicted = (cache - window_cache()).count();
        return;
      case TermKind::kKvWindow:
        term.predicted = window_cache().count();
        return;
      case TermKind::kWindowCells:
        term.predicted = setup_.context.cells_swa;
        return;
      case TermKind::kRecurrentAll:
        term.predicted = state.count();
        return;
      case TermKind::kOutput:
        term.predicted =
            checked_mul(checked_mul(4, rows),
                        checked_add(spec.n_vocab, setup_.embeddings ? spec.n_embd : int64_t{0}));
        return;
      case TermKind::kInput:
        term.predicted = inputs().count();
        return;
      default:
        term.reason = "not of this engine";
    }
  }

  static int64_t count_on_host(const std::vector<ComparedTerm>& terms, TermKind kind) {
    return std::ranges::count_if(terms, [&](const ComparedTerm& term) {
      return term.kind == kind && device_of(term.device).empty();
    });
  }

  void compute(ComparedTerm& term, const std::vector<ComparedTerm>& terms) {
    const std::string device = device_of(term.device);
    if (device.empty() && count_on_host(terms, TermKind::kCompute) > 1) {
      term.reason = "the host computes in several buffers";
      return;
    }
    const LlamaReservation made = reservations_.of(device);
    if (made.bytes) term.predicted = made.bytes->count();
    term.reason = made.reason;
  }

  void weights(ComparedTerm& term, const std::vector<ComparedTerm>& terms) {
    if (!input_.weights.inventory) {
      term.reason = input_.weights.how;
      return;
    }
    const Placement& placement = setup_.placement;
    const std::string device = device_of(term.device);
    const bool repacked = std::ranges::any_of(
        terms, [](const ComparedTerm& other) { return other.kind == TermKind::kRepacked; });
    if (placement.shares.empty()) {
      term.reason = placement.how.empty() ? setup_.impossible : placement.how;
    } else if (repacked) {
      beside_repacked(term);
    } else if (device.empty() && count_on_host(terms, TermKind::kModel) > 1) {
      term.reason = "the host holds them in several buffers";
    } else {
      DeviceShare share{.device = device};  // also a device without layers
      for (const DeviceShare& known : placement.shares) {
        if (known.device == device) share = known;
      }
      term.predicted = weights_on(setup_, *input_.weights.inventory, share).count();
    }
  }

  void beside_repacked(ComparedTerm& term) {
    if (setup_.placement.shares.size() != 1 || !device_of(term.device).empty()) {
      term.reason = "what a device repacks is not known";
      return;
    }
    const LlamaModelBuffers buffers =
        llama_model_buffers(setup_.model, *input_.weights.inventory, LlamaRepack::kAvx2);
    const bool mapped = term.device.ends_with("_Mapped");
    if (term.kind == TermKind::kRepacked) {
      term.predicted = buffers.repacked.count();
    } else {
      term.predicted = (mapped ? buffers.mapped : buffers.plain).count();
    }
  }

  const PredictInput& input_;
  LlamaSetup setup_;
  LlamaReservations reservations_;
};

}  // namespace

void predict_llama(const PredictInput& input, const LlamaVariant& variant,
                   std::vector<ComparedTerm>& terms) {
  Predictor(input, variant).predict(terms);
}

}  // namespace tidemark
