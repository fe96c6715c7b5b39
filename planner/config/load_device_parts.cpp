#include "planner/config/load_device_parts.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "planner/config/load_common.h"

namespace tidemark {
namespace {

constexpr int64_t kMostCores = 1024;
constexpr size_t kMostGroups = 16;
constexpr double kMostGhz = 100.0;
constexpr int64_t kMostOfOneCore = 100'000'000'000'000;  // sums over all cores stay within 63 bits
constexpr double kMostRatio = 1000.0;
constexpr double kThousand = 1000.0;
constexpr double kMostEnergy = 1e9;  // a microjoule each, a megawatt: slips beyond

bool read_mark(YamlMap& entry) {
  return entry.has("estimate") && entry.boolean("estimate").value_or(false);
}

template <typename Kind>
std::optional<Kind> read_kind(YamlMap& entry, std::string_view key,
                              std::optional<Kind> (*parse)(std::string_view), std::string_view noun,
                              std::string_view names) {
  const std::optional<std::string> text = entry.text(key);
  if (!text) return std::nullopt;
  const std::optional<Kind> kind = parse(*text);
  if (!kind) {
    entry.error(key, fmt::format("{} is not {}", in_quotes(*text), noun), std::string(names));
  }
  return kind;
}

std::optional<ValueType> read_type(YamlMap& entry) {
  return read_kind<ValueType>(entry, "type", parse_value_type, "a type of values",
                              "f32, f16, int8 or int4 (blocks of fewer than 8 bits)");
}

// Nothing when it is not known whose rate it is.
std::optional<ComputeRate> read_compute_rate(YamlMap& entry) {
  const std::optional<OpClass> op = read_kind<OpClass>(entry, "op", parse_op_class, "a kind of op",
                                                       "matmul, gemv, attention or other");
  const std::optional<ValueType> type = read_type(entry);
  const OpsPerSecond rate = entry.compute_rate("rate").value_or(OpsPerSecond{});
  const bool is_estimate = read_mark(entry);
  entry.finish();
  if (!op || !type) return std::nullopt;
  return ComputeRate{.op = *op, .type = *type, .rate = rate, .is_estimate = is_estimate};
}

void read_compute_rates(YamlMap& map, DeviceSpec& device) {
  if (!map.has("compute_rates")) return;
  for (YamlMap& entry : map.map_list("compute_rates")) {
    const std::optional<ComputeRate> row = read_compute_rate(entry);
    if (!row) continue;
    const std::string name = fmt::format("{}.{}", name_of(row->op), name_of(row->type));
    const bool is_repeated = std::ranges::any_of(device.compute_rates, [&](const ComputeRate& r) {
      return r.op == row->op && r.type == row->type;
    });
    if (is_repeated) entry.error("op", fmt::format("{} stands there twice", name));
    if (row->is_estimate) device.estimates.push_back("compute_rates." + name);
    device.compute_rates.push_back(*row);
  }
}

double read_ghz(YamlMap& entry) {
  if (!entry.has("ghz")) return 0.0;
  const std::optional<double> ghz = entry.ratio("ghz");
  if (ghz && (*ghz <= 0.0 || *ghz > kMostGhz)) {
    entry.error("ghz", fmt::format("{} is out of range", *ghz), "above 0 and at most 100");
  }
  return ghz.value_or(0.0);
}

std::optional<CoreGroup> read_group(YamlMap& entry) {
  CoreGroup group;
  const std::optional<CoreKind> kind =
      read_kind<CoreKind>(entry, "kind", parse_core_kind, "a kind of core",
                          "big or little; groups of one kind differ in ghz");
  group.count = entry.integer("count", 1, kMostCores).value_or(1);
  group.rate = entry.compute_rate("rate").value_or(OpsPerSecond::of(1));
  group.ghz = read_ghz(entry);
  if (entry.has("memory_bandwidth")) group.memory_bandwidth = entry.bandwidth("memory_bandwidth");
  if (entry.has("storage_read")) group.storage_read = entry.bandwidth("storage_read");
  if (group.rate.count() > kMostOfOneCore) entry.error("rate", "is more than 100 TOPS of one core");
  if (group.memory_bandwidth && group.memory_bandwidth->count() > kMostOfOneCore) {
    entry.error("memory_bandwidth", "is more than 100 TB/s of one core");
  }
  group.is_estimate = read_mark(entry);
  entry.finish();
  if (!kind) return std::nullopt;
  group.kind = *kind;
  return group;
}

void read_cores(YamlMap& map, DeviceSpec& device) {
  if (!map.has("cores")) return;
  for (YamlMap& entry : map.map_list("cores")) {
    const std::optional<CoreGroup> group = read_group(entry);
    if (!group) continue;
    const bool is_repeated = std::ranges::any_of(device.cores, [&](const CoreGroup& other) {
      return other.kind == group->kind && other.ghz == group->ghz;
    });
    if (is_repeated) {
      entry.error("kind",
                  fmt::format("{} cores of this ghz stand there twice", name_of(group->kind)),
                  "add up their count, or give each group its ghz");
    }
    device.cores.push_back(*group);
  }
  if (device.cores.size() > kMostGroups) {
    map.error("cores", fmt::format("has more than {} groups", kMostGroups));
  }
}

// In thousandths: 2.0 -> 2000, of what is compressed to half.
int64_t read_zram_ratio(YamlMap& part, std::string_view key, int64_t fallback) {
  if (!part.has(key)) return fallback;
  const std::optional<double> ratio = part.ratio(key);
  if (!ratio) return fallback;
  if (*ratio < 1.0 || *ratio > kMostRatio) {
    part.error(key, fmt::format("{} is out of range", *ratio),
               "from 1 (nothing gained) to 1000; 2.0 compresses to half");
    return fallback;
  }
  return std::llround(*ratio * kThousand);
}

void read_zram(YamlMap& map, DeviceSpec& device) {
  if (!map.has("zram")) return;
  std::optional<YamlMap> part = map.map("zram");
  if (!part) return;
  const ZramRatios usual;
  device.zram = {.other_apps = read_zram_ratio(*part, "other_apps", usual.other_apps),
                 .weights = read_zram_ratio(*part, "weights", usual.weights),
                 .kv_cache = read_zram_ratio(*part, "kv_cache", usual.kv_cache)};
  part->finish();
  if (device.swap == Bytes{}) {
    map.error("zram", "compresses what is swapped, and the device has no swap", "add swap");
  }
}

struct EnergyUnit {
  std::string_view name{};
  double thousandths = 0.0;  // of "pJ", "pJ/B" or "W"
};

// "20 pJ/B" -> 20,000; a thousandth of the unit at least.
int64_t read_energy_figure(YamlMap& part, std::string_view key,
                           std::initializer_list<EnergyUnit> units, std::string_view example) {
  const std::optional<std::string> text = part.text(key);
  if (!text) return 0;
  const size_t space = text->find(' ');
  const std::string_view unit =
      space == std::string::npos ? "" : std::string_view(*text).substr(space + 1);
  for (const EnergyUnit& known : units) {
    if (known.name != unit) continue;
    const Parsed<double> number = parse_ratio(std::string_view(*text).substr(0, space));
    const double* value = std::get_if<double>(&number);
    if (value == nullptr) break;
    const double scaled = *value * known.thousandths;
    if (scaled >= 1.0 && scaled <= kMostEnergy) return std::llround(scaled);
    part.error(key, fmt::format("{} is out of range", in_quotes(*text)),
               "it is more than nothing; leave the key out where it is not known");
    return 0;
  }
  part.error(key, fmt::format("{} is not read", in_quotes(*text)),
             fmt::format("write a number and a unit: {}", example));
  return 0;
}

int64_t read_power(YamlMap& part, std::string_view key) {
  if (!part.has(key)) return 0;
  return read_energy_figure(part, key, {{"W", kThousand}, {"mW", 1.0}}, "2.5 W, 350 mW");
}

int64_t read_energy_of_byte(YamlMap& part, std::string_view key) {
  if (!part.has(key)) return 0;
  return read_energy_figure(part, key, {{"pJ/B", kThousand}, {"fJ/B", 1.0}}, "20 pJ/B");
}

std::vector<OperationEnergy> read_operations(YamlMap& part) {
  std::vector<OperationEnergy> rows;
  if (!part.has("operations")) return rows;
  for (YamlMap& entry : part.map_list("operations")) {
    const std::optional<ValueType> type = read_type(entry);
    const int64_t each =
        read_energy_figure(entry, "each", {{"pJ", kThousand}, {"fJ", 1.0}}, "0.5 pJ, 230 fJ");
    entry.finish();
    if (!type) continue;
    const bool is_repeated = std::ranges::any_of(
        rows, [&](const OperationEnergy& other) { return other.type == *type; });
    if (is_repeated) entry.error("type", fmt::format("{} stands there twice", name_of(*type)));
    rows.push_back({.type = *type, .femtojoules = each});
  }
  return rows;
}

void read_energy(YamlMap& map, DeviceSpec& device) {
  if (!map.has("energy")) return;
  std::optional<YamlMap> part = map.map("energy");
  if (!part) return;
  device.energy = {.operations = read_operations(*part),
                   .memory_femtojoules = read_energy_of_byte(*part, "memory"),
                   .storage_femtojoules = read_energy_of_byte(*part, "storage"),
                   .computing_milliwatts = read_power(*part, "computing"),
                   .idle_milliwatts = read_power(*part, "idle")};
  part->finish();
  if (part->keys().empty()) {
    map.error("energy", "is empty", "state one of its figures, or leave it out");
  }
}

}  // namespace

void read_device_parts(YamlMap& map, DeviceSpec& device) {
  if (map.has("op_overhead")) {
    device.op_overhead = map.duration("op_overhead").value_or(Duration{});
  }
  read_compute_rates(map, device);
  read_cores(map, device);
  read_zram(map, device);
  read_energy(map, device);
}

}  // namespace tidemark
