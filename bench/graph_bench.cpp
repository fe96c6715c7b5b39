// What an engine built on ggml reserves for its graphs against the lowest plan, one line a graph,
// then medians by variant:
//
//   graph_bench [--csv] DUMP.tsv.gz...
//   graph_bench --order DUMP.tsv.gz...     what another order of the nodes saves, as a table
//
// The variant of a graph is what its file name says from "-fa" on. Every plan is judged as a plan
// and by replaying the graph on it. Exit 1 when a plan is wrong, not proved optimal, or (in place)
// not smaller than what was reserved.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "planner/alloc/portfolio.h"
#include "planner/alloc/validate.h"
#include "planner/base/gzip.h"
#include "planner/engine/ggml_alloc.h"
#include "planner/engine/ggml_dump.h"
#include "planner/engine/ggml_order.h"
#include "planner/engine/ggml_replay.h"

namespace tidemark {
namespace {

constexpr std::array kWays{GgmlPackingOptions{GgmlInPlace::kNone, false},
                           GgmlPackingOptions{GgmlInPlace::kEngine, false},
                           GgmlPackingOptions{GgmlInPlace::kThroughViews, true},
                           GgmlPackingOptions{GgmlInPlace::kWithGlu, true}};

constexpr int64_t kMostStates = 1'000'000;  // of the search of an order

// One graph, packed in one way.
struct Packed {
  size_t buffers = 0;
  Bytes peak{};
  double ratio = 0;  // of the reserved bytes
  PlanStatus status = PlanStatus::kFeasible;
  double cpu_ms = 0;
  bool right = false;
};

struct Row {
  std::string name{};
  std::string variant{};
  Bytes reserved{};
  std::array<Packed, kWays.size()> ways{};
};

double cpu_ms() { return 1e3 * static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

Packed pack(const GgmlGraph& graph, const GgmlPackingOptions& options, Bytes reserved) {
  const double start = cpu_ms();
  const GgmlPacking packing = packing_problem(graph, options);
  const Plan made = plan_by_portfolio(packing.problem);
  Packed packed{
      .buffers = packing.problem.buffers.size(),
      .peak = made.peak,
      .ratio = static_cast<double>(made.peak.count()) / static_cast<double>(reserved.count()),
      .status = made.status,
      .cpu_ms = cpu_ms() - start};
  const auto offsets = tensor_offsets(graph, packing, made);
  packed.right = validate(packing.problem, made).empty() &&
                 replay(graph, offsets, made.peak, options.in_place).empty();
  return packed;
}

std::optional<GgmlDump> read_dump(const std::string& path) {
  const Result<std::string> text = read_file_or_gzip(path, kMostGgmlDump);
  Result<GgmlDump> dump = text ? read_ggml_dump(*text, path) : Result<GgmlDump>(text.diagnostics());
  if (dump) return std::move(dump).value();
  fmt::print(stderr, "{}", to_string(dump.diagnostics()));
  return std::nullopt;
}

std::string name_of_file(const std::string& path) {
  const std::string file = path.substr(path.find_last_of('/') + 1);
  return file.substr(0, file.find(".tsv"));
}

std::string variant_of(const std::string& name) {
  const size_t variant = name.rfind("-fa");
  return variant == std::string::npos ? "" : name.substr(variant + 1);
}

std::optional<Row> measure(const std::string& path) {
  const std::optional<GgmlDump> dump = read_dump(path);
  if (!dump) return std::nullopt;
  Row row{.name = name_of_file(path), .reserved = reserve(dump->graph).reserved};
  row.variant = variant_of(row.name);
  if (dump->compute_bytes.value_or(row.reserved) != row.reserved) {
    fmt::print(stderr, "{}: {} by the rules, {} by the dump\n", path, row.reserved.count(),
               dump->compute_bytes->count());
    return std::nullopt;
  }
  for (size_t i = 0; i < kWays.size(); ++i) {
    row.ways[i] = pack(dump->graph, kWays[i], row.reserved);
  }
  return row;
}

bool is_as_wished(const Row& row) {
  bool good = true;
  for (size_t i = 0; i < kWays.size(); ++i) {
    const Packed& packed = row.ways[i];
    good = good && packed.right && packed.status == PlanStatus::kProvedOptimal;
    if (kWays[i].in_place != GgmlInPlace::kNone) good = good && packed.peak < row.reserved;
  }
  if (!good) fmt::print(stderr, "{}: not as wished\n", row.name);
  return good;
}

double most_ms(const Row& row) {
  double most = 0;
  for (const Packed& packed : row.ways) most = std::max(most, packed.cpu_ms);
  return most;
}

void print_csv(const Row& row) {
  fmt::print("{},{}", row.name, row.reserved.count());
  for (const Packed& packed : row.ways) {
    fmt::print(",{},{},{},{:.2f}", packed.buffers, packed.peak.count(), name_of(packed.status),
               packed.cpu_ms);
  }
  fmt::print("\n");
}

void print_markdown(const Row& row) {
  const bool proved = std::ranges::all_of(
      row.ways, [](const Packed& packed) { return packed.status == PlanStatus::kProvedOptimal; });
  fmt::print("| {} | {} | {} |", row.name, row.ways[2].buffers, row.reserved.count());
  for (const Packed& packed : row.ways)
    fmt::print(" {} | {:.3f} |", packed.peak.count(), packed.ratio);
  fmt::print(" {} | {:.1f} |\n", proved ? "optimal" : "not proved", most_ms(row));
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

void print_medians(std::string_view name, const std::vector<Row>& rows) {
  if (rows.empty()) return;
  fmt::print("| {} | {} |", name, rows.size());
  for (size_t i = 0; i < kWays.size(); ++i) {
    std::vector<double> ratios;
    for (const Row& row : rows) ratios.push_back(row.ways[i].ratio);
    const auto [least, most] = std::ranges::minmax(ratios);
    fmt::print(" {:.3f} ({:.3f} to {:.3f}) |", median(ratios), least, most);
  }
  std::vector<double> times;
  for (const Row& row : rows) times.push_back(most_ms(row));
  fmt::print(" {:.1f} |\n", std::ranges::max(times));
}

void print_summary(const std::vector<Row>& rows) {
  std::map<std::string, std::vector<Row>> by_variant;
  std::vector<Row> one_output;
  for (const Row& row : rows) {
    by_variant[row.variant].push_back(row);
    if (row.variant.ends_with("-o1")) one_output.push_back(row);
  }
  fmt::print(
      "\n| variant | graphs | none | as the engine | + views, no idle input | + GLU | most ms |\n");
  fmt::print("|---|---:|---:|---:|---:|---:|---:|\n");
  for (const auto& [variant, some] : by_variant) print_medians(variant, some);
  print_medians("fa0-o1 and fa1-o1", one_output);
  print_medians("all", rows);
}

struct Order {
  Bytes reserved{};  // by the engine, for its own order
  GgmlOrder found{};
  Bytes reserved_so{};  // by the engine, for this order
  Packed packed{};      // in this order
  double cpu_ms = 0;    // of the search
};

double share(Bytes part, Bytes whole) {
  return static_cast<double>(part.count()) / static_cast<double>(whole.count());
}

std::optional<Order> measure_order(const std::string& path, const GgmlPackingOptions& options) {
  const std::optional<GgmlDump> dump = read_dump(path);
  if (!dump) return std::nullopt;
  Order row{.reserved = reserve(dump->graph).reserved};
  const double start = cpu_ms();
  row.found = order_for_memory(dump->graph, options, {.max_states = kMostStates});
  row.cpu_ms = cpu_ms() - start;
  const GgmlGraph graph = reorder(dump->graph, row.found.order);
  row.reserved_so = reserve(graph).reserved;
  row.packed = pack(graph, options, row.reserved);
  return row;
}

void print_order(const std::string& name, const Order& row) {
  fmt::print("| {} | {} | {} | {:.3f} | {} | {} | {} | {:.3f} | {:.3f} | {} | {} | {:.0f} |\n",
             name, row.found.program_load.count(), row.found.load.count(),
             share(row.found.load, row.found.program_load), row.found.lower_bound.count(),
             row.found.proved_optimal ? "optimal" : "not proved", row.packed.peak.count(),
             row.packed.ratio, share(row.reserved_so, row.reserved), row.found.largest_piece,
             row.found.states, row.cpu_ms);
  std::fflush(stdout);
}

void print_order_medians(std::string_view name, const std::vector<Order>& rows) {
  fmt::print("| {} | {} |", name, rows.size());
  const auto print = [&](auto value) {
    std::vector<double> values;
    for (const Order& row : rows) values.push_back(value(row));
    const auto [least, most] = std::ranges::minmax(values);
    fmt::print(" {:.3f} ({:.3f} to {:.3f}) |", median(values), least, most);
  };
  print([](const Order& row) { return share(row.found.load, row.found.program_load); });
  print([](const Order& row) { return share(row.found.program_load, row.reserved); });
  print([](const Order& row) { return row.packed.ratio; });
  print([](const Order& row) { return share(row.reserved_so, row.reserved); });
  const auto lower = std::ranges::count_if(
      rows, [](const Order& row) { return row.found.load < row.found.program_load; });
  const auto proved =
      std::ranges::count_if(rows, [](const Order& row) { return row.found.proved_optimal; });
  fmt::print(" {} | {} |\n", lower, proved);
}

// All graphs, with one way in place.
bool compare_orders(const std::vector<std::string>& files, const GgmlPackingOptions& options) {
  fmt::print(
      "\n| graph | load, B | reordered, B | ratio | bound, B | status | plan, B | of reserved | "
      "engine's own, so | largest piece | states | ms |\n"
      "|---|---:|---:|---:|---:|---|---:|---:|---:|---:|---:|---:|\n");
  std::map<std::string, std::vector<Order>> by_variant;
  std::vector<Order> all;
  bool good = true;
  for (const std::string& file : files) {
    const std::optional<Order> row = measure_order(file, options);
    good = good && row && row->packed.right && row->found.load <= row->found.program_load;
    if (!row) continue;
    print_order(name_of_file(file), *row);
    by_variant[variant_of(name_of_file(file))].push_back(*row);
    all.push_back(*row);
  }
  fmt::print(
      "\n| variant | graphs | load, reordered to as it is | load of reserved | reordered plan of "
      "reserved | engine's own of reserved, reordered | lower on | proved |\n"
      "|---|---:|---:|---:|---:|---:|---:|---:|\n");
  for (const auto& [variant, rows] : by_variant) print_order_medians(variant, rows);
  if (!all.empty()) print_order_medians("all", all);
  return good;
}

int run(int argc, char** argv) {
  bool csv = false;
  bool orders = false;
  std::vector<std::string> files;
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--csv") {
      csv = true;
    } else if (std::string_view(argv[i]) == "--order") {
      orders = true;
    } else {
      files.emplace_back(argv[i]);
    }
  }
  if (orders) {
    const bool good = compare_orders(files, kWays[2]);
    return compare_orders(files, kWays[3]) && good ? 0 : 1;
  }
  if (csv) {
    fmt::print("graph,reserved");
    for (const char* way : {"none", "engine", "views", "glu"}) {
      fmt::print(",{0}_buffers,{0}_peak,{0}_status,{0}_cpu_ms", way);
    }
    fmt::print("\n");
  } else {
    fmt::print(
        "| graph | buffers | reserved, B | none, B | ratio | as the engine, B | ratio | "
        "+ views, no idle input, B | ratio | + GLU, B | ratio | status | most ms |\n");
    fmt::print("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---|---:|\n");
  }
  bool good = true;
  std::vector<Row> rows;
  for (const std::string& file : files) {
    const std::optional<Row> row = measure(file);
    good = row && is_as_wished(*row) && good;
    if (!row) continue;
    csv ? print_csv(*row) : print_markdown(*row);
    std::fflush(stdout);
    rows.push_back(*row);
  }
  if (!csv) print_summary(rows);
  return good ? 0 : 1;
}

}  // namespace
}  // namespace tidemark

int main(int argc, char** argv) { return tidemark::run(argc, argv); }
