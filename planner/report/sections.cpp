#include "planner/report/sections.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "planner/base/units.h"
#include "planner/report/escape.h"
#include "planner/report/parts.h"

namespace tidemark {
namespace {

// Settings with one origin are shown together. The rank is the order of precedence.
struct OriginGroup {
  int rank = 0;
  std::string label{};
  std::vector<std::string> items{};
};

OriginGroup group_of(const std::string& origin) {
  if (origin.starts_with("flag ")) return {.rank = 0, .label = "flags"};
  if (origin.starts_with("environment ")) return {.rank = 1, .label = "environment"};
  if (origin.starts_with("scenario "))
    return {.rank = 2, .label = origin.substr(0, origin.rfind(':'))};
  if (origin == "default") return {.rank = 4, .label = "defaults"};
  return {.rank = 3, .label = origin};
}

std::vector<OriginGroup> groups_of(std::span<const Setting> settings) {
  std::vector<OriginGroup> groups;
  for (const Setting& setting : settings) {
    OriginGroup group = group_of(setting.origin);
    auto place = std::find_if(groups.begin(), groups.end(),
                              [&](const OriginGroup& other) { return other.label == group.label; });
    if (place == groups.end()) {
      groups.push_back(std::move(group));
      place = groups.end() - 1;
    }
    place->items.push_back(one_line(setting.key) + "=" + one_line(setting.value));
  }
  std::stable_sort(groups.begin(), groups.end(),
                   [](const OriginGroup& a, const OriginGroup& b) { return a.rank < b.rank; });
  return groups;
}

std::string join_with_commas(std::span<const std::string> items) {
  std::string out;
  for (const std::string& item : items) out += (out.empty() ? "" : ", ") + one_line(item);
  return out;
}

}  // namespace

std::string subject(const ModelFacts& model, const DeviceFacts& device) {
  return one_line(model.name) + " on " + one_line(device.name);
}

std::string model_line(const ModelFacts& model) {
  std::string text = fmt::format("{} ({}), ", one_line(model.name), one_line(model.architecture));
  if (model.parameters > 0) text += format_count(model.parameters) + " parameters, ";
  if (model.active_parameters != model.parameters) {
    text += format_count(model.active_parameters) + " active, ";
  }
  text += fmt::format("{} layers, {} as stored", format_count(model.layers),
                      format_bytes(model.tensor_bytes));
  return paragraph("Model", text);
}

std::string settings_section(std::span<const Setting> settings) {
  std::string out;
  std::string head = "Settings";
  for (OriginGroup& group : groups_of(settings)) {
    for (size_t i = 0; i + 1 < group.items.size(); ++i) group.items[i] += ",";
    group.items.front() = one_line(group.label) + ": " + group.items.front();
    for (const std::string& line : wrap_items(group.items, kPageWidth - kLabelWidth)) {
      out += fmt::format("{:<{}}{}\n", head, kLabelWidth, line);
      head.clear();
    }
  }
  return out;
}

std::string device_line(const DeviceFacts& device) {
  const DeviceLimit& limit = device.limit;
  return paragraph("Device", fmt::format("{}: total {} - system {} = available {}",
                                         one_line(device.name), format_bytes(limit.total),
                                         format_bytes(limit.os), format_bytes(limit.available)));
}

std::string limit_line(const DeviceLimit& limit) {
  return paragraph("Limit", fmt::format("{} ({}), margin {}", format_bytes(limit.limit),
                                        one_line(limit.rule), format_bytes(limit.margin)));
}

std::string estimates_line(const DeviceFacts& device) {
  if (device.estimates.empty()) return "";
  return paragraph("Estimates", fmt::format("of the device, not measured or published: {}",
                                            join_with_commas(device.estimates)));
}

std::string notes_section(std::span<const std::string> notes) {
  std::string out;
  for (const std::string& note : notes) out += paragraph("Note", one_line(note));
  return out;
}

std::vector<int64_t> shares_per_mille(const Breakdown& memory) {
  const auto parts = memory_parts();
  std::vector<int64_t> shares(parts.size(), 0);
  const auto total = static_cast<long double>(memory.total().count());
  if (total <= 0) return shares;
  std::vector<long double> remainders;
  for (size_t i = 0; i < parts.size(); ++i) {
    const long double exact =
        1000 * static_cast<long double>((memory.*parts[i].planned).count()) / total;
    shares[i] = static_cast<int64_t>(exact);
    remainders.push_back(exact - std::floor(exact));
  }
  std::vector<size_t> order(parts.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return remainders[a] > remainders[b]; });
  const int64_t left = 1000 - std::accumulate(shares.begin(), shares.end(), int64_t{0});
  for (int64_t i = 0; i < left; ++i) ++shares[order[static_cast<size_t>(i) % order.size()]];
  return shares;
}

std::string percent(int64_t per_mille) {
  return fmt::format("{}.{} %", per_mille / 10, per_mille % 10);
}

Table breakdown_table(const Breakdown& memory, const std::vector<std::string>& notes) {
  Table table{
      .columns = {{"Memory", Align::kLeft}, {"bytes"}, {"size"}, {"share"}, {"", Align::kLeft}}};
  const std::vector<int64_t> shares = shares_per_mille(memory);
  const auto parts = memory_parts();
  for (size_t i = 0; i < parts.size(); ++i) {
    const Bytes bytes = memory.*parts[i].planned;
    table.rows.push_back({{std::string(parts[i].label)},
                          {format_count(bytes.count())},
                          {format_bytes(bytes)},
                          {percent(shares[i])},
                          {i < notes.size() ? notes[i] : ""}});
  }
  table.rows.emplace_back();
  const int64_t whole = std::accumulate(shares.begin(), shares.end(), int64_t{0});
  table.rows.push_back({{"total"},
                        {format_count(memory.total().count())},
                        {format_bytes(memory.total())},
                        {percent(whole)}});
  return table;
}

std::string format_rate(double per_second) {
  if (per_second >= 1000.0) return fmt::format("{:.0f}", per_second);
  std::string text = fmt::format("{:#.3g}", per_second);
  if (text.back() == '.') text.pop_back();
  return text;
}

std::string format_hit_rate(const std::optional<double>& rate) {
  return rate ? fmt::format("{:.2f}", *rate) : "n/a";
}

}  // namespace tidemark
