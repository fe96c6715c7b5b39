// The arena drawn with letters, as an engineer would on squared paper: offset upward, steps to the
// right; '.' is free, '!' an overlap (a bug of whoever placed the buffers), '^' stands below the
// fullest step. Five buffers of 4 B over 21 steps, one row for 4 B:
//
//    12 B +
//         |aaabbbbbb............
//     8 B |cccccccccdddddddddddd
//     4 B |eeeeeeeeeeeeeeeeeeeee
//     0 B +---------------------
//   Checked by ArenaMapTest.FiveBuffers.
#include <fmt/core.h>

#include <algorithm>
#include <span>
#include <string_view>

#include "planner/base/units.h"
#include "planner/report/escape.h"
#include "planner/report/layout.h"
#include "planner/report/pack_report.h"
#include "planner/report/writers.h"

namespace tidemark {
namespace {

constexpr std::string_view kLetters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
constexpr int kScaleWidth = 11;  // "1023 MiB |"
constexpr size_t kLegendRows = 6;

// What a column is called: the step, or in a packing problem the instant at which it begins, since
// its steps are only the time between two changes. The last instant is the end.
struct TimeNames {
  std::span<const int64_t> instants{};
  std::string_view unit() const { return instants.empty() ? "step" : "instant"; }
  int64_t at(int64_t step) const {
    return instants.empty() ? step : instants[static_cast<size_t>(step)];
  }
};

// One letter for each buffer, also when it has several rows.
std::vector<char> letters_of(const std::vector<ArenaRow>& rows) {
  std::vector<char> letters;
  size_t buffers = 0;
  for (const ArenaRow& row : rows) {
    letters.push_back(row.piece_of ? letters[*row.piece_of] : kLetters[buffers % kLetters.size()]);
    if (!row.piece_of) ++buffers;
  }
  return letters;
}

// `length` units cut into `cells` equal parts: part i is [at(i), at(i + 1)).
struct Scale {
  int64_t length = 1;
  int cells = 1;
  double at(int cell) const { return static_cast<double>(length) * cell / cells; }
  // The parts that [lower, upper) touches.
  Interval<int> touched(int64_t lower, int64_t upper) const {
    const double per_unit = static_cast<double>(cells) / static_cast<double>(length);
    Interval<int> range{
        static_cast<int>(static_cast<double>(std::clamp(lower, int64_t{0}, length)) * per_unit),
        static_cast<int>(static_cast<double>(std::clamp(upper, int64_t{0}, length)) * per_unit) +
            1};
    range.lower = std::max(range.lower - 1, 0);
    range.upper = std::min(range.upper + 1, cells);
    while (range.lower < range.upper && covered(range.lower, lower, upper) <= 0) ++range.lower;
    while (range.upper > range.lower && covered(range.upper - 1, lower, upper) <= 0) --range.upper;
    return range;
  }
  // How much of the part [lower, upper) covers, in units.
  double covered(int cell, int64_t lower, int64_t upper) const {
    return std::min(at(cell + 1), static_cast<double>(upper)) -
           std::max(at(cell), static_cast<double>(lower));
  }
};

// Each step a whole number of columns while there is room (at most four), so that equal steps look
// equal.
Scale step_scale(int64_t steps, int columns) {
  const int64_t length = std::max<int64_t>(steps, 1);
  const int64_t wide = std::clamp<int64_t>(columns / length, 1, 4);
  return {length, static_cast<int>(std::min<int64_t>(length * wide, columns))};
}

Scale offset_scale(Bytes peak, int rows) {
  const int64_t length = std::max<int64_t>(peak.count(), 1);
  return {length, static_cast<int>(std::min<int64_t>(length, rows))};
}

// One cell: the buffer that covers most of it.
struct Mark {
  char letter = '.';
  double area = 0;
};

class Grid {
 public:
  Grid(Scale steps, Scale offsets)
      : steps_(steps),
        offsets_(offsets),
        cells_(static_cast<size_t>(steps.cells) * static_cast<size_t>(offsets.cells)) {}

