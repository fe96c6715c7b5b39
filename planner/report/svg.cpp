#include "planner/report/svg.h"

#include <fmt/core.h>

#include "planner/report/escape.h"
#include "planner/report/layout.h"

namespace tidemark::svg {
namespace {

constexpr double kWidestLetter = 0.62;  // of the font size, on average over a line

std::string font_attributes(const Font& font) {
  return fmt::format(R"(font-size="{}" text-anchor="{}"{})", px(font.size), font.anchor,
                     font.bold ? R"( font-weight="bold")" : "");
}

std::string fill_attributes(const Fill& fill) {
  const std::string opacity =
      fill.opacity < 1 ? fmt::format(" fill-opacity=\"{}\"", px(fill.opacity)) : "";
  return fmt::format("fill=\"{}\"{}", fill.color, opacity);
}

// "M10 20H30V40": corners that do not move on the picture are left out.
std::string step_path(const std::vector<Point>& corners, char first) {
  std::string path;
  std::string last_x;
  std::string last_y;
  for (const Point& corner : corners) {
    const std::string x = px(corner.x);
    const std::string y = px(corner.y);
    if (path.empty()) {
      path += first + x + " " + y;
    } else {
      if (x != last_x) path += "H" + x;
      if (y != last_y) path += "V" + y;
    }
    last_x = x;
    last_y = y;
  }
  return path;
}

}  // namespace

std::string px(double value) {
  std::string text = fmt::format("{:.2f}", value);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

double text_width(std::string_view text, double size) {
  return kWidestLetter * size * display_width(text);
}

std::string fitted(std::string_view text, double size, double width) {
  return shortened(text, static_cast<int>(width / (kWidestLetter * size)));
}

std::string text(Point at, std::string_view words, Font font) {
  return fmt::format("<text x=\"{}\" y=\"{}\" fill=\"{}\" {}>{}</text>\n", px(at.x), px(at.y),
                     font.color, font_attributes(font), xml_text(words));
}

std::string plated_text(Point at, std::string_view words, Font font) {
  const double width = text_width(words, font.size) + 4;
  double left = at.x - width / 2;
  if (font.anchor == "start") left = at.x - 3;
  if (font.anchor == "end") left = at.x - width + 3;
  return fmt::format(
             "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"3\" fill=\"#ffffff\" "
             "fill-opacity=\"0.82\"/>\n",
             px(left), px(at.y - font.size), px(width), px(font.size + 4)) +
         text(at, words, font);
}

std::string line(Point from, Point to, Stroke stroke) {
  const std::string dashes =
      stroke.dashes.empty() ? "" : fmt::format(" stroke-dasharray=\"{}\"", stroke.dashes);
  return fmt::format("<path d=\"M{} {}L{} {}\" stroke=\"{}\" stroke-width=\"{}\"{}/>\n", px(from.x),
                     px(from.y), px(to.x), px(to.y), stroke.color, px(stroke.width), dashes);
}

std::string rectangle(Point corner, Point size, Fill fill) {
  return fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" {}/>\n", px(corner.x),
                     px(corner.y), px(size.x), px(size.y), fill_attributes(fill));
}

std::string triangle(Point tip, std::string_view fill) {
  return fmt::format("<path d=\"M{} {}l5 9h-10Z\" fill=\"{}\"/>\n", px(tip.x), px(tip.y), fill);
}

std::string ring(Point centre, double radius, Stroke stroke) {
  return fmt::format(
      "<circle cx=\"{}\" cy=\"{}\" r=\"{}\" fill=\"#ffffff\" stroke=\"{}\" stroke-width=\"{}\"/>\n",
      px(centre.x), px(centre.y), px(radius), stroke.color, px(stroke.width));
}

std::string step_area(const std::vector<Point>& upper, const std::vector<Point>& lower, Fill fill) {
  const std::vector<Point> back(lower.rbegin(), lower.rend());
  return fmt::format("<path {} d=\"{}{}Z\"/>\n", fill_attributes(fill), step_path(upper, 'M'),
                     step_path(back, 'L'));
}

}  // namespace tidemark::svg
