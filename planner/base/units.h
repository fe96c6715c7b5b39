// Quantities as text. In: KiB MiB GiB TiB are powers of 1024, kB MB GB TB powers of 1000, B is
// bytes; a bare number or an ambiguous unit (K, M, G, gb, Gb) is refused with the two readings.
// Fractions are accepted when exact in bytes ("1.5 GiB"). Out: memory in binary units, three
// significant digits.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "planner/base/bytes.h"
#include "planner/base/quantity.h"

namespace tidemark {

// Why a text is not a quantity. The caller adds position and path.
struct UnitError {
  std::string message{};
  std::string hint{};
};

template <typename T>
using Parsed = std::variant<T, UnitError>;

Parsed<Bytes> parse_bytes(std::string_view text);                // "3.5 GB", "512KiB"; not negative
Parsed<BytesPerSecond> parse_bandwidth(std::string_view text);   // "4 GB/s"; positive
Parsed<OpsPerSecond> parse_compute_rate(std::string_view text);  // "1339 GOPS", "2 TOPS"; positive
Parsed<Duration> parse_duration(std::string_view text);          // "170 us", "1.5 ms"; not negative
Parsed<int64_t> parse_integer(std::string_view text);            // -?[0-9]+, no leading zero
Parsed<double> parse_ratio(std::string_view text);  // "10 %" or "0.1"; finite, not negative

std::string format_bytes(Bytes bytes);              // "3.44 GiB"; 1023 B and less in B
std::string format_bytes_exact(Bytes bytes);        // "3.44 GiB (3,693,092,864 B)"
std::string format_signed_bytes(Bytes bytes);       // "+1.20 GiB", "-312 MiB"
std::string format_bandwidth(BytesPerSecond rate);  // decimal: "3.19 GB/s"
std::string format_duration(Duration duration);     // "1.23 s", "45.6 ms", "789 us", "12 ns"
std::string format_count(int64_t count);            // "2,724,880,896"

}  // namespace tidemark