  void paint(const ArenaRow& row, char letter) {
    for_each_cell(row.lifetime, row.offset, row.offset + row.size, [&](Mark& mark, double area) {
      if (area <= mark.area) return;
      mark = {letter, area};
    });
  }

  void mark_overlap(const Interval<StepIndex>& lifetime, Bytes lower, Bytes upper) {
    for_each_cell(lifetime, lower, upper, [](Mark& mark, double) { mark.letter = '!'; });
  }

  std::string line(int offset_cell) const {
    std::string out;
    for (int step = 0; step < steps_.cells; ++step) out += cells_[index(step, offset_cell)].letter;
    return out;
  }

 private:
  size_t index(int step, int offset) const {
    return static_cast<size_t>(offset) * static_cast<size_t>(steps_.cells) +
           static_cast<size_t>(step);
  }

  template <typename Action>
  void for_each_cell(const Interval<StepIndex>& lifetime, Bytes lower, Bytes upper, Action action) {
    const int64_t first = lifetime.lower.value();
    const int64_t last = lifetime.upper.value();
    if (first >= last || lower >= upper) return;
    const Interval<int> columns = steps_.touched(first, last);
    const Interval<int> rows = offsets_.touched(lower.count(), upper.count());
    for (int row = rows.lower; row < rows.upper; ++row) {
      const double tall = offsets_.covered(row, lower.count(), upper.count());
      for (int column = columns.lower; column < columns.upper; ++column) {
        action(cells_[index(column, row)], tall * steps_.covered(column, first, last));
      }
    }
  }

