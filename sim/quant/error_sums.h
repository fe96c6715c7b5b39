// What a format loses of the values it stores, summed up piece by piece.
//
//   SQNR = 10 log10(sum x^2 / sum (x - y)^2) dB    RMS error = sqrt(sum (x - y)^2 / n)
//   cosine = sum xy / sqrt(sum x^2 sum y^2)        y is what comes back
//
//   x = {3, 4}, y = {3, 3}: 10 log10(25 / 1) = 13.98 dB, largest error 1, RMS 0.7071,
//   cosine 21 / sqrt(25 x 18) = 0.98995.   Checked by ErrorSumsTest.ByHand.
//
// No error at all is an infinite SQNR, also of zeros. A cosine with zeros is undefined.
// Sums are in double, in a fixed order: the same values in the same pieces give the same bits.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace tidemark {

struct ErrorSums {
  int64_t count = 0;
  double signal = 0;    // sum x^2
  double restored = 0;  // sum y^2
  double product = 0;   // sum xy
  double noise = 0;     // sum (x - y)^2
  double largest = 0;   // max |x - y|

  // Equal lengths; finite values.
  void add(std::span<const float> values, std::span<const float> restored_values);
};

double sqnr_db(const ErrorSums& sums);  // infinite without an error
double rms_error(const ErrorSums& sums);
std::optional<double> cosine(const ErrorSums& sums);

}  // namespace tidemark
