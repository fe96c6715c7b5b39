#include "sim/calibrate/memory.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace tidemark {
namespace {

constexpr Bytes kMiB = Bytes::of(int64_t{1} << 20);

void fill(ScratchFile& file, Bytes size) {
  const std::vector<std::byte> piece(static_cast<size_t>(kMiB.count()), std::byte{7});
  while (file.size() < size.count()) file.append(piece);
  file.settle();
}

// More rounds than the file has pieces: it begins again. The whole file is mapped in rounds 0
// and 3.
TEST(MemoryTest, EveryFigureIsMeasuredOverTheRounds) {
  ScratchFile file(::testing::TempDir());
  fill(file, kMiB * 2);
  Rounds rounds({.count = 5});
  const MemoryProbes probes = add_memory_probes(rounds, file, kMiB);
  rounds.run();
  for (const Probe* probe : {probes.fresh_memory, probes.mapped_read, probes.mapped_fault,
                             probes.anonymous_fault, probes.cached_read}) {
    if (probe == nullptr) continue;  // the folder keeps files in memory
    EXPECT_EQ(probe->values.size(), probe == probes.mapped_read ? 2U : 5U) << probe->stage;
    EXPECT_GT(probe->spread().least, 0.0) << probe->stage;
  }
}

TEST(MemoryTest, UnusedMemoryIsMeasuredPieceByPiece) {
  const Rounds rounds(
      {.count = 1, .clock = [now = int64_t{0}]() mutable { return Duration::ns(now += 1 << 20); }});
  const Spread spread = unused_memory(rounds, kMiB, 3);
  EXPECT_EQ(spread.count, 3);
  EXPECT_EQ(spread.mean, 1.0);  // 1 MiB in 1,048,576 ns, whatever it took
}

TEST(MemoryTest, ReadersShareABuffer) {
  const std::vector<uint64_t> words(5000, 1);
  Rounds rounds({.count = 1, .least = Duration::ns(1), .clock = [now = int64_t{0}]() mutable {
                   return Duration::ns(now += 100);
                 }});
  // Three parts of 1,666 words; the clock says 100 ns whatever they take.
  const Probe& probe = add_bandwidth_probe(rounds, std::as_bytes(std::span(words)), 3);
  rounds.run();
  EXPECT_EQ(probe.values, (std::vector<double>{100.0 / (3 * 1666 * 8)}));
}

}  // namespace
}  // namespace tidemark
