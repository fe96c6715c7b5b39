#include "planner/lifetime/relief.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <tuple>

#include "planner/lifetime/operator_order.h"

namespace tidemark {
namespace {

// "blk.12.ffn_up" -> "blk.*.ffn_up": what stands for the layer is a run of digits between dots.
std::string without_layer(const std::string& name) {
  size_t begin = 0;
  while (begin < name.size()) {
    const size_t end = std::min(name.find('.', begin), name.size());
    const bool is_number = end > begin && name.find_first_not_of("0123456789", begin) >= end;
    if (is_number && begin > 0 && end < name.size()) {
      return name.substr(0, begin) + "*" + name.substr(end);
    }
    begin = end + 1;
  }
  return name;
}

// The sum, or the largest number there is.
int64_t sum_or_most(int64_t a, int64_t b) {
  int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

int64_t product_or_most(int64_t a, int64_t b) {
  int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

// Rewritten graphs then have loads within 63 bits: of any tensor there are a few copies at most.
bool copies_add_up(const Graph& graph) {
  constexpr int64_t kMostCopies = 8;
  int64_t sum = 0;
  for (const Tensor& tensor : graph.tensors()) {
    sum = sum_or_most(sum, product_or_most(tensor.bytes.count(), kMostCopies));
  }
  return sum < INT64_MAX;
}

// An absence that could help, and the highest load while it lasts.
struct Gap {
  Absence absence{};
  Bytes highest{};
  Bytes size{};
};

// Steps of the uses of a tensor, ascending.
std::vector<StepIndex> uses_of(const Graph& graph, const Schedule& schedule,
                               const LiveRange& range) {
  std::vector<StepIndex> uses{range.steps.lower};
  for (const OpId reader : graph.consumers(range.tensor)) {
    uses.push_back(schedule.step_of[reader.index()]);
  }
  std::sort(uses.begin(), uses.end());
  uses.erase(std::unique(uses.begin(), uses.end()), uses.end());
  return uses;
}

// Of the times between two uses, the one with the highest load; of equals the first.
std::optional<Gap> highest_gap(std::span<const StepIndex> uses, TensorId id, Bytes size,
                               const LoadProfile& profile) {
  std::optional<Gap> best;
  for (size_t i = 0; i + 1 < uses.size(); ++i) {
    Bytes highest;
    for (size_t step = uses[i].index() + 1; step < uses[i + 1].index(); ++step) {
      highest = std::max(highest, profile.load[step]);
    }
    if (highest > (best ? best->highest : Bytes{})) {
      best = Gap{{.tensor = id, .left = uses[i], .back = uses[i + 1]}, highest, size};
    }
  }
  return best;
}

class Reliever {
 public:
  Reliever(const Graph& graph, const Schedule& schedule, const ReliefOptions& options)
      : graph_(graph), schedule_(schedule), options_(options), profile_(load_of(graph, schedule)) {}

  ReliefFacts run() {
    if (schedule_.order.empty()) return {};
    facts_.peak = profile_.peak;
    facts_.peak_step = profile_.peak_step;
    const Op& op = graph_.op(schedule_.order[profile_.peak_step.index()]);
    facts_.peak_op = op.name;
    facts_.in_use = in_use_by(op);
    if (!copies_add_up(graph_)) return std::move(facts_);
    for (const Group& gaps : groups()) {
      for (const ReliefKind kind : {ReliefKind::kRecompute, ReliefKind::kSpill}) {
        try_relief(gaps, kind);
      }
    }
    std::stable_sort(
        facts_.reliefs.begin(), facts_.reliefs.end(), [](const Relief& a, const Relief& b) {
          return std::tie(b.saves, a.tensor, a.kind) < std::tie(a.saves, b.tensor, b.kind);
        });
    if (facts_.reliefs.size() > options_.most) facts_.reliefs.resize(options_.most);
    return std::move(facts_);
  }

 private:
  using Group = std::vector<Gap>;

  // Its arena tensors, one for both where it writes over an input.
  Bytes in_use_by(const Op& op) const {
    std::vector<TensorId> ids = op.inputs;
    ids.insert(ids.end(), op.outputs.begin(), op.outputs.end());
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    Bytes sum;
    for (const TensorId id : ids) {
      const Tensor& tensor = graph_.tensor(id);
      const bool in_arena =
          tensor.kind == TensorKind::kInput || tensor.kind == TensorKind::kActivation;
      if (in_arena) sum += tensor.bytes;
    }
    const auto is_last_reader = [&](TensorId id) {
      const std::vector<OpId> readers = graph_.consumers(id);
      return std::all_of(readers.begin(), readers.end(), [&](OpId reader) {
        return schedule_.step_of[reader.index()] <= schedule_.step_of[op.id.index()];
      });
    };
    const std::vector<TensorId> free = may_write_over(graph_, op);
    const bool overwrites = std::any_of(free.begin(), free.end(), is_last_reader);
    return overwrites ? sum - graph_.tensor(op.outputs.front()).bytes : sum;
  }

  bool covers_peak(const Gap& gap) const {
    return gap.absence.left < profile_.peak_step && profile_.peak_step < gap.absence.back;
  }

  std::string op_label(StepIndex step) const {
    const Op& op = graph_.op(schedule_.order[step.index()]);
    return op.name.empty() ? "#" + std::to_string(op.id.value()) : without_layer(op.name);
  }

  // Tensors that wait between like ops of the layers, with one of them over the peak; the largest
  // first.
  std::vector<Group> groups() const {
    // Of several that wait between the same two ops of a layer, the first goes with the first.
    std::map<std::tuple<std::string, std::string, int>, Group> by_uses;
    std::map<std::pair<StepIndex, StepIndex>, int> between;
    for (const LiveRange& range : live_ranges(graph_, schedule_)) {
      const Bytes size = graph_.tensor(range.tensor).bytes;
      const auto gap = highest_gap(uses_of(graph_, schedule_, range), range.tensor, size, profile_);
      if (!gap || size == Bytes{}) continue;
      const auto [left, back] = std::pair(gap->absence.left, gap->absence.back);
      const int place = between[{left, back}]++;
      by_uses[{op_label(left), op_label(back), place}].push_back(*gap);
    }
    std::vector<Group> groups;
    for (auto& [uses, gaps] : by_uses) {
      if (std::any_of(gaps.begin(), gaps.end(), [&](const Gap& gap) { return covers_peak(gap); })) {
        groups.push_back(std::move(gaps));
      }
    }
    std::stable_sort(groups.begin(), groups.end(),
                     [](const Group& a, const Group& b) { return largest(a) > largest(b); });
    if (groups.size() > kMostReliefsTried) groups.resize(kMostReliefsTried);
    return groups;
  }

  // "blk.3.x" of one, "blk.*.x" of several, "embed, blk.*.x" where the layers differ.
  std::string name_of_all(const Group& gaps) const {
    std::vector<std::string> names;
    for (const Gap& gap : gaps) {
      const std::string& name = graph_.tensor(gap.absence.tensor).name;
      names.push_back(gaps.size() == 1 ? name : without_layer(name));
    }
    std::string all;
    std::vector<std::string> said;
    for (const std::string& name : names) {
      if (std::find(said.begin(), said.end(), name) != said.end()) continue;
      said.push_back(name);
      all += (all.empty() ? "" : ", ") + name;
    }
    return all;
  }

  static Bytes largest(const std::vector<Gap>& gaps) {
    Bytes most;
    for (const Gap& gap : gaps) most = std::max(most, gap.size);
    return most;
  }

  std::vector<Gap> above(const std::vector<Gap>& gaps, Bytes load, ReliefKind kind) const {
    std::vector<Gap> kept;
    for (const Gap& gap : gaps) {
      const bool possible =
          kind == ReliefKind::kSpill || is_recomputable(graph_, gap.absence.tensor);
      if (possible && gap.highest > load) kept.push_back(gap);
    }
    return kept;
  }

  Bytes peak_without(const std::vector<Gap>& gaps, ReliefKind kind) const {
    std::vector<Absence> absences;
    for (const Gap& gap : gaps) absences.push_back(gap.absence);
    const Rewritten made = rewrite(graph_, schedule_, absences, kind);
    return load_of(made.graph, made.schedule).peak;
  }

  // All that may count first; then only those that stand over a load above what is reached.
  void try_relief(const Group& gaps, ReliefKind kind) {
    std::vector<Gap> chosen =
        above(gaps, profile_.peak - std::min(largest(gaps), profile_.peak), kind);
    if (!covers_every_peak(chosen)) return;
    Bytes reached = peak_without(chosen, kind);
    if (reached >= profile_.peak) return;
    std::vector<Gap> fewer = above(gaps, reached, kind);
    if (fewer.size() < chosen.size() && peak_without(fewer, kind) <= reached) {
      chosen = std::move(fewer);
    }
    facts_.reliefs.push_back(describe(chosen, kind, peak_without(chosen, kind)));
  }

  // A peak that no absence stands over stays. The uses at both ends count: what has no later reader
  // there may be written over.
  bool covers_every_peak(const std::vector<Gap>& gaps) const {
    std::vector<int64_t> change(profile_.load.size() + 1);
    for (const Gap& gap : gaps) {
      ++change[gap.absence.left.index()];
      --change[gap.absence.back.index() + 1];
    }
    int64_t away = 0;
    for (size_t step = 0; step < profile_.load.size(); ++step) {
      away += change[step];
      if (profile_.load[step] == profile_.peak && away == 0) return false;
    }
    return true;
  }

  Relief describe(const Group& gaps, ReliefKind kind, Bytes reached) const {
    const Absence& first = gaps.front().absence;
    Relief made{.kind = kind,
                .tensor = name_of_all(gaps),
                .bytes = largest(gaps),
                .new_peak = reached,
                .saves = profile_.peak - reached,
                .last_op = graph_.op(schedule_.order[first.left.index()]).name,
                .next_op = graph_.op(schedule_.order[first.back.index()]).name};
    for (const Gap& gap : gaps) {
      made.absences.push_back(gap.absence);
      if (kind == ReliefKind::kSpill) {
        made.moved += gap.size * 2;
        continue;
      }
      const Op& again = graph_.op(*graph_.producer(gap.absence.tensor));
      const int64_t cells =
          again.most_cells > 0 ? std::min(options_.cells, again.most_cells) : options_.cells;
      const int64_t of_cells = product_or_most(again.operations_per_cell, cells);
      made.operations = sum_or_most(made.operations, sum_or_most(again.operations, of_cells));
      made.weights_read += again.weights_read;
    }
    return made;
  }

  const Graph& graph_;
  const Schedule& schedule_;
  const ReliefOptions& options_;
  LoadProfile profile_;
  ReliefFacts facts_{};
};

}  // namespace

std::string_view name_of(ReliefKind kind) {
  return kind == ReliefKind::kRecompute ? "recompute" : "spill";
}

ReliefFacts relief(const Graph& graph, const Schedule& schedule, const ReliefOptions& options) {
  return Reliever(graph, schedule, options).run();
}

}  // namespace tidemark
