// The int8 products, one thread, against oneDNN where it is installed, as one table a level:
//
//   kernel_bench [--pairs N] [--isa NAME] [gemm | gemv]...
//
// gemm  M tokens x 4096 x 4096. Both sides bring the weights into the layout they like beforehand.
// gemv  one token; ours reads the rows as they are stored (K values and a scale), oneDNN its own
//       layout. Beside it, how fast the same bytes can be read at all: sums of wide loads, with the
//       number of streams and the distance of prefetch that were best on this machine.
//
// Ours and theirs alternate, and reading too; of the ratios the median is printed, with the least
// and the most. Rates are those of the fastest sample of each. All times are CPU time of the
// process. Values are within +-63, where every path of oneDNN is exact (with AVX2 it saturates
// beyond), and the outputs are checked to be equal; our rate on all int8 values is printed beside.
// oneDNN reads its level once a process, so without --isa this runs itself once for each level.
#include <fmt/core.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "onednn_product.h"
#include "read_bytes.h"
#include "sim/kernels/isa.h"
#include "sim/kernels/matmul/gemm.h"
#include "spread.h"

namespace tidemark {
namespace {

struct Options {
  int pairs = 11;
  std::string isa{};
  std::vector<std::string> parts{};
};

struct Shape {
  int64_t tokens = 0;
  int64_t columns = 0;
  int64_t rows = 0;

  double operations() const {
    return 2.0 * static_cast<double>(tokens) * static_cast<double>(columns) *
           static_cast<double>(rows);
  }
  double weight_bytes() const { return static_cast<double>(columns) * static_cast<double>(rows); }
};

constexpr Shape kGemms[] = {{128, 4096, 4096}, {512, 4096, 4096}};
constexpr Shape kGemvs[] = {{1, 4096, 4096}, {1, 4096, 11008}, {1, 32768, 16384}};

constexpr std::pair<Isa, const char*> kLevels[] = {{Isa::kAmxInt8, "AVX512_CORE_AMX"},
                                                   {Isa::kAvx512Vnni, "AVX512_CORE_VNNI"},
                                                   {Isa::kAvx2, "AVX2"}};

// Values in [-most, most], or all of int8 (most 128); a multiplicative generator, its high bits.
template <typename Byte>
std::vector<Byte> values(int64_t count, int most, uint64_t seed) {
  std::vector<Byte> result(static_cast<size_t>(count));
  const auto width = static_cast<uint64_t>(most == 128 ? 256 : 2 * most + 1);
  uint64_t state = seed;
  for (Byte& value : result) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    value = static_cast<Byte>(static_cast<int>(((state >> 40) * width) >> 24) - most);
  }
  return result;
}

// Rows of K values and a scale.
struct Operands {
  Shape shape{};
  std::vector<int8_t> x{};
  std::vector<std::byte> bytes{};

