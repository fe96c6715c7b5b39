// Watches the tensors of one pass. A plan is right when every op finds in its inputs what was
// written there; two independent looks decide:
//
//   hash    each tensor is hashed when it is written and again before each op that reads it
//   places  a write that touches bytes of another tensor still to be read marks that tensor, and
//   names the writer
//
// The hash sees every change, whoever made it; the places see every overlap, also when by chance
// the same byte was written. A pass of few tokens would leave most of a planned tensor untouched,
// so what an op does not fill is set to zero behind it: every byte that the plan reserves is
// written and read.
//
//   a at [0, 64), read by op c; op b writes its tensor at [32, 96)
//   before c: "a was overwritten by b before c had read it"       Checked by
//   IntegrityTest.NamesAllThree.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "planner/report/replay_report.h"
#include "sim/replay/pass_memory.h"

namespace tidemark {

// Of whole 8-byte words and the rest; a change within one word always changes it.
uint64_t hash_of(std::span<const std::byte> bytes);

class IntegrityWatch {
 public:
  // The inputs of the pass have been written. Both must outlive it.
  IntegrityWatch(const PassMemory& memory, std::span<const std::byte> guard);

  // What is wrong with the inputs of an op about to run, or with where it is going to write.
  std::optional<Corruption> before(const Op& op) const;
  // The op has run as step `step`.
  std::optional<Corruption> after(const Op& op, StepIndex step);

 private:
  void written(TensorId id, const std::string& writer);
  bool guard_is_intact() const;
  bool would_destroy(const Op& op, TensorId input) const;
  Corruption corruption(std::string tensor, std::string reader, std::string writer) const;

  const PassMemory& memory_;
  std::span<const std::byte> guard_;
  std::vector<uint64_t> hashes_{};             // by TensorId
  std::vector<std::string> overwritten_by_{};  // by TensorId; empty = by nobody
  std::vector<StepIndex> until_{};  // by TensorId: the first step that no longer needs it
  std::vector<TensorId> live_{};    // in the arena, written, still to be read
};

}  // namespace tidemark
