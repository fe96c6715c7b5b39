// The table of `dumpsys meminfo PACKAGE`. Its rows are sorted into what is mapped from files, what
// belongs to the graphics driver, and the rest, which is the process's own; columns are kB: Pss,
// private dirty, private clean, and on.
//
//                   Pss  Private  Private  SwapPss
//                 Total    Dirty    Clean    Dirty
//   Native Heap  104567   104500        0       12
//     .so mmap    20480      512    18000        0
//     Other mmap 1801000        0  1801000       0
//     GL mtrack   65536    65536        0        0
//     TOTAL     1991583 ...
//   Source: Android's ActivityThread and Debug.MemoryInfo: names of the rows.
#include <algorithm>
#include <array>

#include "planner/compare/log_text.h"
#include "planner/compare/read_log.h"

namespace tidemark {
namespace {

using std::string_view;

constexpr std::array kFiles{string_view(".so mmap"),  string_view(".jar mmap"),
                            string_view(".apk mmap"), string_view(".ttf mmap"),
                            string_view(".dex mmap"), string_view(".oat mmap"),
                            string_view(".art mmap"), string_view("Other mmap")};
constexpr std::array kGraphics{string_view("GL mtrack"), string_view("EGL mtrack"),
                               string_view("Gfx dev"), string_view("Other mtrack")};
constexpr std::array kOwn{string_view("Native Heap"),  string_view("Dalvik Heap"),
                          string_view("Dalvik Other"), string_view("Stack"),
                          string_view("Ashmem"),       string_view("Unknown"),
                          string_view("Other dev")};

template <size_t N>
bool is_one_of(const std::array<string_view, N>& rows, string_view label) {
  return std::ranges::find(rows, label) != rows.end();
}

struct Row {
  string_view label{};
  std::vector<int64_t> numbers{};
};

Row row_of(string_view line) {
  line = trimmed(line);
  size_t end = 0;
  while (end < line.size() && !(line[end] >= '0' && line[end] <= '9')) ++end;
  Row row{.label = trimmed(line.substr(0, end))};
  for (const string_view word : words_of(line.substr(end))) {
    const auto number = leading_integer(word);
    if (!number || *number > (int64_t{1} << 34)) break;
    row.numbers.push_back(*number);
  }
  return row;
}

}  // namespace

LoggedFile read_meminfo(std::string_view text) {
  LoggedRun run{.engine = LogEngine::kMeminfo};
  bool in_table = false;
  each_log_line(text, [&](int64_t number, string_view line) {
    if (const auto name = after(line, "** MEMINFO in pid")) {
      in_table = run.terms.empty();
      run.settings.words["process"] = std::string(name->substr(0, 100));
      return;
    }
    if (!in_table) return;
    const Row row = row_of(line);
    if (row.numbers.empty()) return;
    const auto put = [&](TermKind kind, bool adds) {
      put_term(run, {.kind = kind, .figure = {row.numbers.front() * 1024, 512}, .line = number},
               adds);
    };
    if (is_one_of(kFiles, row.label)) put(TermKind::kFileBacked, true);
    if (is_one_of(kGraphics, row.label)) put(TermKind::kGraphics, true);
    if (is_one_of(kOwn, row.label)) put(TermKind::kPrivate, true);
    if (row.label == "TOTAL") {
      put(TermKind::kResident, false);
      in_table = false;
    }
  });
  LoggedFile file;
  if (!run.terms.empty()) file.runs.push_back(std::move(run));
  return file;
}

}  // namespace tidemark
