// quantization_config (and MLX's "quantization") -> the format of the matrices.
//
//   {"quant_method": "gptq", "bits": 4, "group_size": 128}   gptq4_g128
//   {"quant_method": "fp8", "weight_block_size": [128, 128]} fp8_e4m3_b128
//   {"group_size": 64, "bits": 4}                            mlx4_g64
// Checked by HfQuantizationTest.
#pragma once

#include "planner/import/hf/config_reader.h"
#include "planner/model/quantization.h"

namespace tidemark {

// As-stored when the file says nothing. A method, a width or a group that no format here has is a
// problem that names it.
Quantization read_hf_quantization(ConfigReader& reader);

}  // namespace tidemark
