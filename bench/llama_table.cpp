// Predicts every row of llamacpp/measured.csv, weights.csv and rss.csv out of dimensions and
// settings, and prints a table by architecture: rows, how many are right to the byte, the worst
// error. With --rows also a line for each row that is not.
//
//   llama_table [--rows] FOLDER      FOLDER holds llamacpp/
//
// Exit code 1 when a row of a compared architecture is not exact, or a resident size is off by more
// than the larger of 3 MiB and 2 %.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <string>

#include "planner/engine/llama_cpp/llama_resident.h"
#include "support/llamacpp_models.h"

namespace tidemark {
namespace {

using namespace literals;
using testing::at;
using testing::CsvRow;
using testing::MeasuredModel;

struct Tally {
  int rows = 0;
  int exact = 0;
  int64_t worst = 0;      // bytes
  double worst_part = 0;  // of what was measured
};

class Table {
 public:
  explicit Table(bool every_row) : every_row_(every_row) {}

  void add(const std::string& group, const std::string& what, int64_t predicted, int64_t measured) {
    Tally& tally = tallies_[group];
    const int64_t off = std::abs(predicted - measured);
    ++tally.rows;
    if (off == 0) ++tally.exact;
    tally.worst = std::max(tally.worst, off);
    if (measured > 0) {
      const double part = static_cast<double>(off) / static_cast<double>(measured);
      tally.worst_part = std::max(tally.worst_part, part);
    }
    if (every_row_ && off > 0)
      fmt::print("  {}: {} predicted, {} measured\n", what, predicted, measured);
  }

  bool print(const std::string& title) const {
    fmt::print("{:24} {:>6} {:>6} {:>14} {:>10}\n", title, "rows", "exact", "worst, bytes",
               "worst");
    bool all = true;
    for (const auto& [group, tally] : tallies_) {
      fmt::print("{:24} {:>6} {:>6} {:>14} {:>9.3f}%\n", group, tally.rows, tally.exact,
                 tally.worst, tally.worst_part * 100);
      all = all && tally.exact == tally.rows;
    }
    fmt::print("\n");
    return all;
  }

 private:
  bool every_row_;
  std::map<std::string, Tally> tallies_{};
};

bool print_contexts(const std::filesystem::path& folder, bool every_row) {
  const auto models = testing::measured_models(folder, "Q4_K_M");
  Table compute(every_row);
  Table others(every_row);
  int refused = 0;
  int refused_alike = 0;
  for (const CsvRow& row : testing::read_csv(folder / "measured.csv")) {
    const MeasuredModel& measured = models.at(row.at("model"));
    const LlamaMemory made = llama_memory(measured.model, measured.weights,
                                          testing::settings_of(row), LlamaRepack::kAvx2)
                                 .value();
    if (row.at("status") != "ok") {
      ++refused;
      if (made.context.rejection == row.at("reason")) ++refused_alike;
      continue;
    }
    const std::string what = testing::settings_text(row);
    compute.add(row.at("arch"), what, made.compute.count(), at(row, "compute_bytes"));
    const std::pair<const char*, Bytes> terms[] = {
        {"model_buffer_bytes", made.model.whole},
        {"model_buffer_cpu_bytes_with_repack", made.model.plain},
        {"repack_bytes_avx2", made.model.repacked},
        {"kv_full_bytes", made.kv_full},
        {"kv_swa_bytes", made.kv_window},
        {"rs_bytes", made.recurrent},
        {"output_bytes", made.output},
        {"graph_nodes_pp", Bytes::of(made.n_nodes_prompt)},
        {"graph_nodes_tg", Bytes::of(made.n_nodes_generation)}};
    for (const auto& [term, bytes] : terms) others.add(term, what, bytes.count(), at(row, term));
  }
  const bool exact = compute.print("compute_bytes") && others.print("other terms");
  fmt::print("refused: {} rows, {} for the same reason\n\n", refused, refused_alike);
  return exact && refused == refused_alike;
}

bool print_files(const std::filesystem::path& folder, bool every_row) {
  Table table(every_row);
  for (const CsvRow& row : testing::read_csv(folder / "weights.csv")) {
    const MeasuredModel measured = testing::restated_model(row.at("model"), row.at("ftype"));
    const LlamaModelBuffers made =
        llama_model_buffers(measured.model, measured.weights, LlamaRepack::kAvx2);
    const std::string what = row.at("model") + " " + row.at("ftype");
    table.add("tensor_bytes", what, made.tensors.count(), at(row, "tensor_bytes"));
    table.add("model_buffer_bytes", what, made.whole.count(), at(row, "model_buffer_bytes"));
    table.add("repack_bytes_avx2", what, made.repacked.count(), at(row, "repack_bytes_avx2"));
  }
  return table.print("files");
}

bool print_residents(const std::filesystem::path& folder, bool every_row) {
  Table table(every_row);
  bool all_near = true;
  for (const CsvRow& row : testing::read_csv(folder / "rss.csv")) {
    const MeasuredModel measured = testing::restated_model(row.at("model"), row.at("ftype"));
    const LlamaResident made =
        llama_resident(measured.model, measured.weights, testing::resident_settings_of(row),
                       testing::process_of(row))
            .value();
    const std::pair<const char*, Bytes> stages[] = {{"base", made.base},
                                                    {"loaded", made.loaded},
                                                    {"ctx", made.context},
                                                    {"prompt", made.prompt},
                                                    {"gen", made.generation}};
    for (const auto& [stage, bytes] : stages) {
      const Bytes seen = 1_KiB * at(row, std::string(stage) + "_rss_kib");
      table.add(stage, row.at("model") + " " + row.at("ftype"), bytes.count(), seen.count());
      const Bytes allowed = std::max(3_MiB, seen / 50);
      all_near = all_near && seen - allowed <= bytes && bytes <= seen + allowed;
    }
  }
  (void)table.print("resident");
  return all_near;
}

int run(int count, char** words) {
  const bool every_row = count == 3 && std::string_view(words[1]) == "--rows";
  if (count != (every_row ? 3 : 2)) {
    fmt::print(stderr, "usage: llama_table [--rows] FOLDER\n");
    return 2;
  }
  const std::filesystem::path folder = std::filesystem::path(words[count - 1]) / "llamacpp";
  if (!std::filesystem::exists(folder / "measured.csv")) {
    fmt::print(stderr, "llama_table: {} does not hold measured.csv\n", folder.string());
    return 2;
  }
  const bool contexts = print_contexts(folder, every_row);
  const bool files = print_files(folder, every_row);
  return contexts && files && print_residents(folder, every_row) ? 0 : 1;
}

}  // namespace
}  // namespace tidemark

int main(int count, char** words) { return tidemark::run(count, words); }
