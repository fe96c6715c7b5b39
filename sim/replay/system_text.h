// The small text files in which Linux says how it is: /proc/meminfo, /proc/self/status, those of
// control groups.
//
//   MemTotal:   24684092 kB      line_after(text, "MemTotal:") is "24684092 kB",
//   VmHWM:          8 kB         kib_after(text, "VmHWM:") is 8 KiB
//   Checked by SystemTextTest.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "planner/base/bytes.h"

namespace tidemark {

// "" for a file that cannot be read.
std::string system_text(const std::filesystem::path& file);

// What stands behind `key` on the first line that begins with it, without blanks and colons before
// it; "" where no line does.
std::string_view line_after(std::string_view text, std::string_view key);

// The whole number at the beginning; none where there is none, or a negative one ("max", "-1").
std::optional<int64_t> leading_number(std::string_view text);

// "8 kB" is 8 KiB. None for what is no number or beyond 2^50 KiB.
std::optional<Bytes> kib_in(std::string_view text);
std::optional<Bytes> kib_after(std::string_view text, std::string_view key);

}  // namespace tidemark
