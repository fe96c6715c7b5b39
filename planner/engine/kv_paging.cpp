#include "planner/engine/kv_paging.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <set>
#include <vector>

#include "planner/base/check.h"
#include "planner/base/checked.h"

namespace tidemark {
namespace {

int64_t power_of_two(int64_t n) {
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(n)));
}

// Free places by size; neighbours of one size whose address differs in that bit alone are joined.
class Buddies {
 public:
  explicit Buddies(int64_t cells) : cells_(cells), free_(places(cells)) { at(cells).insert(0); }

  // `size` is a power of two.
  std::optional<int64_t> take(int64_t size) {
    int64_t found = size;
    while (found <= cells_ && at(found).empty()) found *= 2;
    if (found > cells_) return std::nullopt;
    const int64_t address = *at(found).begin();
    at(found).erase(address);
    while (found > size) {
      found /= 2;
      at(found).insert(address + found);
    }
    return address;
  }

  void give(int64_t address, int64_t size) {
    while (size < cells_ && at(size).erase(address ^ size) == 1) {
      address = std::min(address, address ^ size);
      size *= 2;
    }
    at(size).insert(address);
  }

 private:
  static size_t places(int64_t cells) {
    return static_cast<size_t>(std::countr_zero(static_cast<uint64_t>(cells))) + 1;
  }
  std::set<int64_t>& at(int64_t size) { return free_[places(size) - 1]; }

  int64_t cells_;
  std::vector<std::set<int64_t>> free_;  // by the power
};

struct Running {
  KvRequest request{};
  int64_t length = 0;
  int64_t place = 0;   // address
  int64_t size = 0;    // of its place, or of its blocks
  int64_t wanted = 0;  // of it, what was asked for before rounding
};

class Batch {
 public:
  Batch(std::span<const KvRequest> trace, KvReservation reservation, const KvPool& pool)
      : trace_(trace), reservation_(reservation), pool_(pool), buddies_(pool.cells) {}

  void step(KvUse& use, bool is_counted) {
    while (take_in()) continue;
    if (is_counted) count(use);
    grow(use, is_counted);
  }

 private:
  bool is_paged() const { return reservation_ == KvReservation::kPaged; }
  int64_t in_blocks(int64_t cells) const { return ceil_div(cells, pool_.block) * pool_.block; }

  int64_t wanted(const KvRequest& request) const {
    switch (reservation_) {
      case KvReservation::kLongest:
        return pool_.longest;
      case KvReservation::kPowerOfTwo:
        return std::min(request.prompt + power_of_two(request.output), pool_.longest);
      case KvReservation::kExact:
        return request.total();
      case KvReservation::kPaged:
        break;
    }
    return in_blocks(request.prompt);
  }

  bool take_in() {
    Running next{.request = trace_[next_ % trace_.size()]};
    next.length = next.request.prompt;
    next.wanted = wanted(next.request);
    if (is_paged()) {
      next.size = next.wanted;
      const int64_t kept = running_.empty() ? 0 : pool_.cells * pool_.watermark_per_mille / 1000;
      if (used_ + next.size + kept > pool_.cells) return false;
    } else {
      next.size = power_of_two(next.wanted);
      const std::optional<int64_t> place = buddies_.take(next.size);
      if (!place) return false;
      next.place = *place;
    }
    used_ += next.size;
    running_.push_back(next);
    ++next_;
    return true;
  }

  void count(KvUse& use) const {
    int64_t of_requests = 0;
    for (const Running& one : running_) {
      const int64_t last = one.request.total();
      use.tokens += one.length;
      use.reserved += std::max<int64_t>(std::min(one.wanted, last) - one.length, 0);
      use.internal += std::max<int64_t>(one.wanted - std::max(last, one.length), 0);
      of_requests += std::max(one.wanted, one.length);
    }
    use.external += pool_.cells - of_requests;
    ++use.steps;
  }

  // One token more for each; those that are complete leave.
  void grow(KvUse& use, bool is_counted) {
    for (size_t i = 0; i < running_.size();) {
      Running& one = running_[i];
      if (one.length + 1 >= one.request.total()) {
        leave(i);
        continue;
      }
      ++one.length;
      if (is_paged() && one.length > one.size && !more_blocks(i, use, is_counted)) continue;
      ++i;
    }
  }

  // False when the request itself was the youngest, and so was put back.
  bool more_blocks(size_t index, KvUse& use, bool is_counted) {
    while (used_ + pool_.block > pool_.cells) {
      const size_t youngest = running_.size() - 1;
      if (is_counted) ++use.preempted;
      leave(youngest);
      if (youngest == index) return false;
    }
    running_[index].size += pool_.block;
    running_[index].wanted += pool_.block;
    used_ += pool_.block;
    return true;
  }

  void leave(size_t index) {
    const Running& one = running_[index];
    used_ -= one.size;
    if (!is_paged()) buddies_.give(one.place, one.size);
    running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(index));
  }

  std::span<const KvRequest> trace_;
  KvReservation reservation_;
  KvPool pool_;
  Buddies buddies_;
  std::vector<Running> running_{};  // oldest first
  int64_t used_ = 0;
  size_t next_ = 0;
};

}  // namespace

KvUse kv_use(std::span<const KvRequest> trace, KvReservation reservation, const KvPool& pool,
             int64_t steps, int64_t warm_up) {
  check(!trace.empty(), "there are requests");
  check(pool.cells >= 1 && pool.cells == power_of_two(pool.cells), "the pool is a power of two");
  check(pool.longest >= 1 && pool.longest <= pool.cells, "the longest request fits the pool");
  check(pool.block >= 1 && pool.cells % pool.block == 0, "blocks divide the pool");
  for (const KvRequest& request : trace) {
    check(request.prompt >= 1 && request.output >= 1 && request.prompt <= pool.longest &&
              request.output <= pool.longest - request.prompt,
          "a request fits");
  }
  KvUse use;
  Batch batch(trace, reservation, pool);
  for (int64_t step = 0; step < steps; ++step) batch.step(use, step >= warm_up);
  return use;
}

}  // namespace tidemark