  Scale steps_;
  Scale offsets_;
  std::vector<Mark> cells_;
};

// Every pair that shares an address at the same step, found by walking the buffers in order of
// their first step.
void paint_overlaps(const std::vector<ArenaRow>& rows, Grid& grid) {
  std::vector<const ArenaRow*> order;
  for (const ArenaRow& row : rows) order.push_back(&row);
  std::stable_sort(order.begin(), order.end(), [](const ArenaRow* a, const ArenaRow* b) {
    return a->lifetime.lower < b->lifetime.lower;
  });
  for (size_t i = 0; i < order.size(); ++i) {
    const ArenaRow& first = *order[i];
    for (size_t j = i + 1; j < order.size() && order[j]->lifetime.lower < first.lifetime.upper;
         ++j) {
      const ArenaRow& second = *order[j];
      if (first.body && first.body == second.body) continue;
      grid.mark_overlap(
          {second.lifetime.lower, std::min(first.lifetime.upper, second.lifetime.upper)},
          std::max(first.offset, second.offset),
          std::min(first.offset + first.size, second.offset + second.size));
    }
  }
}

std::string offset_label(const Scale& offsets, int row) {
  return format_bytes(Bytes::of(static_cast<int64_t>(offsets.at(row))));
}

// Labels every fourth row, and always the top.
std::string map_lines(const Grid& grid, const Scale& offsets, const Scale& steps) {
  std::string out =
      fmt::format("{:>{}} +\n", offset_label(offsets, offsets.cells), kScaleWidth - 2);
  for (int row = offsets.cells - 1; row >= 0; --row) {
    const bool labelled = row % 4 == 0 && row > 0 && offsets.cells - row >= 2;
    out += fmt::format("{:>{}} |{}\n", labelled ? offset_label(offsets, row) : "", kScaleWidth - 2,
                       grid.line(row));
  }
  return out + fmt::format("{:>{}} +{}\n", "0 B", kScaleWidth - 2,
                           std::string(static_cast<size_t>(steps.cells), '-'));
}

// "0        5        10" below the columns where those steps begin, blanks between them.
std::string step_labels(const Scale& steps, const TimeNames& names) {
  constexpr int kApart = 12;
  std::string out(kScaleWidth, ' ');
  int64_t stride = 1;
  while (stride * steps.cells < kApart * steps.length) stride *= 2;
  for (int64_t step = 0; step < steps.length; step += stride) {
    const size_t column =
        kScaleWidth + static_cast<size_t>(static_cast<double>(step) * steps.cells /
                                          static_cast<double>(steps.length));
    if (column < out.size() + (step > 0 ? 1 : 0)) continue;
    out += std::string(column - out.size(), ' ') + fmt::format("{}", names.at(step));
  }
  return out + fmt::format(" {}\n", names.unit());
}

std::string peak_line(const ArenaFacts& arena, const Scale& steps, const TimeNames& names) {
  if (arena.peak_step < 0 || arena.peak_step >= steps.length) return "";
  const Interval<int> columns = steps.touched(arena.peak_step, arena.peak_step + 1);
  const std::string text =
      fmt::format("fullest at {} {}{}", names.unit(), names.at(arena.peak_step),
                  arena.peak_op.empty() ? "" : " (" + one_line(arena.peak_op) + ")");
  const int column = kScaleWidth + columns.lower;
  const int before = column - display_width(text) - 1;
  // Beside the mark, on whichever side has room.
  if (columns.lower > steps.cells / 2 && before >= 0) {
    return std::string(static_cast<size_t>(before), ' ') + text + " ^\n";
  }
  return std::string(static_cast<size_t>(column), ' ') + "^ " + text + "\n";
}

std::string legend(const ArenaFacts& arena, const std::vector<char>& letters,
                   const TimeNames& names) {
  std::vector<size_t> order;
  for (size_t i = 0; i < arena.rows.size(); ++i) {
    if (!arena.rows[i].piece_of) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return arena.rows[a].size > arena.rows[b].size; });
  Table table{.columns = {{"", Align::kLeft},
                          {"largest buffers", Align::kLeft},
                          {"size"},
                          {"offset"},
                          {fmt::format("{}s", names.unit()), Align::kLeft}}};
  for (size_t i = 0; i < std::min(order.size(), kLegendRows); ++i) {
    const ArenaRow& row = arena.rows[order[i]];
    table.rows.push_back({{std::string(1, letters[order[i]])},
                          {shortened(one_line(row.name), 40)},
                          {format_bytes(row.size)},
                          {format_bytes(row.offset)},
                          {fmt::format("[{}, {})", names.at(row.lifetime.lower.value()),
                                       names.at(row.lifetime.upper.value()))}});
  }
  return "\n" + table_to_text(table, {});
}

std::string time_of(const ArenaFacts& arena, const TimeNames& names) {
  if (names.instants.empty()) return fmt::format("over {} steps", format_count(arena.steps));
  return fmt::format("between instants {} and {}", names.instants.front(), names.instants.back());
}

std::string map_with(const ArenaFacts& arena, int columns, int rows, const TimeNames& names) {
  if (arena.rows.empty()) return "The arena is empty.\n";
  const Scale steps = step_scale(arena.steps, std::clamp(columns, 40, 500) - kScaleWidth);
  const Scale offsets = offset_scale(arena.peak, std::clamp(rows, 4, 200));
  Grid grid(steps, offsets);
  const std::vector<char> letters = letters_of(arena.rows);
  for (size_t i = 0; i < arena.rows.size(); ++i) grid.paint(arena.rows[i], letters[i]);
  paint_overlaps(arena.rows, grid);
  std::string out =
      fmt::format("Arena, {}: {} in {} buffers {}, lower bound {}\n\n", one_line(arena.phase),
                  format_bytes(arena.peak), format_count(arena.buffers), time_of(arena, names),
                  format_bytes(arena.lower_bound));
  return out + map_lines(grid, offsets, steps) + step_labels(steps, names) +
         peak_line(arena, steps, names) + legend(arena, letters, names);
}

}  // namespace

std::string arena_map(const ArenaFacts& arena, int columns, int rows) {
  return map_with(arena, columns, rows, {});
}

std::string pack_map(const Problem& problem, const Plan& plan, PoolId pool) {
  constexpr int kColumns = 100;
  constexpr int kRows = 24;
  const ArenaFacts arena = map_of(problem, plan, pool);
  const std::vector<int64_t> instants = instants_of(problem, plan, pool);
  return map_with(arena, kColumns, kRows, {.instants = instants});
}

}  // namespace tidemark
