#include "planner/compare/placement.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "planner/compare/log_text.h"

namespace tidemark {
namespace {

constexpr std::string_view kHostWords[] = {"CPU", "AMX", "BLAS", "Host"};

// "CUDA2" before "CUDA10".
std::pair<std::string, int64_t> by_number(const std::string& device) {
  const size_t digits = device.find_last_not_of("0123456789") + 1;
  return {device.substr(0, digits), leading_integer(device.substr(digits)).value_or(-1)};
}

std::vector<std::string> devices_of(const LoggedRun& run) {
  std::vector<std::string> devices;
  for (const LoggedTerm& term : run.terms) {
    if (term.kind != TermKind::kModel && term.kind != TermKind::kRepacked &&
        term.kind != TermKind::kKv && term.kind != TermKind::kRecurrent &&
        term.kind != TermKind::kContext) {
      continue;
    }
    std::string device = device_of(term.device);
    if (!device.empty() && !term.device.empty()) devices.push_back(std::move(device));
  }
  std::ranges::sort(devices, {}, by_number);
  const auto [first, last] = std::ranges::unique(devices);
  devices.erase(first, last);
  return devices;
}

// What the log says each device keeps of the cache.
LoggedFigure cache_on(const LoggedRun& run, std::string_view device) {
  LoggedFigure sum;
  for (const LoggedTerm& term : run.terms) {
    if (term.kind != TermKind::kKv || device_of(term.device) != device) continue;
    sum.value += term.figure.value;
    sum.rounding += term.figure.rounding;
  }
  return sum;
}

bool states_cache(const LoggedRun& run) { return run.find(TermKind::kKv) != nullptr; }

// How many layers from `first` on make up `logged`; nothing when none do.
std::optional<int64_t> layers_in(const LoggedFigure& logged, const std::vector<Bytes>& layer_cache,
                                 int64_t first) {
  int64_t sum = 0;
  int64_t last = first;
  while (last < std::ssize(layer_cache) && sum + logged.rounding < logged.value) {
    sum += layer_cache[static_cast<size_t>(last++)].count();
  }
  const int64_t off = sum > logged.value ? sum - logged.value : logged.value - sum;
  if (off > logged.rounding + logged.value / 1000) return std::nullopt;
  return last - first;
}

Placement from_list(const std::vector<std::string>& devices) {
  Placement made{.how = "devices of layers as the log lists them"};
  for (size_t i = 0; i < devices.size(); ++i) {
    const std::string device = device_of(devices[i]);
    const bool is_head = i + 1 == devices.size();
    const auto layer = static_cast<int64_t>(i);
    if (!made.shares.empty() && made.shares.back().device == device) {
      made.shares.back().last = is_head ? layer : layer + 1;
      made.shares.back().head = is_head;
      continue;
    }
    made.shares.push_back(
        {.device = device, .first = layer, .last = is_head ? layer : layer + 1, .head = is_head});
  }
  return made;
}

Placement on_one(const std::string& device, int64_t n_layer, int64_t offloaded,
                 const LlamaEra& era) {
  Placement made{.how = fmt::format("{} of {} layers offloaded", offloaded, n_layer + 1)};
  if (offloaded > n_layer) {
    made.shares = {{.device = device, .last = n_layer, .head = true}};
    return made;
  }
  if (offloaded == 0) {
    made.shares = {{.last = n_layer, .head = true}};
    return made;
  }
  const int64_t first = era.head_first ? n_layer + 1 - offloaded : n_layer - offloaded;
  made.shares = {{.first = 0, .last = first, .head = !era.head_first},
                 {.device = device, .first = first, .last = n_layer, .head = era.head_first}};
  return made;
}

Placement by_cache(const LoggedRun& run, const std::vector<std::string>& devices,
                   const std::vector<Bytes>& layer_cache, bool head_on_device) {
  Placement made{.how = "layers by device from how the KV cache is spread"};
  int64_t first = 0;
  std::vector<std::string> all{""};
  all.insert(all.end(), devices.begin(), devices.end());
  for (const std::string& device : all) {
    const LoggedFigure logged = cache_on(run, device);
    if (logged.value == 0) continue;
    const std::optional<int64_t> count = layers_in(logged, layer_cache, first);
    if (!count) return {.how = "the KV cache is spread in no way that whole layers explain"};
    made.shares.push_back({.device = device, .first = first, .last = first + *count});
    first += *count;
  }
  if (first != std::ssize(layer_cache)) {
    return {.how = "the log does not say on which device each layer is"};
  }
  if (head_on_device || made.shares.size() == 1) {
    made.shares.back().head = true;
  } else if (made.shares.front().device.empty()) {
    made.shares.front().head = true;
  }
  return made;
}

}  // namespace

std::string device_of(std::string_view buffer) {
  for (const std::string_view host : kHostWords) {
    if (buffer == host || buffer.ends_with(std::string("_") + std::string(host))) return "";
    if (buffer.starts_with(std::string(host) + "_")) return "";
  }
  for (const std::string_view tail : {"_Mapped", "-REPACK", "_REPACK", "_Private"}) {
    if (buffer.ends_with(tail)) buffer.remove_suffix(tail.size());
  }
  return std::string(buffer);
}

Placement placement_of(const LoggedRun& run, const std::vector<Bytes>& layer_cache,
                       const LlamaEra& era) {
  const int64_t n_layer = std::ssize(layer_cache);
  if (std::ssize(run.layer_devices) == n_layer + 1) return from_list(run.layer_devices);
  const std::vector<std::string> devices = devices_of(run);
  const std::optional<int64_t> offloaded = run.settings.number("offloaded");
  if (devices.empty()) {
    if (offloaded.value_or(0) > 0) {
      return {.how = "the log says that layers are offloaded, not to which device"};
    }
    return {.shares = {{.last = n_layer, .head = true}}, .how = "everything on the host"};
  }
  const bool all = !offloaded || *offloaded > n_layer;
  if (devices.size() == 1 && offloaded) {
    Placement made = on_one(devices.front(), n_layer, *offloaded, era);
    made.cache_on_host = all && states_cache(run) && cache_on(run, devices.front()).value == 0;
    return made;
  }
  if (!states_cache(run)) {
    if (devices.size() > 1) return {.how = "the log does not say on which device each layer is"};
    return on_one(devices.front(), n_layer, n_layer + 1, era);
  }
  // With layers left on the host the head is there as well, unless it goes first.
  const bool some_on_host = cache_on(run, "").value > 0;
  return by_cache(run, devices, layer_cache, offloaded ? all : !some_on_host || era.head_first);
}

}  // namespace tidemark
