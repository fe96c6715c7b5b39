// The few SVG elements a chart needs, as text. Every name passes xml_text(); every number is
// written the same way on every machine.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tidemark::svg {

// "78", "81.5": at most two decimals.
std::string px(double value);

// Estimates for the widest of the usual sans-serif faces, so that nothing is clipped where another
// one is used.
double text_width(std::string_view text, double size);
std::string fitted(std::string_view text, double size, double width);

struct Font {
  double size = 12;
  std::string_view color = "#1f2933";
  std::string_view anchor = "start";
  bool bold = false;
};

struct Point {
  double x = 0;
  double y = 0;
};

std::string text(Point at, std::string_view words, Font font = {});
// Text over coloured areas, on a light plate of its own.
std::string plated_text(Point at, std::string_view words, Font font);

struct Stroke {
  std::string_view color = "#1f2933";
  double width = 1;
  std::string_view dashes{};  // "7 4"; empty = solid
};
std::string line(Point from, Point to, Stroke stroke);

struct Fill {
  std::string_view color = "#1f2933";
  double opacity = 1;
};
std::string rectangle(Point corner, Point size, Fill fill);
// Its tip at `tip`, pointing up.
std::string triangle(Point tip, std::string_view fill);
std::string ring(Point centre, double radius, Stroke stroke);

// The area between two edges whose corners are joined by horizontal and vertical strokes only.
std::string step_area(const std::vector<Point>& upper, const std::vector<Point>& lower, Fill fill);

}  // namespace tidemark::svg
