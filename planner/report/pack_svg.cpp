#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "planner/alloc/body.h"
#include "planner/base/units.h"
#include "planner/report/escape.h"
#include "planner/report/pack_explain.h"
#include "planner/report/svg.h"

namespace tidemark {
namespace {

constexpr double kWidth = 1000;
constexpr double kPanel = 510;  // height of one pool's drawing
constexpr double kPanelOfMany = 300;
constexpr double kBetween = 40;
constexpr double kLeft = 90;
constexpr double kRight = 20;
constexpr double kTop = 50;
constexpr double kBottom = 40;
constexpr double kLeastNamed = 60;  // pixels of width that a name needs

constexpr std::array<std::string_view, 6> kColors = {"#8ecae6", "#a3d9a5", "#f6c177",
                                                     "#d8b4e2", "#f4a6a6", "#c7d3dd"};

// Time to the right, the same for all pools.
struct TimeAxis {
  int64_t first = INT64_MAX;
  int64_t last = INT64_MIN;

  explicit TimeAxis(const Problem& problem) {
    for (const Buffer& buffer : problem.buffers) {
      if (!is_ever_live(buffer)) continue;
      first = std::min(first, buffer.lifetime.lower);
      last = std::max(last, buffer.lifetime.upper);
    }
  }
  bool empty() const { return first >= last; }
  double x(int64_t instant) const {
    const double whole = static_cast<double>(last) - static_cast<double>(first);
    const double part = (static_cast<double>(instant) - static_cast<double>(first)) / whole;
    return kLeft + part * (kWidth - kLeft - kRight);
  }
};

// Offset upward, in one panel.
struct Panel {
  double bottom = 0;  // y of offset 0
  double height = 0;
  Bytes top{};

  double y(Bytes offset) const {
    const double whole = static_cast<double>(std::max(top, Bytes::of(1)).count());
    return bottom - static_cast<double>(offset.count()) / whole * height;
  }
};

std::string box(const TimeAxis& time, const Panel& panel, const Buffer& buffer, Bytes offset,
                size_t colour) {
  std::string out;
  for (const Piece& part : pieces_of(buffer)) {
    const svg::Point corner{time.x(part.when.lower), panel.y(offset + part.used.upper)};
    const svg::Point size{time.x(part.when.upper) - corner.x,
                          panel.y(offset + part.used.lower) - corner.y};
    out += svg::rectangle(corner, size, {.color = kColors.at(colour % kColors.size())});
    out += svg::line(corner, {corner.x + size.x, corner.y}, {.color = "#5b6b7a", .width = 0.4});
    out += svg::line(corner, {corner.x, corner.y + size.y}, {.color = "#5b6b7a", .width = 0.4});
    if (size.x < kLeastNamed || size.y < 12) continue;
    out += svg::text({corner.x + 4, corner.y + size.y / 2 + 4},
                     svg::fitted(one_line(buffer.name), 11, size.x - 8), {.size = 11});
  }
  return out;
}

std::string level(const Panel& panel, Bytes height, std::string_view words, svg::Stroke stroke) {
  const double y = panel.y(height);
  return svg::line({kLeft, y}, {kWidth - kRight, y}, stroke) +
         svg::text({kLeft - 6, y + 4}, words, {.size = 11, .color = stroke.color, .anchor = "end"});
}

// The buffers of one pool: larger pieces first, so that a member of a group does not hide those
// within it. Members share the colour of their group.
std::string boxes(const TimeAxis& time, const Panel& panel, const PoolExcerpt& part) {
  std::vector<size_t> order;
  for (size_t i = 0; i < part.problem.buffers.size(); ++i) {
    if (is_ever_live(part.problem.buffers[i])) order.push_back(i);
  }
  if (!part.problem.groups.empty()) {
    std::ranges::stable_sort(order, {}, [&](size_t i) {
      const Buffer& b = part.problem.buffers[i];
      return b.group ? -b.size.count() : int64_t{0};
    });
  }
  std::string out;
  for (const size_t i : order) {
    const Buffer& b = part.problem.buffers[i];
    const size_t colour = b.group ? b.group->index() : part.members[i].index();
    out += box(time, panel, b, part.offsets[i], colour);
  }
  return out;
}

struct Levels {
  Bytes peak{};
  Bytes lower_bound{};
  std::optional<Bytes> capacity{};
};

std::string levels(const Panel& panel, const Levels& of) {
  std::string out = level(panel, Bytes{}, "0", {.color = "#1f2933"});
  out += level(panel, of.peak, format_bytes(of.peak), {.color = "#c1121f"});
  if (of.lower_bound < of.peak) {
    out += level(panel, of.lower_bound, format_bytes(of.lower_bound),
                 {.color = "#1d7874", .dashes = "7 4"});
  }
  if (of.capacity && of.peak < *of.capacity && *of.capacity <= panel.top) {
    out += level(panel, *of.capacity, format_bytes(*of.capacity),
                 {.color = "#5b6b7a", .dashes = "2 3"});
  }
  return out;
}

std::string pool_panels(const Problem& problem, const PackReport& report, const TimeAxis& time) {
  std::string out;
  for (size_t k = 0; k < report.pools.size(); ++k) {
    const PackPool& pool = report.pools[k];
    const double top = kTop + static_cast<double>(k) * (kPanelOfMany + kBetween) + 20;
    // A pool that is nearly full shows how nearly; one that is nearly empty does not show how
    // empty.
    const bool near = pool.capacity && *pool.capacity / 2 < pool.plan.peak;
    const Panel panel{.bottom = top + kPanelOfMany - 20,
                      .height = kPanelOfMany - 20,
                      .top = near ? *pool.capacity : pool.plan.peak};
    out += svg::text({kLeft, top - 8},
                     fmt::format("{}: {} buffers, peak {}{}", one_line(pool.name),
                                 format_count(pool.buffers), format_bytes(pool.plan.peak),
                                 pool.capacity ? " of " + format_bytes(*pool.capacity) : ""),
                     {.size = 12, .bold = true});
    if (time.empty()) continue;
    out += boxes(time, panel, excerpt_of(problem, report.plan, PoolId::of(k)));
    out += levels(panel, {pool.plan.peak, pool.plan.lower_bound, pool.capacity});
  }
  return out;
}

}  // namespace

std::string pack_to_svg(const Problem& problem, const PackReport& report) {
  const TimeAxis time(problem);
  const bool in_pools = !report.pools.empty();
  const double panels =
      in_pools ? static_cast<double>(report.pools.size()) * (kPanelOfMany + kBetween) : kPanel;
  const double height = kTop + panels + kBottom;
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} "
      "{1}\" font-family=\"sans-serif\">\n",
      svg::px(kWidth), svg::px(height));
  out += svg::rectangle({0, 0}, {kWidth, height}, {.color = "#ffffff"});
  out += svg::text(
      {kLeft, 28},
      fmt::format("{}: {} buffers, peak {}, lower bound {}, {}", one_line(report.instance),
                  format_count(report.buffers), format_bytes(report.plan.peak),
                  format_bytes(report.plan.lower_bound), report.plan.planner),
      {.size = 15, .bold = true});
  if (in_pools) {
    out += pool_panels(problem, report, time);
  } else {
    const Panel panel{.bottom = kTop + kPanel, .height = kPanel, .top = report.plan.peak};
    if (!time.empty()) out += boxes(time, panel, excerpt_of(problem, report.plan, {}));
    out += levels(panel, {report.plan.peak, report.plan.lower_bound, std::nullopt});
  }
  out += svg::text({kLeft, height - 12}, "time", {.size = 12});
  return out + "</svg>\n";
}

}  // namespace tidemark
