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
//                                by blanks; of "a-b@low:high" the bytes from low up to high
//                                (half-open) stay in use
//   offset                       where it must stand; -1 or nothing: free
//   hint                         where it would best stand; -1 or nothing: no wish
//
// These are of this tool; empty cells say nothing:
//
//   id,lower,upper,size,group,group_offset,pool,not_in,apart,cost
//   w0,0,9,64,,,sram,,w1,                        in sram; shares no byte (bank) with w1
//   w1,0,9,64,,,,dram flash,,500                 in neither; leaving its pool would cost 500
//   out,3,9,8,joined,0,,,,                       out and in2 keep their distance of 4
//   in2,1,4,4,joined,4,,,,
//
//   group                        those of one name keep their distances (problem.h)
//   group_offset                 bytes above the start of the group; 0 when empty
//   pool                         the only pool it may stand in
//   not_in                       pools it may not stand in, apart by blanks
//   apart                        buffers it shares no byte (bank) with, apart by blanks; to be said
//   of
//                                one of the two
//   cost                         of leaving the first pool it may stand in; its size when empty
//   Checked by CsvTest.AllColumns and CsvTest.ColumnsOfThisTool.
#pragma once

#include <string>
#include <string_view>
#include <vector>

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
// and column; fixed offsets that clash are no error here (planners say infeasible). `pools` are
// those the text may name. The problem has no faults (problem.h). A byte order mark is passed over.
Result<CsvProblem> read_csv(std::string_view text, std::string_view file,
                            std::vector<Pool> pools = {});

inline constexpr size_t kMostCsvErrors = 20;

// Columns that every buffer leaves at its default are left out. With `plan`, its offsets stand in
// the column "offset" (and its pools in "pool"); else the fixed ones do, -1 for none.
// `closed_ends`: "start,end" with the last instant, as in the file read. Given the pools, read_csv
// gives back the same problem (with `plan`: all fixed), if no name holds a comma or, in a list, a
// blank.
std::string write_csv(const Problem& problem, const Plan* plan = nullptr, bool closed_ends = false);

}  // namespace tidemark
