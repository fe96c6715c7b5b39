// The mapped file: what is read, what is resident, and the cliff where a model is one unit too
// large for the page cache.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <string>

#include "scenarios.h"

namespace tidemark {
namespace {

using literals::operator""_GB;
using literals::operator""_KiB;
using literals::operator""_MB;
using testing::layer_scenario;
using testing::run;

// `layers` layers of 1 MiB, pages of 4 KiB, storage 1 B/ns.
Scenario mapped(int layers, Bytes cache, int64_t generate) {
  std::vector<PlainLayer> list;
  for (int i = 0; i < layers; ++i) list.push_back({"l" + std::to_string(i), 1024_KiB, {}});
  Scenario scenario = layer_scenario(std::move(list), StrategyKind::kMmap);
  scenario.device.page_size = 4_KiB;
  scenario.cache.capacity = cache;
  scenario.generate = Tokens(generate);
  return scenario;
}

TEST(MmapTest, WhatFitsIsReadOnceAndOneLayerTooManyIsReadInEveryPass) {
  const SimReport fits = run(mapped(8, 1024_KiB * 8, 5)).report;
  EXPECT_EQ(fits.bytes_read, 1024_KiB * 8);
  EXPECT_EQ(fits.peak, 1024_KiB * 8);
  const SimReport one_too_many = run(mapped(8, 1024_KiB * 7, 5)).report;
  EXPECT_EQ(one_too_many.bytes_read, 1024_KiB * 8 * 5);
  EXPECT_EQ(one_too_many.peak, 1024_KiB * 7);
  EXPECT_GT(*one_too_many.tpot, *fits.tpot * 10);
}

// Layers of 1 MiB and a byte: the file ends within a page, and all of it still fits.
TEST(MmapTest, TheLastPageFitsWithTheRest) {
  Scenario scenario = mapped(3, {}, 4);
  for (PlainLayer& layer : std::get<LayerListSpec>(scenario.model.dims).layers) {
    layer.weights += Bytes::of(1);
  }
  const SimReport report = run(scenario).report;
  EXPECT_LE(report.bytes_read, 1024_KiB * 3 + 4_KiB);
  EXPECT_GT(report.bytes_read, 1024_KiB * 3);
}

TEST(MmapTest, AWarmCacheReadsNothing) {
  Scenario scenario = mapped(8, 1024_KiB * 8, 3);
  scenario.load.is_cached = true;
  const SimReport report = run(scenario).report;
  EXPECT_EQ(report.bytes_read, Bytes{});
  EXPECT_EQ(report.page_faults, 0);
  EXPECT_EQ(report.minor_faults, 8 * 1024 / 64);  // mapped 64 KiB at a time, once
  EXPECT_EQ(report.stall, Duration{});
}

// The file began in the page cache, but what was dropped of it comes from storage: 1 B/ns, where
// the page cache would give 1.25.
TEST(MmapTest, WhatAWarmCacheHasDroppedComesFromStorage) {
  Scenario scenario = mapped(4, 1024_KiB * 3, 3);
  scenario.load.is_cached = true;
  scenario.device.energy = DeviceEnergy{.storage_femtojoules = 1'000};
  const SimReport report = run(scenario).report;
  EXPECT_GT(report.bytes_read, 1024_KiB);
  EXPECT_EQ(report.stages.read.count(), report.bytes_read.count());
  EXPECT_EQ(report.energy->storage_microjoules, (report.bytes_read.count() + 500'000) / 1'000'000);
}

// Random advice: 256 pages a layer, each a request; with readahead a layer is one run.
TEST(MmapTest, RandomAdviceReadsPageByPage) {
  Scenario scenario = mapped(1, 1024_KiB, 1);
  scenario.device.flash_latency = Duration::ns(1000);
  EXPECT_EQ(run(scenario).report.stall.count(), 1000 + 1'048'576);
  scenario.load.read_order = ReadOrder::kRandom;
  EXPECT_EQ(run(scenario).report.stall.count(), 256 * 1000 + 1'048'576);
  EXPECT_EQ(run(scenario).report.page_faults, 256);
}

// Layers of ten pages, 1 us a page read, 0.1 us computed: the table in mmap_loader.cpp. Were a
// visit to wait for all that was asked for before it, l1 would wait for l2 and the run end at 42
// us.
TEST(MmapTest, AVisitWaitsForItsOwnPagesOnly) {
  Scenario scenario = mapped(4, {}, 1);
  for (PlainLayer& layer : std::get<LayerListSpec>(scenario.model.dims).layers) {
    layer.weights = 40_KiB;
  }
  scenario.load.read_order = ReadOrder::kRandom;  // nothing but what is asked for
  scenario.load.prefetch = 2;
  scenario.device.flash_read = BytesPerSecond::of(4'096'000'000);
  scenario.device.memory_bandwidth = BytesPerSecond::of(40'960'000'000);
  const SimReport report = run(scenario).report;
  EXPECT_EQ(report.end, Duration::ns(41'000));
  EXPECT_EQ(report.stages.read, Duration::ns(40'000));
  EXPECT_EQ(report.bytes_read, 160_KiB);
}

// Faults of pages that have come are the processor's. Three layers of 64 KiB, 10 us a read, 1 us a
// compute, 2 us a fault: l0 is read in 10 us with 16 faults, c0 [42,43); l1 comes at 52, is mapped
// by one fault, c1 [54,55); l2, which was read meanwhile, comes at 62, c2 [64,65).
TEST(MmapTest, FaultsDoNotWaitForStorage) {
  Scenario scenario = mapped(3, {}, 1);
  for (PlainLayer& layer : std::get<LayerListSpec>(scenario.model.dims).layers) {
    layer.weights = 64_KiB;
  }
  scenario.load.read_order = ReadOrder::kRandom;
  scenario.load.prefetch = 2;
  scenario.device.flash_read = BytesPerSecond::of(6'553'600'000);
  scenario.device.memory_bandwidth = BytesPerSecond::of(65'536'000'000);
  scenario.device.page_fault = Duration::ns(2000);
  const SimReport report = run(scenario).report;
  EXPECT_EQ(report.page_faults, 16);
  EXPECT_EQ(report.minor_faults, 2);
  EXPECT_EQ(report.end, Duration::ns(65'000));
}

// Prefetch hides reads behind compute while it stays within the cache; beyond, what was fetched
// first is dropped unused, and more is read than without.
TEST(MmapTest, PrefetchingMoreThanTheCacheHoldsReadsTwice) {
  Scenario scenario = mapped(16, 1024_KiB * 6, 4);
  const Bytes without = run(scenario).report.bytes_read;
  scenario.load.prefetch = 1;
  const SimReport one_ahead = run(scenario).report;
  EXPECT_EQ(one_ahead.bytes_read, without);
  scenario.load.prefetch = 12;
  EXPECT_GT(run(scenario).report.bytes_read, without);
}

std::string note_on_dropped(const SimReport& report) {
  for (const std::string& note : report.notes) {
    if (note.starts_with("Read ahead and dropped before use: ")) return note;
  }
  return "";
}

// Room for one of three layers, two asked for ahead. The visit of l0 asks for l1 and, in its place,
// l2; that of l1 reads it in the place of l2, and asks for l2 again. 5 reads, 2 of them once more.
TEST(MmapTest, WhatWasReadAheadAndDroppedBeforeUseIsTold) {
  Scenario scenario = mapped(3, 1024_KiB, 1);
  EXPECT_EQ(note_on_dropped(run(scenario).report), "");
  scenario.load.prefetch = 2;
  const SimReport report = run(scenario).report;
  EXPECT_EQ(report.bytes_read, 1024_KiB * 5);
  EXPECT_EQ(note_on_dropped(report),
            "Read ahead and dropped before use: 2.00 MiB. A smaller --prefetch, or more room for "
            "the file's pages, reads less.");
  scenario.cache.capacity = 1024_KiB * 3;
  EXPECT_EQ(note_on_dropped(run(scenario).report), "");
}

// Law: only what was read ahead and dropped is read more than once a pass.
TEST(MmapLaws, WhatIsReadMoreThanOnceAPassWasDroppedUnused) {
  EXPECT_TRUE(rc::check("read > passes x all => the note", [] {
    const int layers = *rc::gen::inRange(1, 10);
    const int64_t passes = *rc::gen::inRange(1, 4);
    Scenario scenario = mapped(layers, 1024_KiB * *rc::gen::inRange(1, layers + 2), passes);
    scenario.load.prefetch = *rc::gen::inRange(0, 12);
    const SimReport report = run(scenario).report;
    const bool reads_more = report.bytes_read > 1024_KiB * layers * passes;
    RC_ASSERT(!reads_more || !note_on_dropped(report).empty());
  }));
}

// Law: from a cold cache at least the working set is read, and no more than all of it each pass.
TEST(MmapLaws, ReadsAtLeastTheWorkingSetAndAtMostAllOfItInEachPass) {
  EXPECT_TRUE(rc::check("working set <= read <= passes x working set", [] {
    const int layers = *rc::gen::inRange(1, 12);
    const Bytes all = 1024_KiB * layers;
    const Bytes cache = 1024_KiB * *rc::gen::inRange(1, layers + 2);
    const int64_t passes = *rc::gen::inRange(1, 5);
    const SimReport report = run(mapped(layers, cache, passes)).report;
    RC_ASSERT(report.bytes_read >= all);
    RC_ASSERT(report.bytes_read <= all * passes);
    if (cache >= all) RC_ASSERT(report.bytes_read == all);
    RC_ASSERT(report.peak <= std::max(cache, 1024_KiB));
  }));
}

}  // namespace
}  // namespace tidemark
