// schema: device/1.
#include <fmt/core.h>

#include <algorithm>
#include <bit>

#include "planner/config/load_common.h"

namespace tidemark {
namespace {

using literals::operator""_B;
using literals::operator""_GiB;

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
  device.compute = map->compute_rate("compute").value_or(OpsPerSecond{});
  device.page_size = read_page_size(*map);
  device.estimates = read_estimates(*map);
  map->finish();
  if (has_errors(document.diagnostics())) return document.diagnostics();
  return device;
}

Result<DeviceSpec> load_device(std::string_view name_or_path) {
  return load_with(ConfigKind::kDevice, name_or_path, parse_device);
}

}  // namespace tidemark
