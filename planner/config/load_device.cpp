// schema: device/1.
#include <fmt/core.h>

#include <algorithm>
#include <bit>

#include "planner/config/load_accelerator.h"
#include "planner/config/load_common.h"
#include "planner/config/load_device_parts.h"
#include "planner/config/load_op_rates.h"

namespace tidemark {
namespace {

using literals::operator""_B;
using literals::operator""_GiB;

constexpr int64_t kMostStoragePoints = 100;
constexpr int64_t kMostStorageDepth = 1024;

// What one app can use: stated, or the rest of the memory when the system's share is.
Bytes read_app_available(YamlMap& map, Bytes ram_total) {
  const bool has_available = map.has("app_available");
  const bool has_reserved = map.has("os_reserved");
  if (has_available == has_reserved) {
    map.error(has_available ? "os_reserved" : "app_available",
              has_available ? "is given beside app_available" : "is missing",
              "state either app_available or os_reserved");
    return {};
  }
  const std::string_view key = has_available ? "app_available" : "os_reserved";
  const std::optional<Bytes> stated = map.bytes(key);
  if (!stated || ram_total == Bytes{}) return {};
  if (*stated > ram_total) {
    map.error(key, fmt::format("{} is more than ram_total {}", format_bytes(*stated),
                               format_bytes(ram_total)));
    return {};
  }
  return has_available ? *stated : ram_total - *stated;
}

Bytes read_page_size(YamlMap& map) {
  const Bytes page = map.bytes("page_size", 1_B, 1_GiB).value_or(1_B);
  if (!std::has_single_bit(static_cast<uint64_t>(page.count()))) {
    map.error("page_size", fmt::format("{} is not a power of two", format_bytes(page)),
              "pages are 4 KiB or 16 KiB on most machines");
  }
  return page;
}

DeviceIsa read_isa(YamlMap& map) {
  if (!map.has("isa")) return DeviceIsa::kUnknown;
  const std::string isa = map.text("isa").value_or("arm");
  if (isa == "arm" || isa == "x86") return isa == "arm" ? DeviceIsa::kArm : DeviceIsa::kX86;
  map.error("isa", fmt::format("{} is not known", in_quotes(isa)), "there are: arm, x86");
  return DeviceIsa::kUnknown;
}

SystemKind read_os(YamlMap& map) {
  if (!map.has("os")) return SystemKind::kLinux;
  const std::optional<std::string> name = map.text("os");
  if (!name) return SystemKind::kLinux;
  const std::optional<SystemKind> os = parse_system_kind(*name);
  if (!os) {
    map.error("os", fmt::format("{} is not a system", in_quotes(*name)),
              "linux, android, ios or macos");
  }
  return os.value_or(SystemKind::kLinux);
}

StoragePoint read_storage_point(YamlMap& entry) {
  StoragePoint point;
  const std::string order = entry.text("order").value_or("random");
  if (const auto parsed = parse_read_order(order)) {
    point.order = *parsed;
  } else {
    entry.error("order", fmt::format("{} is not an order of reads", in_quotes(order)),
                "sequential or random");
  }
  point.request = entry.bytes("request", 1_B, 1_GiB).value_or(1_B);
  if (entry.has("depth")) point.depth = entry.integer("depth", 1, kMostStorageDepth).value_or(1);
  point.rate = entry.bandwidth("rate").value_or(BytesPerSecond::of(1));
  entry.finish();
  return point;
}

// Points of one order and depth, by size of the request: a larger request may not take less time.
bool slower_though_smaller(const StoragePoint& small, const StoragePoint& large) {
  return small.order == large.order && small.depth == large.depth &&
         small.request <= large.request &&
         transfer_time(small.request, small.rate) > transfer_time(large.request, large.rate);
}

std::vector<StoragePoint> read_storage(YamlMap& map) {
  std::vector<StoragePoint> points;
  if (!map.has("storage")) return points;
  for (YamlMap& entry : map.map_list("storage")) {
    const StoragePoint point = read_storage_point(entry);
    for (const StoragePoint& other : points) {
      const bool is_repeated = other.order == point.order && other.depth == point.depth &&
                               other.request == point.request;
      if (is_repeated) {
        entry.error("request", "is measured twice at this order and depth");
      } else if (slower_though_smaller(point, other) || slower_though_smaller(other, point)) {
        entry.error("rate", "lets a larger request take less time than a smaller one",
                    "rate is bytes by time at that size, not the peak of the device");
      }
    }
    points.push_back(point);
    if (std::ssize(points) > kMostStoragePoints) {
      map.error("storage", fmt::format("has more than {} points", kMostStoragePoints));
      break;
    }
  }
  return points;
}

std::vector<std::string> read_estimates(YamlMap& map) {
  std::vector<std::string> estimates;
  if (!map.has("estimates")) return estimates;
  const std::vector<std::string> keys = map.keys();
  for (const YamlText& estimate : map.text_list("estimates").value_or(std::vector<YamlText>{})) {
    if (std::find(keys.begin(), keys.end(), estimate.text) == keys.end()) {
      map.error_at(estimate.where, map.path("estimates"),
                   fmt::format("{} is not a key of this file", in_quotes(estimate.text)),
                   suggestion(estimate.text, "its keys are", keys));
    }
    estimates.push_back(estimate.text);
  }
  return estimates;
}

}  // namespace

Result<DeviceSpec> parse_device(const std::string& file, std::string_view text) {
  YamlDocument document(file, text);
  std::optional<YamlMap> map = document.root();
  if (!map || !is_schema(*map, "device/1")) return document.diagnostics();
  DeviceSpec device;
  device.name = map->text("name").value_or("");
  device.description = map->text("description").value_or("");
  device.source = map->text("source").value_or("");
  device.ram_total = map->bytes("ram_total", 1_B).value_or(Bytes{});
  device.app_available = read_app_available(*map, device.ram_total);
  if (map->has("app_hard_limit")) device.app_hard_limit = map->bytes("app_hard_limit", 1_B);
  device.memory_bandwidth = map->bandwidth("memory_bandwidth").value_or(BytesPerSecond{});
  device.flash_read = map->bandwidth("flash_read").value_or(BytesPerSecond{});
  device.flash_latency = map->duration("flash_latency").value_or(Duration{});
  device.storage = read_storage(*map);
  device.compute = map->compute_rate("compute").value_or(OpsPerSecond{});
  device.page_size = read_page_size(*map);
  if (map->has("page_fault")) device.page_fault = map->duration("page_fault").value_or(Duration{});
  if (map->has("cached_read")) device.cached_read = map->bandwidth("cached_read");
  if (map->has("mapped_read")) device.mapped_read = map->bandwidth("mapped_read");
  if (map->has("fresh_memory")) device.fresh_memory = map->bandwidth("fresh_memory");
  if (map->has("reused_memory")) device.reused_memory = map->bandwidth("reused_memory");
  if (device.reused_memory && !map->has("fresh_memory")) {
    map->error("reused_memory", "stands without fresh_memory",
               "state what pages cost that nobody had before, too");
  }
  device.op_rates = read_op_rates(*map);
  device.isa = read_isa(*map);
  device.os = read_os(*map);
  if (map->has("swap")) device.swap = map->bytes("swap").value_or(Bytes{});
  device.accelerator = read_accelerator(*map);
  device.estimates = read_estimates(*map);
  read_device_parts(*map, device);
  map->finish();
  if (has_errors(document.diagnostics())) return document.diagnostics();
  return device;
}

Result<DeviceSpec> load_device(std::string_view name_or_path) {
  return load_with(ConfigKind::kDevice, name_or_path, parse_device);
}

}  // namespace tidemark
