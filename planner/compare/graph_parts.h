// The part of a graph that one device computes, as its engine's scheduler cuts it: a run of nodes,
// and a copy on that device of whatever they read from elsewhere.
//
//   GET_ROWS embd | RMS_NORM a(embd), MUL_MAT b(a), ADD c(b, embd) | MUL_MAT logits(c)
//   the middle one: leaf embd (a copy), nodes a, b, c; c is read later, so it stays
//   Checked by GraphPartsTest.WorkedInTheHeader.
//
// Source: ggml-backend.cpp (ggml_backend_sched_split_graph), ggml 0.21.0.
#pragma once

#include "planner/compare/llama_era.h"
#include "planner/engine/ggml_graph.h"

namespace tidemark {

struct GraphPart {
  size_t first = 0;  // tensors [first, last) of the graph; leaves among them are passed over
  size_t last = 0;
  bool all_inputs = false;      // the host: every input of the graph lives here
  int64_t n_copies = 1;         // of each input, with several devices at work at once
  bool copies_weights = false;  // weights of its products are copied here as well
};

GgmlGraph part_of(const GgmlGraph& graph, const GraphPart& part);

// The graph as an engine of that age built it.
GgmlGraph as_of(const GgmlGraph& graph, const LlamaEra& era);

// Where each layer's nodes end: ends[i] is behind the last of layer i. Empty when the graph does
// not name its layers' results ("l_out-0").
std::vector<size_t> layer_ends(const GgmlGraph& graph, int64_t n_layer);

// Behind the look-up of the embeddings, which stays on the host: behind the first node.
size_t behind_embedding(const GgmlGraph& graph);

}  // namespace tidemark
