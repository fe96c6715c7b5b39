#include <fmt/format.h>

#include <algorithm>

#include "planner/alloc/csv.h"

namespace tidemark {
namespace {

int64_t count_or_none(const std::optional<Bytes>& bytes) { return bytes ? bytes->count() : -1; }

class CsvWriter {
 public:
  CsvWriter(const Problem& problem, const Plan* plan, bool closed_ends)
      : problem_(problem), plan_(plan), closed_(closed_ends ? 1 : 0), apart_(apart_lists()) {}

  std::string write() {
    std::string text = closed_ == 1 ? "id,start,end,size" : "id,lower,upper,size";
    for (const Column& column : kColumns) {
      if ((this->*column.is_used)()) {
        used_.push_back(&column);
        text += fmt::format(",{}", column.name);
      }
    }
    text += '\n';
    for (size_t i = 0; i < problem_.buffers.size(); ++i) {
      const Buffer& b = problem_.buffers[i];
      text += fmt::format("{},{},{},{}", b.name, b.lifetime.lower, b.lifetime.upper - closed_,
                          b.size.count());
      for (const Column* column : used_) text += "," + (this->*column->cell)(i);
      text += '\n';
    }
    return text;
  }

 private:
  struct Column {
    std::string_view name{};
    bool (CsvWriter::*is_used)() const = nullptr;
    std::string (CsvWriter::*cell)(size_t) const = nullptr;
  };
  static const Column kColumns[10];

  template <typename Has>
  bool any(Has has) const {
    return std::ranges::any_of(problem_.buffers, has);
  }
  const Buffer& at(size_t i) const { return problem_.buffers[i]; }

  bool has_alignments() const {
    return any([](const Buffer& b) { return b.alignment.count() != 1; });
  }
  std::string alignment(size_t i) const { return std::to_string(at(i).alignment.count()); }

  bool has_hints() const {
    return any([](const Buffer& b) { return b.hint.has_value(); });
  }
  std::string hint(size_t i) const { return std::to_string(count_or_none(at(i).hint)); }

  bool has_gaps() const {
    return any([](const Buffer& b) { return !b.gaps.empty() || !b.partial_gaps.empty(); });
  }
  std::string gaps(size_t i) const {
    std::string text;
    for (const Interval<int64_t>& gap : at(i).gaps) {
      text += fmt::format("{}{}-{}", text.empty() ? "" : " ", gap.lower, gap.upper - closed_);
    }
    for (const PartialGap& gap : at(i).partial_gaps) {
      text += fmt::format("{}{}-{}@{}:{}", text.empty() ? "" : " ", gap.when.lower,
                          gap.when.upper - closed_, gap.used.lower.count(), gap.used.upper.count());
    }
    return text;
  }

  bool has_offsets() const {
    return plan_ != nullptr || any([](const Buffer& b) { return b.offset.has_value(); });
  }
  std::string offset(size_t i) const {
    return std::to_string(plan_ != nullptr ? plan_->offsets[i].count()
                                           : count_or_none(at(i).offset));
  }

  bool has_groups() const {
    return any([](const Buffer& b) { return b.group.has_value(); });
  }
  std::string group(size_t i) const {
    return at(i).group ? problem_.groups[at(i).group->index()].name : "";
  }
  std::string group_offset(size_t i) const {
    return at(i).group ? std::to_string(at(i).group_offset.count()) : "";
  }

  bool is_in_pools() const { return plan_ != nullptr && !plan_->pool_of.empty(); }
  bool has_pools() const {
    return is_in_pools() || any([](const Buffer& b) { return b.pool.has_value(); });
  }
  std::string pool(size_t i) const {
    const std::optional<PoolId> id = is_in_pools() ? plan_->pool_of[i] : at(i).pool;
    return id ? problem_.pools[id->index()].name : "";
  }

  bool has_exclusions() const {
    return any([](const Buffer& b) { return !b.not_in.empty(); });
  }
  std::string not_in(size_t i) const {
    std::string text;
    for (const PoolId id : at(i).not_in) {
      text += (text.empty() ? "" : " ") + problem_.pools[id.index()].name;
    }
    return text;
  }

  bool has_pairs() const { return !problem_.apart.empty(); }
  std::string apart(size_t i) const { return apart_[i]; }

  bool has_costs() const {
    return any([](const Buffer& b) { return b.cost.has_value(); });
  }
  std::string cost(size_t i) const { return at(i).cost ? std::to_string(*at(i).cost) : ""; }

  // Of each buffer, the names of those it is the first to be kept apart from.
  std::vector<std::string> apart_lists() const {
    std::vector<std::string> lists(problem_.apart.empty() ? 0 : problem_.buffers.size());
    for (const ApartPair& pair : problem_.apart) {
      std::string& list = lists[pair.first.index()];
      list += (list.empty() ? "" : " ") + at(pair.second.index()).name;
    }
    return lists;
  }

  const Problem& problem_;
  const Plan* plan_;
  int64_t closed_;
  std::vector<std::string> apart_;
  std::vector<const Column*> used_{};
};

const CsvWriter::Column CsvWriter::kColumns[10] = {
    {"alignment", &CsvWriter::has_alignments, &CsvWriter::alignment},
    {"hint", &CsvWriter::has_hints, &CsvWriter::hint},
    {"gaps", &CsvWriter::has_gaps, &CsvWriter::gaps},
    {"offset", &CsvWriter::has_offsets, &CsvWriter::offset},
    {"group", &CsvWriter::has_groups, &CsvWriter::group},
    {"group_offset", &CsvWriter::has_groups, &CsvWriter::group_offset},
    {"pool", &CsvWriter::has_pools, &CsvWriter::pool},
    {"not_in", &CsvWriter::has_exclusions, &CsvWriter::not_in},
    {"apart", &CsvWriter::has_pairs, &CsvWriter::apart},
    {"cost", &CsvWriter::has_costs, &CsvWriter::cost},
};

}  // namespace

std::string write_csv(const Problem& problem, const Plan* plan, bool closed_ends) {
  return CsvWriter(problem, plan, closed_ends).write();
}

}  // namespace tidemark
