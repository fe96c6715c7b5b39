#include "sim/replay/integrity.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace tidemark {
namespace {

bool share_bytes(std::span<const std::byte> a, std::span<const std::byte> b) {
  return a.data() < b.data() + b.size() && b.data() < a.data() + a.size();
}

bool same_bytes(std::span<const std::byte> a, std::span<const std::byte> b) {
  return a.data() == b.data() && a.size() == b.size();
}

}  // namespace

uint64_t hash_of(std::span<const std::byte> bytes) {
  // Each step is one to one in the state and in the word, so words that differ in one place never
  // meet again.
  constexpr uint64_t kFactor = 0x9E3779B97F4A7C15U;
  uint64_t hash = bytes.size();
  size_t at = 0;
  for (; at + sizeof(uint64_t) <= bytes.size(); at += sizeof(uint64_t)) {
    uint64_t word = 0;
    std::memcpy(&word, &bytes[at], sizeof word);
    hash = (hash ^ word) * kFactor;
    hash ^= hash >> 29;
  }
  uint64_t rest = 0;
  if (at < bytes.size()) std::memcpy(&rest, &bytes[at], bytes.size() - at);
  hash = (hash ^ rest) * kFactor;
  return hash ^ (hash >> 29);
}

IntegrityWatch::IntegrityWatch(const PassMemory& memory, std::span<const std::byte> guard)
    : memory_(memory), guard_(guard) {
  const Graph& graph = memory.phase().graph;
  hashes_.resize(graph.tensors().size());
  overwritten_by_.resize(graph.tensors().size());
  until_.resize(graph.tensors().size());
  for (const LiveRange& range : memory.phase().ranges) {
    until_[range.tensor.index()] = range.steps.upper;
  }
  for (const Tensor& tensor : graph.tensors()) {
    if (tensor.kind == TensorKind::kInput) written(tensor.id, "the input " + tensor.name);
  }
}

void IntegrityWatch::written(TensorId id, const std::string& writer) {
  if (!memory_.in_arena(id)) {
    hashes_[id.index()] = hash_of(memory_.used(id));
    return;
  }
  const std::span<std::byte> whole = memory_.reserved(id);
  const size_t used = memory_.used(id).size();
  std::fill(whole.begin() + static_cast<std::ptrdiff_t>(used), whole.end(), std::byte{0});
  hashes_[id.index()] = hash_of(whole);
  for (const TensorId other : live_) {
    std::string& by = overwritten_by_[other.index()];
    if (by.empty() && share_bytes(memory_.reserved(other), whole)) by = writer;
  }
  live_.push_back(id);
}

// May `op` not write where it will, because it still reads `input` there?
bool IntegrityWatch::would_destroy(const Op& op, TensorId input) const {
  return std::any_of(op.outputs.begin(), op.outputs.end(), [&](TensorId output) {
    const auto from = memory_.reserved(input);
    const auto to = memory_.reserved(output);
    const bool in_place = allows_in_place(op.kind) && same_bytes(from, to);
    return memory_.in_arena(output) && memory_.in_arena(input) && !in_place &&
           share_bytes(from, to);
  });
}

bool IntegrityWatch::guard_is_intact() const {
  return std::all_of(guard_.begin(), guard_.end(),
                     [](std::byte byte) { return byte == kGuardByte; });
}

std::optional<Corruption> IntegrityWatch::before(const Op& op) const {
  // Every op was looked at when it had run, so only the inputs of the pass are left.
  if (!guard_is_intact()) return corruption("the guard bytes", "", "an input of the pass");
  for (const TensorId input : op.inputs) {
    const std::string& name = memory_.phase().graph.tensor(input).name;
    const std::string& writer = overwritten_by_[input.index()];
    if (!writer.empty()) return corruption(name, op.name, writer);
    const auto bytes = memory_.in_arena(input) ? memory_.reserved(input) : memory_.used(input);
    if (hash_of(bytes) != hashes_[input.index()]) return corruption(name, op.name, "");
    if (would_destroy(op, input)) return corruption(name, op.name, op.name);
  }
  return std::nullopt;
}

std::optional<Corruption> IntegrityWatch::after(const Op& op, StepIndex step) {
  for (const TensorId output : op.outputs) written(output, op.name);
  std::erase_if(live_, [&](TensorId id) { return until_[id.index()].value() <= step.value() + 1; });
  if (!guard_is_intact()) return corruption("the guard bytes", "", op.name);
  return std::nullopt;
}

Corruption IntegrityWatch::corruption(std::string tensor, std::string reader,
                                      std::string writer) const {
  const Pass& pass = memory_.pass();
  return {.pass = fmt::format("{} {}", name_of(pass.phase), pass.index),
          .tensor = std::move(tensor),
          .reader = std::move(reader),
          .writer = std::move(writer)};
}

}  // namespace tidemark
