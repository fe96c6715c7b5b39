#include "sim/replay/observers.h"

#include <fmt/format.h>

#include <algorithm>

namespace tidemark {
namespace {

constexpr size_t kPiece = size_t{1} << 20;

bool equals_file(std::span<const std::byte> bytes, const ScratchFile& file, int64_t offset) {
  std::vector<std::byte> piece;
  while (!bytes.empty()) {
    piece.resize(std::min(bytes.size(), kPiece));
    if (offset + std::ssize(piece) > file.size()) return false;
    file.read(offset, piece);
    if (!std::equal(piece.begin(), piece.end(), bytes.begin())) return false;
    bytes = bytes.subspan(piece.size());
    offset += std::ssize(piece);
  }
  return true;
}

}  // namespace

bool LogitsKeeper::after_op(const Op& /*op*/, StepIndex /*step*/, Duration /*wall*/) {
  ++steps_;
  if (progress_) progress_(steps_);
  return true;
}

bool LogitsKeeper::on_logits(std::span<const std::byte> logits) {
  logits_.append(logits);
  return true;
}

Measurer::Measurer(const Expected& expected, const TensorMemory& memory, const UnitLoader& loader,
                   ReplayReport& report, const RunListener& listener)
    : expected_(expected), memory_(memory), loader_(loader), report_(report), listener_(listener) {}

bool Measurer::go_on(const std::optional<Corruption>& found) {
  if (!found) return true;
  report_.corruption = *found;
  report_.outputs_match = false;
  return false;
}

bool Measurer::on_pass(const PassMemory& memory) {
  pass_ = fmt::format("{} {}", name_of(memory.pass().phase), memory.pass().index);
  watch_.emplace(memory, memory_.guard());
  return true;
}

void Measurer::before_visit(UnitId unit) {
  at(fmt::format("{}, reading {}", pass_, expected_.units.at(unit.index()).name));
}

bool Measurer::before_op(const Op& op) {
  at(fmt::format("{}, {}", pass_, op.name));
  return go_on(watch_->before(op));
}

Bytes Measurer::measured() {
  ranges_.clear();
  memory_.add_ranges(ranges_);
  loader_.add_ranges(ranges_);
  return resident_.resident(ranges_) + loader_.resident_of_file();
}

bool Measurer::after_op(const Op& op, StepIndex step, Duration wall) {
  if (!go_on(watch_->after(op, step))) return false;
  const CurvePoint& point = expected_.steps.at(report_.steps.size());
  report_.steps.push_back({.step = std::ssize(report_.steps),
                           .pass = pass_,
                           .op = op.name,
                           .predicted = point.total() - point.runtime,
                           .measured = measured(),
                           .wall = wall});
  report_.measured_peak = std::max(report_.measured_peak, report_.steps.back().measured);
  if (listener_.on_step) listener_.on_step(report_.steps.back());
  return true;
}

bool Measurer::on_logits(std::span<const std::byte> logits) {
  all_equal_ = all_equal_ && equals_file(logits, expected_.logits, logits_read_);
  logits_read_ += std::ssize(logits);
  report_.outputs_match = all_equal_ && logits_read_ == expected_.logits.size();
  return true;
}

}  // namespace tidemark
