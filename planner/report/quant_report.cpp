#include "planner/report/quant_report.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "planner/base/check.h"

namespace tidemark {
namespace {

// The lowest of a tensor's SQNRs; infinite when it is quantized nowhere.
double worst_of(const QuantTensor& tensor) {
  double worst = std::numeric_limits<double>::infinity();
  for (const QuantOutcome& outcome : tensor.outcomes) {
    if (!outcome.as_stored) worst = std::min(worst, outcome.sqnr_db);
  }
  return worst;
}

QuantTotal total_of(const QuantReport& report, size_t format) {
  QuantTotal total{.format = report.formats[format]};
  double sum = 0;
  for (const KeptTensor& kept : report.kept) total.bytes += kept.bytes;
  for (const QuantTensor& tensor : report.tensors) {
    const QuantOutcome& outcome = tensor.outcomes.at(format);
    total.bytes += outcome.bytes;
    if (outcome.as_stored) continue;
    ++total.quantized;
    if (std::isinf(outcome.sqnr_db)) {
      ++total.exact;
      continue;
    }
    sum += outcome.sqnr_db;
    if (!total.worst_sqnr_db || outcome.sqnr_db < *total.worst_sqnr_db) {
      total.worst_sqnr_db = outcome.sqnr_db;
      total.worst_tensor = tensor.name;
    }
  }
  const int64_t lossy = total.quantized - total.exact;
  if (lossy > 0) total.mean_sqnr_db = sum / static_cast<double>(lossy);
  return total;
}

}  // namespace

void add_totals(QuantReport& report) {
  report.stored = {};
  for (const KeptTensor& kept : report.kept) report.stored += kept.bytes;
  for (const QuantTensor& tensor : report.tensors) {
    check(tensor.outcomes.size() == report.formats.size(), "one outcome for each format");
    report.stored += tensor.bytes;
  }
  report.totals.clear();
  for (size_t i = 0; i < report.formats.size(); ++i) report.totals.push_back(total_of(report, i));
}

std::vector<size_t> shown_tensors(const QuantReport& report) {
  std::vector<size_t> order(report.tensors.size());
  std::iota(order.begin(), order.end(), size_t{0});
  if (report.top <= 0) return order;
  std::ranges::stable_sort(order, {}, [&](size_t i) { return worst_of(report.tensors[i]); });
  order.resize(std::min(order.size(), static_cast<size_t>(report.top)));
  return order;
}

}  // namespace tidemark
