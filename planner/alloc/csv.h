// The public text format of packing problems: one buffer a line, columns by name, in any order.
//
//   id,lower,upper,size,alignment,gaps,offset,hint
//   b1,0,9,100,64,2-4 6-7,-1,0          live [0,2) [4,6) [7,9)
//
//   id | buffer | buffer_id      the buffer's name, unique
//   lower | start | begin        first instant at which it is live
//   upper                        first instant at which it no longer is (half-open)
//   end                          last instant at which it is (closed); gaps are then closed too
//   size                         bytes
//   alignment                    power of two; 1 without the column
//   gaps                         instants within its life in which it holds nothing, "a-b", apart
//   by
//                                blanks. "a-b@low:high", of which low..high stays in use, is read
//                                as no gap: the plan stays valid, and a note says so
//   offset                       where it must stand; -1 or nothing: free
//   hint                         where it would best stand; -1 or nothing: no wish
//   Checked by CsvTest.AllColumns.
#pragma once

#include <string>
#include <string_view>

#include "planner/alloc/problem.h"
#include "planner/base/result.h"

namespace tidemark {

struct CsvProblem {
  Problem problem{};
  bool closed_ends = false;  // the file's header says `end`
  Diagnostics notes{};       // warnings
};

inline constexpr size_t kMostCsvBuffers = 4'000'000;
inline constexpr int64_t kLargestCsvNumber = int64_t{1} << 53;  // of any instant, size or offset

// `file` names the text in diagnostics. All errors of up to kMostCsvErrors lines, each with line
// and column; fixed offsets that clash are no error here (planners say infeasible).
Result<CsvProblem> read_csv(std::string_view text, std::string_view file);

inline constexpr size_t kMostCsvErrors = 20;

// Columns that every buffer leaves at its default are left out. With `plan`, its offsets stand in
// the column "offset"; else the fixed ones do, -1 for none. `closed_ends`: "start,end" with the
// last instant, as in the file read. read_csv gives back the same problem (with `plan`: all fixed).
std::string write_csv(const Problem& problem, const Plan* plan = nullptr, bool closed_ends = false);

}  // namespace tidemark
