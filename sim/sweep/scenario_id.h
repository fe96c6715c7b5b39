// What makes two scenarios the same: their canonical text, and its hash as a short name for it.
//
// The canonical text holds everything a result can depend on, one `key=value` a line: the
// dimensions of the model, the numbers of device and engine, every resolved setting, and this
// program's version. Where a value came from, file names and descriptions are left out. The id is
// the 64-bit FNV-1a of the text in 16 hex digits; a store keeps the text beside the id, so two
// texts with one id are noticed and never taken for each other.
//
//   fnv1a_64("") = cbf29ce484222325   fnv1a_64("a") = af63dc4c8601ec8c   fnv1a_64("foobar") =
//   85944171f73967e8 Published test vectors of FNV-1a. Checked by ScenarioIdTest.FnvVectors.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "planner/config/settings.h"

namespace tidemark {

uint64_t fnv1a_64(std::string_view text);

// 16 hex digits.
std::string hex_id(uint64_t hash);

std::string canonical_text(const Scenario& scenario);

// Of settings that do not resolve: what was written. Never equal to a canonical_text().
std::string unresolved_text(const SettingMap& settings);

}  // namespace tidemark
