#include "planner/compare/placement.h"

#include <gtest/gtest.h>

namespace tidemark {
namespace {

constexpr Bytes kMiB = Bytes::of(int64_t{1} << 20);

std::vector<Bytes> layers(size_t n, int64_t mib) { return std::vector<Bytes>(n, kMiB * mib); }

LoggedTerm cache(const char* device, int64_t mib) {
  return {.kind = TermKind::kKv, .device = device, .figure = {mib << 20, 5243}};
}

LoggedRun run_of(std::vector<LoggedTerm> terms, std::optional<int64_t> offloaded) {
  LoggedRun run{.terms = std::move(terms)};
  if (offloaded) run.settings.numbers["offloaded"] = {*offloaded};
  return run;
}

TEST(PlacementTest, WorkedInTheHeader) {
  const Placement one = placement_of(run_of({cache("CUDA0", 64)}, 33), layers(32, 2), {});
  EXPECT_EQ(one.shares, (std::vector<DeviceShare>{{"CUDA0", 0, 32, true}}));
  const Placement two =
      placement_of(run_of({cache("RPC0", 656), cache("RPC1", 624)}, 81), layers(80, 16), {});
  EXPECT_EQ(two.shares, (std::vector<DeviceShare>{{"RPC0", 0, 41, false}, {"RPC1", 41, 80, true}}));
}

// -ngl 26 of 64 layers: before December 2025 26 layers, since then 25 and the head.
TEST(PlacementTest, TheHeadGoesLastOrFirst) {
  const LoggedRun run = run_of({cache("CPU", 38), cache("CUDA0", 26)}, 26);
  EXPECT_EQ(placement_of(run, layers(64, 1), {.head_first = false}).shares,
            (std::vector<DeviceShare>{{"", 0, 38, true}, {"CUDA0", 38, 64, false}}));
  EXPECT_EQ(placement_of(run, layers(64, 1), {}).shares,
            (std::vector<DeviceShare>{{"", 0, 39, false}, {"CUDA0", 39, 64, true}}));
}

TEST(PlacementTest, NoDevice) {
  EXPECT_EQ(placement_of(run_of({cache("CPU", 64)}, std::nullopt), layers(32, 2), {}).shares,
            (std::vector<DeviceShare>{{"", 0, 32, true}}));
  EXPECT_EQ(placement_of(run_of({cache("CPU", 64)}, 0), layers(32, 2), {}).shares,
            (std::vector<DeviceShare>{{"", 0, 32, true}}));
  EXPECT_TRUE(placement_of(run_of({cache("CPU", 64)}, 33), layers(32, 2), {}).shares.empty());
}

TEST(PlacementTest, ACacheThatNoWholeLayersExplain) {
  const Placement made =
      placement_of(run_of({cache("CUDA0", 33), cache("CUDA1", 31)}, 33), layers(32, 2), {});
  EXPECT_TRUE(made.shares.empty());
  EXPECT_NE(made.how, "");
}

TEST(PlacementTest, LayersThatTheLogLists) {
  LoggedRun run;
  run.layer_devices = {"CPU", "CUDA0", "CUDA0", "CUDA1", "CUDA1"};
  EXPECT_EQ(
      placement_of(run, layers(4, 1), {}).shares,
      (std::vector<DeviceShare>{{"", 0, 1, false}, {"CUDA0", 1, 3, false}, {"CUDA1", 3, 4, true}}));
}

TEST(PlacementTest, NamesOfBuffers) {
  EXPECT_EQ(device_of("CUDA0"), "CUDA0");
  EXPECT_EQ(device_of("Metal_Mapped"), "Metal");
  EXPECT_EQ(device_of("HTP0-REPACK"), "HTP0");
  for (const char* host : {"CPU", "CPU_Mapped", "CPU_REPACK", "CUDA_Host", "ROCm_Host", "Host",
                           "AMX", "Vulkan_Host"}) {
    EXPECT_EQ(device_of(host), "") << host;
  }
}

}  // namespace
}  // namespace tidemark
