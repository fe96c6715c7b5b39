// What repeated measurements say: the middle, and how far they lie apart.
//
//   9, 10, 10, 11, 30: mean 14, median 10, quartiles 10 and 11, least 9, most 30; wide only by its
//   quartiles: (11 - 10) / 10 = 0.1, so the one slow run does no harm.     Checked by
//   SpreadTest.ByHand.
//
// Quartiles are the medians of the values up to the median's place and from it on. What many of
// them take together is told by the mean, in which a few slow ones count; of ten values and more it
// leaves out the tenth that is least and the tenth that is most.
#pragma once

#include <vector>

namespace tidemark {

struct Spread {
  double mean = 0.0;
  double median = 0.0;
  double least = 0.0;
  double most = 0.0;
  double lower_quartile = 0.0;
  double upper_quartile = 0.0;
  int count = 0;
};

// Of at least one value (CHECK). The median of an even number of values is the mean of the middle
// two.
Spread spread_of(std::vector<double> values);

// (upper - lower quartile) / median; 0 for a median of 0.
double width(const Spread& spread);

// Of values that are `amount` / value: a spread of times as one of rates, whose mean is that of the
// times. Values are positive (CHECK).
Spread inverse(const Spread& spread, double amount);

// Of values times `factor`.
Spread scaled(const Spread& spread, double factor);

// More than this and the machine was busy with something else.
inline constexpr double kWideSpread = 0.25;

}  // namespace tidemark
