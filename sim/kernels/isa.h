// Which vector units the int8 products use, chosen once at run time.
//
//   level         needs                                        what multiplies
//   baseline      nothing                                      plain loops
//   avx2          AVX2                                         16-bit products, or 8-bit ones where
//                                                              none can saturate
//   avx512-vnni   AVX-512 F, BW, VL, VNNI                      4 products a lane
//   amx-int8      AMX-TILE, AMX-INT8, avx512-vnni, and the     tiles of 16 x 64; one token: as
//                 kernel's leave to hold tile data             avx512-vnni
//   neon-dot      AArch64 with the dot product                 4 products a lane
//
// Every level gives the same bits (gemm.h), so the choice is one of speed alone. The environment
// variable TIDEMARK_ISA holds it down: with avx2, nothing above avx2 is used. A name that is no
// level's, or that of a level this machine lacks, leaves the highest level below it, or the best
// one. Checked by IsaTest.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace tidemark {

enum class Isa { kBaseline, kAvx2, kAvx512Vnni, kAmxInt8, kNeonDot };

std::string_view isa_name(Isa isa);
// Nothing for text that is no level's name.
std::optional<Isa> parse_isa(std::string_view name);

// Whether this processor and this system can run it. The first question about amx-int8 asks Linux
// for the process's leave to use it.
bool supported(Isa isa);
// Slowest first; never empty.
std::vector<Isa> supported_isas();
Isa best_isa();
// The highest supported level not above `wish`.
Isa best_isa_up_to(Isa wish);

// What TIDEMARK_ISA with this content asks for; null is unset.
Isa isa_for_wish(const char* wish);

// What the kernels use now: best_isa(), unless the environment or an IsaHold says otherwise.
Isa isa_in_use();

// Holds the kernels of the whole process at a supported level while it lives. For tests and
// benchmarks, one at a time; not while other threads multiply.
class IsaHold {
 public:
  explicit IsaHold(Isa isa);
  ~IsaHold();
  IsaHold(const IsaHold&) = delete;
  IsaHold& operator=(const IsaHold&) = delete;

 private:
  Isa before_;
};

}  // namespace tidemark
