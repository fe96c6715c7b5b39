// What `tidemark quant` says of a file of weights: the size of each matrix in other formats against
// the error it takes there.
//
//   w, 64 x 64, BF16, 8,192 B   int8: 4,224 B, SQNR 42.25 dB    Q4_0: 2,304 B, 18.50 dB
//   odd, 2 x 33, F32, 264 B     int8: 70 B, 40.75 dB            Q4_0: as stored, 33 fill no blocks
//   norm, 64, F32, 256 B        kept as stored: a vector
//   all, stored 8,712 B         int8: 4,550 B, mean 41.5 dB     Q4_0: 2,824 B, mean 18.5 dB
//   Checked by QuantReportTest.TotalsByHand.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "planner/base/bytes.h"
#include "planner/report/writers.h"

namespace tidemark {

// One matrix in one format.
struct QuantOutcome {
  Bytes bytes{};             // as the planner counts it
  bool as_stored = false;    // the format does not take rows of this length: not quantized
  double sqnr_db = 0;        // infinite: no error at all
  double largest_error = 0;  // of one value
  double rms_error = 0;
  std::optional<double> cosine{};  // none with a vector of zeros
};

struct QuantTensor {
  std::string name{};
  std::vector<int64_t> shape{};          // outermost first
  std::string type{};                    // as the file calls it
  Bytes bytes{};                         // as stored
  std::vector<QuantOutcome> outcomes{};  // one for each format, in the order of `formats`
};

struct KeptTensor {
  std::string name{};
  std::vector<int64_t> shape{};
  std::string type{};
  Bytes bytes{};
  std::string reason{};
};

// The file in one format: what is quantized, and the rest as stored.
struct QuantTotal {
  std::string format{};
  Bytes bytes{};
  int64_t quantized = 0;  // matrices
  int64_t exact = 0;      // of these, without any error
  // Of those with an error; the mean is that of the decibels. None: there is no such matrix.
  std::optional<double> worst_sqnr_db{};
  std::string worst_tensor{};
  std::optional<double> mean_sqnr_db{};
};

struct QuantReport {
  std::string file{};
  std::string file_format{};  // "safetensors"
  // Of int8 and int4: "tensor", "channel", "group=64". Empty: there are no integer formats, or some
  // whose names say it.
  std::string granularity{};
  std::string range{};      // "minmax", "percentile=99.9", "mse"; empty: no integer formats
  bool asymmetric = false;  // int8 and int4 have a zero point
  std::vector<std::string> formats{};  // names of the planner
  std::vector<QuantTensor> tensors{};  // in the order of the file
  std::vector<KeptTensor> kept{};      // in the order of the file
  int64_t left_out = 0;                // tensors whose names --tensors does not find
  Bytes stored{};                      // of `tensors` and `kept`
  std::vector<QuantTotal> totals{};    // one for each format
  int64_t top = 0;                     // show this many, the worst first; 0: all, in file order
  std::vector<std::string> notes{};
};

// Fills in `stored` and `totals` from the tensors.
void add_totals(QuantReport& report);

// Which tensors are shown, by index: all, or the `top` with the lowest SQNR in any format.
std::vector<size_t> shown_tensors(const QuantReport& report);

std::string to_text(const QuantReport& report, TextStyle style = {});
std::string to_json(const QuantReport& report);  // tidemark.quant/1
std::string to_csv(const QuantReport& report);   // one row for each tensor and format
std::string to_markdown(const QuantReport& report);

}  // namespace tidemark
