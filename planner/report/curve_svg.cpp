// The memory curve as a picture: stacked areas, the limit as a red dashed line, the peak marked.
// Plain SVG without script, style sheet or font of its own.
//
//   title, subtitle, legend
//   +--------------------------------+
//   | - - - - - - - limit - - - - - -|   One panel a report, one below the other.
//   |        /peak\____              |
//   |   ____/          \____         |
//   +--------------------------------+
//
// All panels have the same memory axis. The time axis is shared as well while that leaves the
// shortest run at least a twelfth of the width; otherwise each panel has its own. What changes
// least is drawn lowest, so only the top of the stack is jagged.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <limits>

#include "planner/base/units.h"
#include "planner/report/chart_scale.h"
#include "planner/report/escape.h"
#include "planner/report/parts.h"
#include "planner/report/sections.h"
#include "planner/report/svg.h"
#include "planner/report/writers.h"

namespace tidemark {
namespace {

constexpr double kWidth = 960;
constexpr double kLeft = 78;
constexpr double kRight = 936;
constexpr double kPanelTop = 94;  // below title, subtitle and legend
constexpr double kHeadingHeight = 28;
constexpr double kAxisHeight = 46;  // time labels and the gap to the next panel
constexpr int kColumns = 640;       // of a dense curve
constexpr double kPale = 0.45;

constexpr std::string_view kInk = "#1f2933";
constexpr std::string_view kFaint = "#52606d";
constexpr std::string_view kGrid = "#dde3e9";
constexpr std::string_view kLimitColor = "#c8102e";
constexpr std::string_view kGoodColor = "#0b6e4f";
constexpr svg::Stroke kLimitStroke{.color = kLimitColor, .width = 2, .dashes = "7 4"};

// Bottom of the stack first. Colours that people with any colour vision can tell apart (after Okabe
// and Ito).
struct Band {
  size_t part = 0;  // index into memory_parts()
  std::string_view color{};
};
constexpr std::array<Band, 6> kBands{{{5, "#8a94a0"},
                                      {4, "#cc79a7"},
                                      {2, "#009e73"},
                                      {1, "#e69f00"},
                                      {3, "#f0e442"},
                                      {0, "#3b82bd"}}};

// Linear scales; y grows downward.
struct Plot {
  double top = 0;
  double bottom = 0;
  Duration end{};
  Bytes highest{};
  double x(Duration time) const {
    if (end <= Duration{}) return kLeft;
    const double share = static_cast<double>(time.count()) / static_cast<double>(end.count());
    return kLeft + (kRight - kLeft) * std::clamp(share, 0.0, 1.0);
  }
  double y(Bytes bytes) const {
    if (highest <= Bytes{}) return bottom;
    const double share = static_cast<double>(bytes.count()) / static_cast<double>(highest.count());
    return bottom - (bottom - top) * std::clamp(share, 0.0, 1.0);
  }
};

// The edge of a band: each level from its point until the next one, for memory is constant in
// between.
std::vector<svg::Point> step_edge(std::span<const CurvePoint> curve,
                                  const std::vector<Bytes>& level, const Plot& plot, Duration end) {
  std::vector<svg::Point> corners;
  for (size_t i = 0; i < curve.size(); ++i) {
    const Duration until = i + 1 < curve.size() ? curve[i + 1].time : std::max(end, curve[i].time);
    const double y = plot.y(level[i]);
    for (const Duration time : {curve[i].time, until}) corners.push_back({plot.x(time), y});
  }
  return corners;
}

std::string stack(std::span<const CurvePoint> curve, const Plot& plot, Duration end,
                  double opacity) {
  std::string out;
  std::vector<Bytes> lower(curve.size());
  for (const Band& band : kBands) {
    const MemoryPart& part = memory_parts()[band.part];
    std::vector<Bytes> upper = lower;
    for (size_t i = 0; i < curve.size(); ++i) upper[i] += curve[i].*part.simulated;
    if (upper == lower) continue;
    out += svg::step_area(step_edge(curve, upper, plot, end), step_edge(curve, lower, plot, end),
                          {band.color, opacity});
    lower = std::move(upper);
  }
  return out;
}

bool is_dense(const SimReport& report) {
  return report.curve.size() > static_cast<size_t>(kColumns);
}

// A dense curve as its envelope: pale up to the highest total of each column, full colour up to the
// lowest.
std::string stacked_areas(const SimReport& report, const Plot& plot) {
  if (!is_dense(report)) return stack(report.curve, plot, report.end, 1.0);
  const Envelope both = envelope(report.curve, plot.end, kColumns);
  return stack(both.highest, plot, report.end, kPale) + stack(both.lowest, plot, report.end, 1.0);
}

// A label and the stretch of the time axis it covers.
struct Label {
  std::string words{};
  svg::Point at{};
  double left = 0;
  double right = 0;
};

Label peak_label(const SimReport& report, const Plot& plot) {
  Label label{.words = "peak " + format_bytes(report.peak)};
  const double half = svg::text_width(label.words, 12) / 2 + 4;
  const double x = std::clamp(plot.x(report.peak_time), kLeft + half, kRight - half);
  const double marker = plot.y(report.peak);
  const double limit = plot.y(report.device.limit.limit);
  // Above the marker; above the line of the limit as well when that would run through the words.
  const bool crossed = limit <= marker + 4 && limit > marker - 26;
  label.at = {x, std::min(marker - 9, crossed ? limit - 7 : marker)};
  label.left = x - half;
  label.right = x + half;
  return label;
}

// Does the stack reach above `y` anywhere between two places of the time axis?
bool reaches(const SimReport& report, const Plot& plot, double left, double right, double y) {
  for (size_t i = 0; i < report.curve.size(); ++i) {
    const Duration until = i + 1 < report.curve.size() ? report.curve[i + 1].time : report.end;
    const bool within = plot.x(report.curve[i].time) < right && plot.x(until) > left;
    if (within && plot.y(report.curve[i].total()) < y) return true;
  }
  return false;
}

// At the right end, or at the left one when only that is clear of the peak's label and of the
// stack.
std::string limit_mark(const SimReport& report, const Plot& plot, const Label& peak) {
  const Bytes limit = report.device.limit.limit;
  const bool on_scale = limit <= plot.highest;
  const std::string words = "limit " + format_bytes(limit) + (on_scale ? "" : ", above this scale");
  const double width = svg::text_width(words, 12) + 10;
  const double y = on_scale ? plot.y(limit) : plot.top + 19;
  const bool right_free =
      peak.right < kRight - width && !reaches(report, plot, kRight - width, kRight, y);
  const bool left_free =
      peak.left > kLeft + width && !reaches(report, plot, kLeft, kLeft + width, y);
  const bool left = !right_free && (left_free || peak.right >= kRight - width);
  const std::string label =
      svg::plated_text({left ? kLeft + 6 : kRight - 4, y - 6}, words,
                       {.color = kLimitColor, .anchor = left ? "start" : "end", .bold = true});
  return on_scale ? svg::line({kLeft, y}, {kRight, y}, kLimitStroke) + label : label;
}

std::string peak_mark(const SimReport& report, const Plot& plot, const Label& label) {
  return svg::ring({plot.x(report.peak_time), plot.y(report.peak)}, 4.5,
                   {.color = kInk, .width = 2}) +
         svg::plated_text(label.at, label.words, {.anchor = "middle", .bold = true});
}

std::string memory_axis(const Plot& plot) {
  std::string out;
  for (const Tick& tick : byte_ticks(plot.highest, plot.bottom - plot.top > 250 ? 8 : 5)) {
    const double y = plot.y(Bytes::of(tick.value));
    out += svg::line({kLeft, y}, {kRight, y}, {.color = kGrid});
    out +=
        svg::text({kLeft - 8, y + 4}, tick.label, {.size = 11, .color = kFaint, .anchor = "end"});
  }
  return out;
}

std::string time_axis(const Plot& plot) {
  std::string out = svg::line({kLeft, plot.bottom}, {kRight, plot.bottom}, {.color = kFaint});
  for (const Tick& tick : time_ticks(plot.end, 10)) {
    const double x = plot.x(Duration::ns(tick.value));
    const bool at_edge = x > kRight - 16;
    out += svg::line({x, plot.bottom}, {x, plot.bottom + 5}, {.color = kFaint});
    out += svg::text({at_edge ? kWidth - 6 : x, plot.bottom + 23}, tick.label,
                     {.size = 11, .color = kFaint, .anchor = at_edge ? "end" : "middle"});
  }
  return out;
}

// Which names belong to a panel because the reports do not share them.
struct PanelNames {
  bool model = false;
  bool device = false;
  bool engine = false;
};

template <typename Member>
bool differs(std::span<const SimReport> reports, Member member) {
  return std::any_of(reports.begin(), reports.end(), [&](const SimReport& report) {
    return member(report) != member(reports.front());
  });
}

std::string quantized_name(const SimReport& report) {
  const std::string quant = setting_value(report.settings, "quant");
  return report.model.name + (quant.empty() ? "" : ", " + quant);
}

PanelNames panel_names(std::span<const SimReport> reports) {
  return {.model = differs(reports, quantized_name),
          .device = differs(reports, [](const SimReport& r) { return r.device.name; }),
          .engine = differs(reports, [](const SimReport& r) { return r.engine; })};
}

std::string outcome_words(SimOutcome outcome) {
  switch (outcome) {
    case SimOutcome::kCompleted:
      return "completed within the limit";
    case SimOutcome::kOverLimit:
      return "over the limit";
    case SimOutcome::kKilled:
      return "killed";
  }
  return "";
}

std::string panel_name(const SimReport& report, const PanelNames& names) {
  std::string name = report.strategy;
  if (!report.cache_policy.empty()) name += " (" + report.cache_policy + ")";
  if (names.engine) name += ", " + report.engine;
  if (names.model) name = quantized_name(report) + ": " + name;
  if (names.device) name += " on " + report.device.name;
  return one_line(name);
}

std::string panel_heading(const SimReport& report, const PanelNames& names, double y) {
  const std::string outcome = outcome_words(report.outcome);
  std::string facts = fmt::format("first token {}", format_duration(report.ttft));
  if (report.tpot) facts += fmt::format(", {} tok/s", format_rate(report.tokens_per_second));
  facts += fmt::format(", {} read, {} stalled", format_bytes(report.bytes_read),
                       format_duration(report.stall));
  const double room = kRight - kLeft - svg::text_width(outcome, 12) - svg::text_width(facts, 12);
  return fmt::format(
      "<text x=\"{}\" y=\"{}\" font-size=\"12\"><tspan font-size=\"14\" font-weight=\"bold\" "
      "fill=\"{}\">{}</tspan>"
      "<tspan dx=\"12\" font-weight=\"bold\" fill=\"{}\">{}</tspan><tspan dx=\"12\" "
      "fill=\"{}\">{}</tspan></text>\n",
      svg::px(kLeft), svg::px(y), kInk,
      xml_text(svg::fitted(panel_name(report, names), 14, std::max(room, 140.0))),
      report.outcome == SimOutcome::kCompleted ? kGoodColor : kLimitColor, xml_text(outcome),
      kFaint, xml_text(facts));
}

std::string panel(const SimReport& report, const PanelNames& names, const Plot& plot) {
  std::string out = panel_heading(report, names, plot.top - 10);
  out += memory_axis(plot) + stacked_areas(report, plot) + time_axis(plot);
  const Label peak = peak_label(report, plot);
  out += limit_mark(report, plot, peak);
  if (report.ttft > Duration{}) out += svg::triangle({plot.x(report.ttft), plot.bottom}, kInk);
  if (!report.curve.empty()) out += peak_mark(report, plot, peak);
  return out;
}

bool has_part(std::span<const SimReport> reports, const MemoryPart& part) {
  return std::any_of(reports.begin(), reports.end(), [&](const SimReport& report) {
    return std::any_of(report.curve.begin(), report.curve.end(),
                       [&](const CurvePoint& point) { return point.*part.simulated > Bytes{}; });
  });
}

// The parts from the top of the stack down, then the marks.
std::string legend(std::span<const SimReport> reports, double y) {
  std::string out;
  double x = kLeft;
  const auto label = [&](std::string_view words) {
    out += svg::text({x + 18, y + 10}, words);
    x += 18 + svg::text_width(words, 12) + 14;
  };
  for (auto band = kBands.rbegin(); band != kBands.rend(); ++band) {
    const MemoryPart& part = memory_parts()[band->part];
    if (!has_part(reports, part)) continue;
    out += svg::rectangle({x, y}, {12, 12}, {band->color});
    label(part.label);
  }
  if (std::any_of(reports.begin(), reports.end(), is_dense)) {
    out += svg::rectangle({x, y}, {12, 12}, {kBands.back().color, kPale});
    label("comes and goes");
  }
  out += svg::line({x - 4, y + 6}, {x + 14, y + 6}, kLimitStroke);
  label("limit");
  out += svg::triangle({x + 6, y + 1}, kInk);
  label("first token");
  return out;
}

std::string title(std::span<const SimReport> reports, const PanelNames& names) {
  std::string words = names.model ? "Memory over time" : quantized_name(reports.front());
  if (!names.device) words += " on " + reports.front().device.name;
  return one_line(words);
}

std::string subtitle(std::span<const SimReport> reports, const PanelNames& names,
                     bool own_time_axes) {
  const SimReport& first = reports.front();
  std::string words = "Memory over time, ";
  words +=
      reports.size() == 1 ? "strategy " + first.strategy : fmt::format("{} runs", reports.size());
  if (!names.engine) words += "; engine " + first.engine;
  for (const char* key : {"ctx_size", "prompt", "generate"}) {
    const auto value = [&](const SimReport& r) { return setting_value(r.settings, key); };
    if (!value(first).empty() && !differs(reports, value))
      words += fmt::format(", {} {}", key, value(first));
  }
  if (own_time_axes) words += "; each with its own time axis";
  return one_line(words);
}

std::string head(std::span<const SimReport> reports, const PanelNames& names, bool own_time_axes) {
  const std::string heading = title(reports, names);
  return "<title>" + xml_text(heading) + "</title>\n" +
         svg::text({kLeft, 32}, svg::fitted(heading, 19, kRight - kLeft),
                   {.size = 19, .bold = true}) +
         svg::text({kLeft, 53},
                   svg::fitted(subtitle(reports, names, own_time_axes), 12, kRight - kLeft),
                   {.color = kFaint}) +
         legend(reports, 67);
}

// The top of the memory axis: room above the highest peak or limit for two labels; a limit far
// above every peak is left off the scale.
Bytes highest_of(std::span<const SimReport> reports, double plot_height) {
  constexpr double kLabelRoom = 30;
  int64_t peak = 1;
  for (const SimReport& report : reports) peak = std::max(peak, report.peak.count());
  int64_t highest = peak;
  for (const SimReport& report : reports) {
    const int64_t limit = report.device.limit.limit.count();
    if (limit / 4 <= peak) highest = std::max(highest, limit);
  }
  const int64_t room = std::numeric_limits<int64_t>::max() - highest;
  const double wanted = static_cast<double>(highest) * kLabelRoom / (plot_height - kLabelRoom);
  return Bytes::of(highest +
                   (wanted < static_cast<double>(room) ? static_cast<int64_t>(wanted) + 1 : room));
}

std::vector<Duration> panel_ends(std::span<const SimReport> reports) {
  std::vector<Duration> ends;
  for (const SimReport& report : reports) {
    ends.push_back(report.curve.empty() ? report.end
                                        : std::max(report.end, report.curve.back().time));
  }
  const auto [shortest, longest] = std::minmax_element(ends.begin(), ends.end());
  if (!ends.empty() && longest->count() / 12 <= shortest->count())
    ends.assign(ends.size(), Duration(*longest));
  return ends;
}

}  // namespace

std::string curve_to_svg(std::span<const SimReport> reports) {
  const double plot_height = reports.size() <= 1 ? 330 : reports.size() == 2 ? 220 : 150;
  const double panel_height = kHeadingHeight + plot_height + kAxisHeight;
  const double height = kPanelTop + panel_height * static_cast<double>(reports.size());
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} "
      "{1}\" "
      "font-family=\"sans-serif\" role=\"img\">\n",
      svg::px(kWidth), svg::px(height));
  out += svg::rectangle({0, 0}, {kWidth, height}, {"#ffffff"});
  if (reports.empty()) return out + "</svg>\n";
  const PanelNames names = panel_names(reports);
  const std::vector<Duration> ends = panel_ends(reports);
  const Bytes highest = highest_of(reports, plot_height);
  const bool own_time_axes =
      std::any_of(ends.begin(), ends.end(), [&](Duration end) { return end != ends.front(); });
  out += head(reports, names, own_time_axes);
  for (size_t i = 0; i < reports.size(); ++i) {
    const double top = kPanelTop + panel_height * static_cast<double>(i) + kHeadingHeight;
    out += panel(reports[i], names,
                 {.top = top, .bottom = top + plot_height, .end = ends[i], .highest = highest});
  }
  return out + "</svg>\n";
}

}  // namespace tidemark
