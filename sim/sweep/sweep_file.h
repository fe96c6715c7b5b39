// A sweep file: what is fixed, and what varies.
//
//   schema: sweep/1
//   description: MiniCPM-2B on three phones
//   settings:
//     model: minicpm-2b
//   axes:
//     quant: [int4, int8]
//     ctx_size: 512-65536*2
//
// A list in brackets and a text with commas mean the same. Axes run in the order written, the last
// one fastest.
#pragma once

#include "sim/sweep/grid.h"

namespace tidemark {

// The texts of both mappings, settings first. All problems of the file at once: an unknown key, a
// key in both mappings, a fixed setting of several values. `file` is only used in positions.
Result<GridTexts> parse_sweep(const std::string& file, std::string_view text);

// By name (configs/sweeps) or path.
Result<GridTexts> load_sweep(std::string_view name_or_path);

}  // namespace tidemark
