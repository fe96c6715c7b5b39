#include <fmt/format.h>

#include <algorithm>

#include "planner/alloc/problem.h"

namespace tidemark {
namespace {

template <typename Tag, typename Item>
bool names(const Id<Tag>& id, const std::vector<Item>& items) {
  return id.value() >= 0 && id.index() < items.size();
}

class FaultFinder {
 public:
  explicit FaultFinder(const Problem& problem) : problem_(problem) {}

  std::vector<std::string> find() {
    for (const Pool& pool : problem_.pools) {
      if (pool.capacity && *pool.capacity < Bytes{}) {
        faults_.push_back(fmt::format("pool '{}' has a negative capacity", pool.name));
      }
    }
    std::vector<int64_t> members(problem_.groups.size(), 0);
    for (const Buffer& buffer : problem_.buffers) {
      look_at(buffer);
      if (buffer.group && names(*buffer.group, problem_.groups)) ++members[buffer.group->index()];
    }
    for (size_t i = 0; i < members.size(); ++i) {
      if (members[i] <= kMostGroupMembers) continue;
      faults_.push_back(fmt::format("group '{}' has {} members, more than {}",
                                    problem_.groups[i].name, members[i], kMostGroupMembers));
    }
    for (const ApartPair& pair : problem_.apart) look_at(pair);
    return std::move(faults_);
  }

 private:
  void look_at(const Buffer& buffer) {
    if (buffer.size < Bytes{}) fault(buffer, "has a negative size");
    if (buffer.cost && *buffer.cost < 0) fault(buffer, "has a negative cost");
    if (buffer.group && !names(*buffer.group, problem_.groups)) {
      fault(buffer, "is of a group that is none");
    }
    if (buffer.group_offset < Bytes{}) fault(buffer, "has a negative group_offset");
    if (!buffer.group && buffer.group_offset != Bytes{})
      fault(buffer, "has no group to be offset in");
    for (const PartialGap& gap : buffer.partial_gaps) {
      const bool within = Bytes{} <= gap.used.lower && gap.used.upper <= buffer.size;
      if (gap.used.empty() || !within) fault(buffer, "has a partial gap that keeps no part of it");
    }
    look_at_pools(buffer);
  }

  void look_at_pools(const Buffer& buffer) {
    const auto known = [&](PoolId id) { return names(id, problem_.pools); };
    const auto barred = [&](PoolId id) { return std::ranges::count(buffer.not_in, id) > 0; };
    if ((buffer.pool && !known(*buffer.pool)) || !std::ranges::all_of(buffer.not_in, known)) {
      return fault(buffer, "names a pool that is none");
    }
    bool somewhere = problem_.pools.empty();
    for (size_t i = 0; i < problem_.pools.size(); ++i) {
      const PoolId id = PoolId::of(i);
      somewhere = somewhere || (!barred(id) && buffer.pool.value_or(id) == id);
    }
    if (!somewhere) fault(buffer, "may stand in no pool");
  }

  void look_at(const ApartPair& pair) {
    if (!names(pair.first, problem_.buffers) || !names(pair.second, problem_.buffers)) {
      faults_.emplace_back("a pair to keep apart names a buffer that is none");
      return;
    }
    const Buffer& first = problem_.buffers[pair.first.index()];
    const Buffer& second = problem_.buffers[pair.second.index()];
    if (pair.first == pair.second) fault(first, "can not be kept apart from itself");
    if (pair.first != pair.second && first.group && first.group == second.group) {
      fault(first, fmt::format("can not be kept apart from '{}' of its own group", second.name));
    }
  }

  void fault(const Buffer& buffer, std::string_view what) {
    faults_.push_back(fmt::format("buffer '{}' {}", buffer.name, what));
  }

  const Problem& problem_;
  std::vector<std::string> faults_{};
};

}  // namespace

std::vector<std::string> faults_of(const Problem& problem) { return FaultFinder(problem).find(); }

}  // namespace tidemark
