#include "planner/capacity/cores.h"

#include <algorithm>

#include "planner/base/check.h"
#include "planner/capacity/device_spec.h"

namespace tidemark {
namespace {

__extension__ using Wide = __int128;

// The fastest first, each with as many cores as are in use.
std::vector<CoreGroup> in_use(const std::vector<CoreGroup>& cores, const CoreUse& use) {
  std::vector<CoreGroup> used;
  for (const CoreGroup& group : cores) {
    if (!use.kind || group.kind == *use.kind) used.push_back(group);
  }
  std::ranges::stable_sort(used, std::ranges::greater{}, &CoreGroup::rate);
  int64_t left = use.threads > 0 ? use.threads : count_cores(cores, use.kind);
  for (CoreGroup& group : used) {
    group.count = std::min(group.count, left);
    left -= group.count;
  }
  std::erase_if(used, [](const CoreGroup& group) { return group.count == 0; });
  return used;
}

int64_t operations_of(const std::vector<CoreGroup>& cores) {
  int64_t sum = 0;
  for (const CoreGroup& group : cores) {
    sum = checked_add(sum, checked_mul(group.count, group.rate.count()));
  }
  return sum;
}

// `amount` of `whole` parts of a rate; never nothing.
OpsPerSecond part_of(OpsPerSecond rate, int64_t amount, int64_t whole) {
  const Wide part = static_cast<Wide>(rate.count()) * amount / whole;
  return OpsPerSecond::of(std::max<int64_t>(1, static_cast<int64_t>(part)));
}

BytesPerSecond drawn_by(const std::vector<CoreGroup>& used, BytesPerSecond most) {
  int64_t sum = 0;
  for (const CoreGroup& group : used) {
    if (!group.memory_bandwidth) return most;
    sum = checked_add(sum, checked_mul(group.count, group.memory_bandwidth->count()));
  }
  return std::min(most, BytesPerSecond::of(sum));
}

void read_on(const CoreGroup& core, DeviceSpec& device) {
  if (!core.storage_read) return;
  device.flash_read = std::min(device.flash_read, *core.storage_read);
  for (StoragePoint& point : device.storage) point.rate = std::min(point.rate, *core.storage_read);
}

}  // namespace

std::string_view name_of(CoreKind kind) { return kind == CoreKind::kBig ? "big" : "little"; }

std::optional<CoreKind> parse_core_kind(std::string_view name) {
  for (const CoreKind kind : {CoreKind::kBig, CoreKind::kLittle}) {
    if (name_of(kind) == name) return kind;
  }
  return std::nullopt;
}

int64_t count_cores(const std::vector<CoreGroup>& cores, std::optional<CoreKind> kind) {
  int64_t count = 0;
  for (const CoreGroup& group : cores) {
    if (!kind || group.kind == *kind) count = checked_add(count, group.count);
  }
  return count;
}

DeviceSpec on_cores(DeviceSpec device, const CoreUse& use) {
  const std::vector<CoreGroup> used = in_use(device.cores, use);
  const int64_t amount = operations_of(used);
  const int64_t whole = operations_of(device.cores);
  if (used.empty() || whole == 0) return device;
  device.compute = part_of(device.compute, amount, whole);
  for (ComputeRate& row : device.compute_rates) row.rate = part_of(row.rate, amount, whole);
  device.memory_bandwidth = drawn_by(used, device.memory_bandwidth);
  read_on(used.front(), device);
  const bool is_listed = std::ranges::find(device.estimates, "cores") != device.estimates.end();
  if (!is_listed && std::ranges::any_of(device.cores, &CoreGroup::is_estimate)) {
    device.estimates.emplace_back("cores");
  }
  return device;
}

}  // namespace tidemark