  int64_t stride() const { return shape.columns + 2; }
  WeightRows rows() const { return {bytes, shape.rows, shape.columns, stride()}; }
};

Operands make_operands(const Shape& shape, int most) {
  return {shape, values<int8_t>(shape.tokens * shape.columns, most, 1),
          values<std::byte>(shape.rows * (shape.columns + 2), most, 2)};
}

std::vector<int32_t> room(const Shape& shape) {
  return std::vector<int32_t>(static_cast<size_t>(shape.tokens * shape.rows));
}

// Contenders in turn, `pairs` times after one unmeasured; each time the other way round.
std::vector<std::vector<double>> alternate(int pairs,
                                           const std::vector<std::function<void()>>& contenders) {
  constexpr double kLeastSeconds = 0.004;  // a sample
  std::vector<std::vector<double>> seconds(contenders.size());
  for (int pair = -1; pair < pairs; ++pair) {
    for (size_t i = 0; i < contenders.size(); ++i) {
      const size_t which = pair % 2 == 0 ? i : contenders.size() - 1 - i;
      int runs = 0;
      double passed = 0;
      const double start = cpu_seconds();
      for (; passed < kLeastSeconds; ++runs) {
        contenders[which]();
        passed = cpu_seconds() - start;
      }
      if (pair >= 0) seconds[which].push_back(passed / runs);
    }
  }
  return seconds;
}

Spread ratios(const std::vector<double>& over, const std::vector<double>& under) {
  std::vector<double> result;
  for (size_t i = 0; i < over.size(); ++i) result.push_back(over[i] / under[i]);
  return spread_of(result);
}

double rate(double amount, const std::vector<double>& seconds) {
  return amount / spread_of(seconds).least / 1e9;
}

std::string with_range(const Spread& spread) {
  return fmt::format("{:.2f} ({:.2f}-{:.2f})", spread.median, spread.least, spread.most);
}

#if TIDEMARK_HAS_ONEDNN
std::unique_ptr<OneDnnProduct> peer_of(const Operands& operands) {
  const Shape& shape = operands.shape;
  return std::make_unique<OneDnnProduct>(shape.tokens, shape.columns, shape.rows, operands.x,
                                         operands.bytes, operands.stride());
}

// Both have run.
void check_equal(const OneDnnProduct& peer, const std::vector<int32_t>& out) {
  if (!std::equal(out.begin(), out.end(), peer.out().begin(), peer.out().end())) {
    fmt::print(stderr, "the outputs differ\n");
    std::exit(1);
  }
}
#endif

void time_gemm(const Shape& shape, const Options& options) {
  const Operands operands = make_operands(shape, 63);
  const Operands all_values = make_operands(shape, 128);
  const PackedWeights packed(operands.rows());
  const PackedWeights packed_all(all_values.rows());
  std::vector<int32_t> out = room(shape);
  std::vector<int32_t> other = room(shape);
  std::vector<std::function<void()>> contenders{
      [&] { gemm_s32(shape.tokens, operands.x, packed, out); },
      [&] { gemm_s32(shape.tokens, all_values.x, packed_all, other); },
      [&] { gemm_s32(shape.tokens, all_values.x, all_values.rows(), other); }};
#if TIDEMARK_HAS_ONEDNN
  const auto peer = peer_of(operands);
  contenders.insert(contenders.begin() + 1, [&] { peer->run(); });
  const auto seconds = alternate(options.pairs, contenders);
  check_equal(*peer, out);
  const std::string theirs = fmt::format("{:.0f}", rate(shape.operations(), seconds[1]));
  const std::string ratio = with_range(ratios(seconds[1], seconds[0]));
  const std::string name = peer->implementation();
#else
  const auto seconds = alternate(options.pairs, contenders);
  const std::string theirs = "-";
  const std::string ratio = "-";
  const std::string name = "-";
#endif
  const size_t count = seconds.size();
  fmt::print("| {} | {} x {} x {} | {:.0f} | {} | {} | {:.0f} | {:.0f} | {} |\n", options.isa,
             shape.tokens, shape.columns, shape.rows, rate(shape.operations(), seconds[0]), theirs,
             ratio, rate(shape.operations(), seconds[count - 2]),
             rate(shape.operations(), seconds[count - 1]), name);
  std::fflush(stdout);
}

void time_gemv(const Shape& shape, const Options& options) {
  const Operands operands = make_operands(shape, 63);
  std::vector<int32_t> out = room(shape);
  const ReadPlan plan = best_read_plan(operands.bytes);
  std::vector<std::function<void()>> contenders{
      [&] { gemm_s32(1, operands.x, operands.rows(), out); },
      [&] { read_bytes(operands.bytes, plan); }};
#if TIDEMARK_HAS_ONEDNN
  const auto peer = peer_of(operands);
  contenders.emplace_back([&] { peer->run(); });
  const auto seconds = alternate(options.pairs, contenders);
  check_equal(*peer, out);
  const std::string theirs = fmt::format("{:.1f}", rate(shape.weight_bytes(), seconds[2]));
  const std::string ratio = with_range(ratios(seconds[2], seconds[0]));
#else
  const auto seconds = alternate(options.pairs, contenders);
  const std::string theirs = "-";
  const std::string ratio = "-";
#endif
  fmt::print("| {} | {} x {} | {:.1f} | {} | {} | {:.1f} | {} |\n", options.isa, shape.rows,
             shape.columns, rate(shape.weight_bytes(), seconds[0]), theirs, ratio,
             rate(shape.weight_bytes(), seconds[1]), with_range(ratios(seconds[1], seconds[0])));
  std::fflush(stdout);
}

void print_heading(std::string_view part) {
  if (part == "gemm") {
    fmt::print(
        "\n| level | M x K x N | ours, GOPS | oneDNN | theirs / ours, time | ours, all values | "
        "rows as they lie | oneDNN's way |\n|---|---|---:|---:|---:|---:|---:|---|\n");
  } else {
    fmt::print(
        "\n| level | N x K, one token | ours, GB/s | oneDNN | theirs / ours, time | reading | ours "
        "of reading |\n|---|---|---:|---:|---:|---:|---:|\n");
  }
  std::fflush(stdout);
}

// This program again, for one level and one part.
bool run_child(const char* program, const Options& options, std::string_view part,
               const std::pair<Isa, const char*>& level) {
  const pid_t child = fork();
  if (child == 0) {
    const std::string isa{isa_name(level.first)};
    const std::string pairs = std::to_string(options.pairs);
    const std::string what{part};
    setenv("ONEDNN_MAX_CPU_ISA", level.second, 1);
    setenv("OMP_NUM_THREADS", "1", 1);
    execl(program, program, "--isa", isa.c_str(), "--pairs", pairs.c_str(), what.c_str(), nullptr);
    _exit(127);
  }
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view flag = argv[i];
    if (flag == "--pairs" && i + 1 < argc) {
      options.pairs = std::max(1, std::atoi(argv[++i]));
    } else if (flag == "--isa" && i + 1 < argc) {
      options.isa = argv[++i];
    } else {
      options.parts.emplace_back(flag);
    }
  }
  if (options.parts.empty()) options.parts = {"gemm", "gemv"};
  return options;
}

int run_level(const Options& options) {
  const auto isa = parse_isa(options.isa);
  if (!isa || !supported(*isa)) {
    fmt::print(stderr, "{} is no level of this machine\n", options.isa);
    return 2;
  }
  const IsaHold hold(*isa);
  for (const std::string& part : options.parts) {
    if (part == "gemm") {
      for (const Shape& shape : kGemms) time_gemm(shape, options);
    } else {
      for (const Shape& shape : kGemvs) time_gemv(shape, options);
    }
  }
  return 0;
}

int run(int argc, char** argv) {
  const Options options = parse(argc, argv);
  for (const std::string& part : options.parts) {
    if (part != "gemm" && part != "gemv") {
      fmt::print(stderr, "{} is no part of this benchmark\n", part);
      return 2;
    }
  }
  if (!options.isa.empty()) return run_level(options);
  for (const std::string& part : options.parts) {
    print_heading(part);
    for (const auto& level : kLevels) {
      if (supported(level.first) && !run_child(argv[0], options, part, level)) return 1;
    }
  }
  if (!TIDEMARK_HAS_ONEDNN)
    fmt::print("\n(oneDNN was not found when this was built: libdnnl-dev)\n");
  return 0;
}

}  // namespace
}  // namespace tidemark

int main(int argc, char** argv) { return tidemark::run(argc, argv); }
