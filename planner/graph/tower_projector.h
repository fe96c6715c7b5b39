// Between a tower and the decoder. What stands there is known from the names and shapes of the
// tower's extras alone; used in planner/graph alone.
//
//   mm.*, adapter.*  in file order: a norm of the row's width; a matrix, with merge x merge rows
//                    side by side where its columns ask for them, else the rows averaged first
//   resampler.*      learned queries that attend to the rows (MiniCPM-V)
//   deepstack.N.*    further projectors, of the rows of layers on the way
//
//   E = 4, merge 2, 4 patches, mm.norm 4, mm.0 16 -> 16, mm.2 16 -> 8:
//   norm [4,4] -> merge [16,1] -> mm.0 [16,1] -> mm.2 [8,1]
//   Checked by StackGraphTest.MergerByHand.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "planner/graph/layer_graph.h"
#include "planner/graph/stack_graph.h"

namespace tidemark {

// The extra of that whole name; nullptr when there is none.
const ExtraWeight* find_extra(const StackSpec& stack, std::string_view name);

class TowerProjector {
 public:
  TowerProjector(LayerContext& context, const StackSpec& stack, const StackInput& input,
                 int64_t n_embd)
      : context_(context), stack_(stack), input_(input), n_embd_(n_embd) {}

  // x [E, rows], without a class token -> [n_embd, n_out].
  Value project(const Value& x) const;
  // The part that mergers number `index` makes.
  Value project_deep(int64_t index, const Value& x) const;

 private:
  struct Part;

  std::optional<std::vector<Part>> parts_of(const std::vector<std::string>& stems,
                                            Shape shape) const;
  Value merged(std::string_view name, const Value& x) const;
  Value pooled(const Value& x) const;
  Value resample(const Value& x) const;
  Value chain(const std::vector<std::string>& stems, Value x) const;
  Value unknown(const std::vector<std::string>& stems, const Value& x) const;

  LayerContext& context_;
  const StackSpec& stack_;
  const StackInput& input_;
  int64_t n_embd_ = 0;
};

}  // namespace tidemark
