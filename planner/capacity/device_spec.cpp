#include "planner/capacity/device_spec.h"

#include <algorithm>
#include <array>

#include "planner/base/check.h"
#include "planner/base/find_by_name.h"

namespace tidemark {
namespace {

constexpr std::array<SystemKind, 4> kSystems{SystemKind::kLinux, SystemKind::kAndroid,
                                             SystemKind::kIos, SystemKind::kMacos};
constexpr std::array<ReadOrder, 2> kOrders{ReadOrder::kSequential, ReadOrder::kRandom};

}  // namespace

std::string_view name_of(SystemKind os) {
  switch (os) {
    case SystemKind::kLinux:
      return "linux";
    case SystemKind::kAndroid:
      return "android";
    case SystemKind::kIos:
      return "ios";
    case SystemKind::kMacos:
      return "macos";
  }
  check(false, "every system has a name");
  return {};
}

std::optional<SystemKind> parse_system_kind(std::string_view name) {
  return find_by_name(kSystems, name);
}

BytesPerSecond DeviceSpec::cached_rate() const {
  return cached_read.value_or(
      BytesPerSecond::of(std::max<int64_t>(1, memory_bandwidth.count() / 8)));
}

std::string_view name_of(ReadOrder order) {
  return order == ReadOrder::kSequential ? "sequential" : "random";
}

std::optional<ReadOrder> parse_read_order(std::string_view name) {
  return find_by_name(kOrders, name);
}

}  // namespace tidemark
