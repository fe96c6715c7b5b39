#include "oracles.h"

#include <fmt/core.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bitset>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <vector>

namespace tidemark {
namespace {

using Addresses = std::bitset<kAddresses>;
using Grid = std::array<Addresses, kInstants>;

using Instants = std::bitset<kInstants>;

// By buffer: when it needs memory.
std::vector<Instants> instants_of(const Problem& problem) {
  std::vector<Instants> all(problem.buffers.size());
  for (size_t i = 0; i < all.size(); ++i) {
    for (size_t t = 0; t < kInstants; ++t) {
      all[i][t] = needs_memory_at(problem.buffers[i], static_cast<int64_t>(t));
    }
  }
  return all;
}

class Painter {
 public:
  explicit Painter(const Problem& problem)
      : problem_(problem),
        instants_(instants_of(problem)),
        load_(load_instant_by_instant(problem)) {}

  std::optional<int64_t> optimum() {
    Grid grid{};
    int64_t peak = 0;
    for (size_t i = 0; i < problem_.buffers.size(); ++i) {
      const Buffer& buffer = problem_.buffers[i];
      if (instants_[i].none()) continue;
      if (!buffer.offset) {
        free_.push_back(i);
        continue;
      }
      const int64_t offset = buffer.offset->count();
      if (offset % buffer.alignment.count() != 0 || !is_free(grid, i, offset)) return std::nullopt;
      paint(grid, i, offset);
      peak = std::max(peak, offset + buffer.size.count());
    }
    place_rest(grid, peak, {});
    return best_;
  }

 private:
  Addresses taken(size_t i, int64_t offset) const {
    const auto size = static_cast<size_t>(problem_.buffers[i].size.count());
    return (~Addresses{} >> (kAddresses - size)) << static_cast<size_t>(offset);
  }

  bool is_free(const Grid& grid, size_t i, int64_t offset) const {
    const Addresses mine = taken(i, offset);
    for (size_t t = 0; t < kInstants; ++t) {
      if (instants_[i][t] && (grid[t] & mine).any()) return false;
    }
    return true;
  }

  void paint(Grid& grid, size_t i, int64_t offset) const {
    const Addresses mine = taken(i, offset);
    for (size_t t = 0; t < kInstants; ++t) {
      if (instants_[i][t]) grid[t] |= mine;
    }
  }

  struct Last {
    size_t placed = 0;   // the first so many of free_ are placed
    int64_t offset = 0;  // of the last of them
  };

  // `grid` and `peak` tell of the buffers placed so far, fixed ones too. What is no lower than the
  // best so far is left; nothing is lower than the load.
  void place_rest(const Grid& grid, int64_t peak, Last last) {
    if (peak >= best_ || best_ == load_) return;
    if (last.placed == free_.size()) best_ = peak;
    for (size_t k = last.placed; k < free_.size(); ++k) {
      std::swap(free_[last.placed], free_[k]);
      const size_t i = free_[last.placed];
      const Buffer& buffer = problem_.buffers[i];
      int64_t offset = 0;
      while (!is_free(grid, i, offset)) offset += buffer.alignment.count();
      if (last.offset <= offset) {
        Grid next = grid;
        paint(next, i, offset);
        place_rest(next, std::max(peak, offset + buffer.size.count()), {last.placed + 1, offset});
      }
      std::swap(free_[last.placed], free_[k]);
    }
  }

  const Problem& problem_;
  std::vector<Instants> instants_;
  int64_t load_ = 0;
  std::vector<size_t> free_{};
  int64_t best_ = kAddresses;
};

// By buffer: the addresses at which it may stand.
std::vector<std::vector<int64_t>> places_of(const Problem& problem, int64_t capacity) {
  std::vector<std::vector<int64_t>> places;
  for (const Buffer& buffer : problem.buffers) {
    places.emplace_back();
    for (int64_t at = 0; at + buffer.size.count() <= capacity; ++at) {
      const bool wanted = !buffer.offset || buffer.offset->count() == at;
      if (wanted && at % buffer.alignment.count() == 0) places.back().push_back(at);
    }
  }
  return places;
}

}  // namespace

bool needs_memory_at(const Buffer& buffer, int64_t instant) {
  if (buffer.size.count() <= 0) return false;
  if (instant < buffer.lifetime.lower || instant >= buffer.lifetime.upper) return false;
  return std::ranges::none_of(buffer.gaps, [&](const Interval<int64_t>& gap) {
    return gap.lower <= instant && instant < gap.upper;
  });
}

int64_t load_instant_by_instant(const Problem& problem) {
  int64_t highest = 0;
  for (int64_t t = 0; t < kInstants; ++t) {
    int64_t load = 0;
    for (const Buffer& buffer : problem.buffers) {
      if (needs_memory_at(buffer, t)) load += buffer.size.count();
    }
    highest = std::max(highest, load);
  }
  return highest;
}

std::optional<int64_t> optimum_by_painting(const Problem& problem) {
  return Painter(problem).optimum();
}

std::string clauses(const Problem& problem, int64_t capacity) {
  const auto& all = problem.buffers;
  const std::vector<Instants> instants = instants_of(problem);
  const std::vector<std::vector<int64_t>> places = places_of(problem, capacity);
  std::vector<size_t> first(all.size() + 1, 1);  // variable of the first place
  for (size_t i = 0; i < all.size(); ++i) first[i + 1] = first[i] + places[i].size();
  std::string text;
  size_t count = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    if (instants[i].none()) continue;
    for (size_t p = 0; p < places[i].size(); ++p) text += std::to_string(first[i] + p) + " ";
    text += "0\n";
    ++count;
    for (size_t j = 0; j < i; ++j) {
      if ((instants[i] & instants[j]).none()) continue;
      for (size_t p = 0; p < places[i].size(); ++p) {
        for (size_t q = 0; q < places[j].size(); ++q) {
          const bool below = places[i][p] + all[i].size.count() <= places[j][q];
          const bool above = places[j][q] + all[j].size.count() <= places[i][p];
          if (below || above) continue;
          text += fmt::format("-{} -{} 0\n", first[i] + p, first[j] + q);
          ++count;
        }
      }
    }
  }
  return fmt::format("p cnf {} {}\n", first.back() - 1, count) + text;
}

bool has_sat_solver() { return std::system("command -v minisat > /dev/null") == 0; }

bool fits_by_sat(const Problem& problem, int64_t capacity) {
  const auto file =
      std::filesystem::temp_directory_path() / fmt::format("tidemark_{}.cnf", getpid());
  std::ofstream(file) << clauses(problem, capacity);
  const int status =
      std::system(fmt::format("minisat -verb=0 '{}' > /dev/null 2>&1", file.string()).c_str());
  std::filesystem::remove(file);
  // 10: satisfiable; 20: not.
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  if (code != 10 && code != 20) throw std::runtime_error("minisat gives no answer");
  return code == 10;
}

}  // namespace tidemark
