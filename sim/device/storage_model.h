// Reads of a device's storage, from the points that were measured.
//
//   points (random)      request   depth   rate        time a request = request / rate
//                          4 KiB       1    22 MB/s     186,182 ns
//                        512 KiB       1   827 MB/s     633,964 ns
//                          4 KiB       8   130 MB/s      31,508 ns
//   A read between two sizes takes a time between theirs, in proportion; a smaller one than the
//   smallest as long as that; past the largest each byte costs what it costs there on average, or
//   what flash_read says if that is less.
//     4 KiB, depth 1: 186,182 ns    258 KiB: 410,073 ns    1 MiB, depth 1: 1,158,252 ns
//   Deeper queues are never slower: the best of the depths measured up to the one asked for counts.
//     4 KiB, depth 4: 186,182 ns    4 KiB, depth 8 and more: 31,508 ns
//   Checked by StorageModelTest.TheTableInTheHeader.
//
// An order with no points: flash_latency + bytes / flash_read, whatever the depth.
#pragma once

#include <vector>

#include "planner/capacity/device_spec.h"

namespace tidemark {

class StorageModel {
 public:
  explicit StorageModel(const DeviceSpec& device);

  // From the completion of one request to that of the next, `depth` >= 1 being kept in flight;
  // rounded up.
  Duration service(Bytes request, ReadOrder order, int64_t depth) const;
  // `total` bytes in requests of `request` > 0 bytes, the last one smaller. One after the other in
  // the file they are never slower than at random places.
  Duration transfer(Bytes total, Bytes request, ReadOrder order, int64_t depth) const;

 private:
  Duration plain(Bytes request) const;

  Duration latency_{};
  BytesPerSecond rate_{};
  std::vector<StoragePoint> points_{};  // by order, depth, request
};

}  // namespace tidemark
