#include "sim/kernels/conv/conv_reference.h"

#include <Eigen/Core>

#include "planner/base/check.h"
#include "sim/kernels/rows.h"

namespace tidemark {
namespace {

using Matrix = Eigen::Matrix<int64_t, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Stored =
    Eigen::Map<const Eigen::Matrix<int8_t, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;

// [taps, C]: real values in steps of the scale.
Matrix values_under_window(const ImageShape& in, std::span<const int8_t> x, const WindowGrid& grid,
                           int64_t pixel, int32_t zero_point) {
  const int64_t image = pixel / (grid.y.out * grid.x.out);
  const int64_t oy = pixel / grid.x.out % grid.y.out;
  const int64_t ox = pixel % grid.x.out;
  Matrix values = Matrix::Zero(grid.y.count * grid.x.count, in.channels);
  for (int64_t tap = 0; tap < values.rows(); ++tap) {
    const int64_t iy = grid.y.place(oy, tap / grid.x.count);
    const int64_t ix = grid.x.place(ox, tap % grid.x.count);
    if (iy < 0 || iy >= in.height || ix < 0 || ix >= in.width) continue;
    const auto stored = row_of(x, (image * in.height + iy) * in.width + ix, in.channels);
    values.row(tap) =
        Stored(stored.data(), 1, in.channels).cast<int64_t>().array() - int64_t{zero_point};
  }
  return values;
}

// Calls sums(values under a window) -> vector of O sums for every output pixel.
template <typename Sums>
void for_each_pixel(const ImageShape& in, std::span<const int8_t> x, const Filters& filters,
                    const ConvSettings& settings, int64_t outputs, std::span<int8_t> out,
                    Sums sums) {
  const WindowGrid grid = window_grid(in, settings.window);
  const int64_t pixels = in.batch * grid.y.out * grid.x.out;
  check_filters(filters, settings.layer, outputs);
  check_shape(x.size(), {in.batch, in.height, in.width, in.channels}, "x is [N, H, W, C]");
  check_shape(out.size(), {pixels, outputs}, "out is [N, OH, OW, O]");
  for (int64_t p = 0; p < pixels; ++p) {
    const Matrix values = values_under_window(in, x, grid, p, settings.layer.in.zero_point);
    const Matrix result = sums(values);
    for (int64_t o = 0; o < outputs; ++o) {
      row_of(out, p, outputs)[static_cast<size_t>(o)] =
          channel_output(filters, settings.layer, o)(result(0, o));
    }
  }
}

}  // namespace

void conv2d_reference(const ImageShape& in, std::span<const int8_t> x, const Filters& filters,
                      const ConvSettings& settings, std::span<int8_t> out) {
  const int64_t columns = settings.window.height * settings.window.width * in.channels;
  const int64_t outputs = std::ssize(filters.values) / columns;
  const Matrix matrix = Stored(filters.values.data(), outputs, columns).cast<int64_t>();
  for_each_pixel(in, x, filters, settings, outputs, out, [&](const Matrix& values) {
    return Matrix(values.reshaped<Eigen::RowMajor>().transpose() * matrix.transpose());
  });
}

void depthwise_conv2d_reference(const ImageShape& in, std::span<const int8_t> x,
                                const Filters& filters, const ConvSettings& settings,
                                std::span<int8_t> out) {
  const int64_t taps = settings.window.height * settings.window.width;
  const int64_t outputs = std::ssize(filters.values) / taps;
  const int64_t multiplier = outputs / in.channels;
  const Matrix matrix = Stored(filters.values.data(), taps, outputs).cast<int64_t>();
  for_each_pixel(in, x, filters, settings, outputs, out, [&](const Matrix& values) {
    Matrix sums(1, outputs);
    for (int64_t o = 0; o < outputs; ++o) {
      sums(0, o) = values.col(o / multiplier).dot(matrix.col(o));
    }
    return sums;
  });
}

}  // namespace tidemark
