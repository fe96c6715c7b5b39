// The simulator's page cache (sim/memory/page_cache.h) says what a kernel would read ahead and what
// it would drop; here both are done to a real mapping. That every page comes, stays and goes is the
// machine's part, and what is measured.
#include <algorithm>
#include <utility>

#include "sim/replay/mapped_weights.h"
#include "sim/replay/unit_loader.h"

namespace tidemark {
namespace {

using Ranges = std::vector<Interval<Bytes>>;

Interval<Bytes> range_of(const PageReads& reads) {
  return {reads.offset, reads.offset + reads.bytes * reads.count};
}

class MappedLoader : public UnitLoader {
 public:
  MappedLoader(const LoaderParts& parts, MappedFile file, bool is_cached)
      : parts_(parts),
        model_(std::move(file)),
        pages_(parts.weights.file(), is_cached),
        has_room_for_all_(model_.cache.limit() >= pages_.end()) {}

  std::span<const std::byte> need(int64_t visit) override {
    const Interval<Bytes> extent = parts_.layout.extent(parts_.itinerary.unit_at(visit));
    const PageAccess access = model_.cache.touch(model_.view, extent);
    bytes_read_ += access.bytes_read;
    reclaim();
    if (!model_.is_random) {
      for (const PageReads& reads : access.reads) pages_.ask_for(range_of(reads));
    }
    pages_.touch(extent);
    prefetch_after(visit);
    return pages_.bytes().subspan(static_cast<size_t>(extent.lower.count()),
                                  static_cast<size_t>((extent.upper - extent.lower).count()));
  }

  void add_ranges(std::vector<AddressRange>& /*ranges*/) const override {}

  // What was asked for ahead counts from then on, as the kernel holds its pages while they are
  // read; mincore only names them when they have come. A page that an op has touched again after it
  // was dropped goes before anything is counted, as under a limit of the kernel's another would go.
  Bytes resident_of_file() const override {
    for (const Interval<Bytes>& range : ahead_) pages_.wait_for(range);
    ahead_.clear();
    reclaim();
    return pages_.resident();
  }

 private:
  // Drops what the page cache has no room for.
  void reclaim() const {
    if (has_room_for_all_) return;
    Bytes end;
    for (const Interval<Bytes>& held : model_.cache.resident_ranges(model_.file)) {
      if (end < held.lower) pages_.drop({end, held.lower});
      end = held.upper;
    }
    if (end < pages_.end()) pages_.drop({end, pages_.end()});
  }

  void prefetch_after(int64_t visit) {
    const int64_t last = std::min(visit + model_.prefetch, parts_.itinerary.visits() - 1);
    for (int64_t ahead = visit + 1; ahead <= last; ++ahead) {
      const Interval<Bytes> extent = parts_.layout.extent(parts_.itinerary.unit_at(ahead));
      const PageAccess access = model_.cache.will_need(model_.view, extent);
      bytes_read_ += access.bytes_read;
      reclaim();
      for (const PageReads& reads : access.reads) {
        pages_.ask_for(range_of(reads));
        ahead_.push_back(range_of(reads));
      }
    }
  }

  LoaderParts parts_;
  MappedFile model_;
  MappedWeights pages_;
  bool has_room_for_all_;
  mutable Ranges ahead_{};  // asked for, and not yet seen to have come
};

}  // namespace

std::unique_ptr<UnitLoader> make_mapped_unit_loader(const LoaderParts& parts, MappedFile file,
                                                    bool is_cached) {
  return std::make_unique<MappedLoader>(parts, std::move(file), is_cached);
}

}  // namespace tidemark
