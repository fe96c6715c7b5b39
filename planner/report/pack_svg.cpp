#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "planner/base/units.h"
#include "planner/report/escape.h"
#include "planner/report/pack_report.h"
#include "planner/report/svg.h"

namespace tidemark {
namespace {

constexpr double kWidth = 1000;
constexpr double kHeight = 600;
constexpr double kLeft = 90;
constexpr double kRight = 20;
constexpr double kTop = 50;
constexpr double kBottom = 40;
constexpr double kLeastNamed = 60;  // pixels of width that a name needs

constexpr std::array<std::string_view, 6> kColors = {"#8ecae6", "#a3d9a5", "#f6c177",
                                                     "#d8b4e2", "#f4a6a6", "#c7d3dd"};

// Time to the right, offset upward, in pixels.
class Frame {
 public:
  Frame(const Problem& problem, Bytes top) : top_(std::max(top, Bytes::of(1))) {
    for (const Buffer& buffer : problem.buffers) {
      if (!is_ever_live(buffer)) continue;
      first_ = std::min(first_, buffer.lifetime.lower);
      last_ = std::max(last_, buffer.lifetime.upper);
    }
  }
  bool empty() const { return first_ >= last_; }
  double x(int64_t instant) const {
    const double part = static_cast<double>(instant - first_) / static_cast<double>(last_ - first_);
    return kLeft + part * (kWidth - kLeft - kRight);
  }
  double y(Bytes offset) const {
    const double part = static_cast<double>(offset.count()) / static_cast<double>(top_.count());
    return kHeight - kBottom - part * (kHeight - kTop - kBottom);
  }

 private:
  int64_t first_ = INT64_MAX;
  int64_t last_ = INT64_MIN;
  Bytes top_{};
};

std::string box(const Frame& frame, const Buffer& buffer, Bytes offset, size_t id) {
  std::string out;
  for (const Interval<int64_t>& part : occupied_intervals(buffer)) {
    const svg::Point corner{frame.x(part.lower), frame.y(offset + buffer.size)};
    const svg::Point size{frame.x(part.upper) - corner.x, frame.y(offset) - corner.y};
    out += svg::rectangle(corner, size, {.color = kColors.at(id % kColors.size())});
    out += svg::line(corner, {corner.x + size.x, corner.y}, {.color = "#5b6b7a", .width = 0.4});
    out += svg::line(corner, {corner.x, corner.y + size.y}, {.color = "#5b6b7a", .width = 0.4});
    if (size.x < kLeastNamed || size.y < 12) continue;
    out += svg::text({corner.x + 4, corner.y + size.y / 2 + 4},
                     svg::fitted(one_line(buffer.name), 11, size.x - 8), {.size = 11});
  }
  return out;
}

std::string level(const Frame& frame, Bytes height, std::string_view words, svg::Stroke stroke) {
  const double y = frame.y(height);
  return svg::line({kLeft, y}, {kWidth - kRight, y}, stroke) +
         svg::text({kLeft - 6, y + 4}, words, {.size = 11, .color = stroke.color, .anchor = "end"});
}

}  // namespace

std::string pack_to_svg(const Problem& problem, const PackReport& report) {
  const Frame frame(problem, report.plan.peak);
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} "
      "{1}\" font-family=\"sans-serif\">\n",
      svg::px(kWidth), svg::px(kHeight));
  out += svg::rectangle({0, 0}, {kWidth, kHeight}, {.color = "#ffffff"});
  out += svg::text(
      {kLeft, 28},
      fmt::format("{}: {} buffers, peak {}, lower bound {}, {}", one_line(report.instance),
                  format_count(report.buffers), format_bytes(report.plan.peak),
                  format_bytes(report.plan.lower_bound), report.plan.planner),
      {.size = 15, .bold = true});
  for (size_t i = 0; i < problem.buffers.size() && !frame.empty(); ++i) {
    if (is_ever_live(problem.buffers[i])) {
      out += box(frame, problem.buffers[i], report.plan.offsets[i], i);
    }
  }
  out += level(frame, Bytes{}, "0", {.color = "#1f2933"});
  out += level(frame, report.plan.peak, format_bytes(report.plan.peak), {.color = "#c1121f"});
  if (report.plan.lower_bound < report.plan.peak) {
    out += level(frame, report.plan.lower_bound, format_bytes(report.plan.lower_bound),
                 {.color = "#1d7874", .dashes = "7 4"});
  }
  out += svg::text({kLeft, kHeight - 12}, "time", {.size = 12});
  return out + "</svg>\n";
}

}  // namespace tidemark
