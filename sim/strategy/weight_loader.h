// A loading strategy: it makes the unit of a visit resident when the run asks for it, and decides
// what goes when.
//
//   two visits, blk.0 and blk.1; reads r, computes c; time to the right
//   resident        r0 r1 c0 c1
//   layerwise       r0 c0 r1 c1          blk.0 is released before blk.1 is read
//   double-buffer   r0 c0 c1             r1 runs during c0; c1 waits for it when it is the longer
//                      r1..
//   chunked         as double-buffer, of chunks
//   mmap            as layerwise, but of the pages that are not in the page cache
//   block-cache     as layerwise on a miss, without r on a hit; what goes is the policy's choice;
//                   with a prefetch, the next visits are read ahead while there is room
//
// The run calls prepare once, then need and done in turn for visit 0, 1, 2, ...
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/memory/block_cache.h"
#include "sim/memory/page_cache.h"
#include "sim/strategy/passes.h"
#include "sim/strategy/weight_files.h"
#include "sim/strategy/weight_store.h"

namespace tidemark {

class WeightLoader {
 public:
  using Action = std::function<void()>;

  WeightLoader() = default;
  virtual ~WeightLoader() = default;
  WeightLoader(const WeightLoader&) = delete;
  WeightLoader& operator=(const WeightLoader&) = delete;

  // Before the first pass. `on_prepared` runs when that is done, perhaps at once.
  virtual void prepare(Action on_prepared) { on_prepared(); }
  // `on_resident` runs when the unit of `visit` is in memory, perhaps at once.
  virtual void need(int64_t visit, Action on_resident) = 0;
  // Between two passes: reads nothing ahead from here on. What it gave up, "" if there was nothing.
  virtual std::string drop_prefetch() { return ""; }
  // The visit has been computed.
  virtual void done(int64_t /*visit*/) {}
};

// Reads every unit in file order and keeps them all.
std::unique_ptr<WeightLoader> make_resident_loader(WeightStore& store, int64_t units);
std::unique_ptr<WeightLoader> make_layerwise_loader(WeightStore& store, const Itinerary& itinerary);
std::unique_ptr<WeightLoader> make_double_buffer_loader(WeightStore& store,
                                                        const Itinerary& itinerary);

// The units one after the other in one file, mapped; or in those of `files`, each mapped.
struct MappedFile {
  MappedFile(const Scenario& scenario, const std::vector<WeightUnit>& units, Bytes limit,
             const WeightFiles* files = nullptr);
  // Another process maps it.
  void open_again();

  PageCache cache;
  Bytes page{};
  Duration page_fault{};
  std::optional<BytesPerSecond> rate{};    // read front to back, faults included, where measured
  bool is_random = false;                  // the mapping is advised so: no readahead
  int64_t prefetch = 0;                    // units asked for ahead of a visit
  Bytes dropped_unused{};                  // of what was asked for ahead: read again for its use
  std::vector<Interval<Bytes>> extents{};  // by unit
  std::vector<std::string> names{};
  std::vector<bool> on_device{};  // by unit: read once, then held elsewhere; empty = none
  FileId file{};                  // the first
  ViewId view{};
  std::vector<FileId> files{};
  std::vector<ViewId> views{};                   // by file, of the process at hand
  std::vector<std::vector<FilePiece>> pieces{};  // by unit
};
std::unique_ptr<WeightLoader> make_mmap_loader(WeightStore& store, const Itinerary& itinerary,
                                               MappedFile& file, MemoryLedger& ledger);
// Units that a block cache reads before they are asked for.
struct CachePrefetch {
  int64_t depth = 0;  // visits ahead of the one at hand
  int64_t late = 0;   // asked for while they were being read
};
// Every unit visited must fit the cache (CHECK).
std::unique_ptr<WeightLoader> make_block_cache_loader(WeightStore& store,
                                                      const Itinerary& itinerary, BlockCache& cache,
                                                      CachePrefetch& prefetch);

}  // namespace tidemark
