#include "planner/import/hf/hf_quantization.h"

#include <fmt/core.h>

#include <algorithm>

#include "planner/base/diagnostic.h"

namespace tidemark {
namespace {

// Bits and group of a format's name: 4 and 128 -> "gptq4_g128", -1 -> "gptq4_row".
std::string grouped_name(std::string_view stem, int64_t bits, int64_t group) {
  return group == -1 ? fmt::format("{}{}_row", stem, bits)
                     : fmt::format("{}{}_g{}", stem, bits, group);
}

Quantization named(ConfigReader& config, std::string_view key, const std::string& name) {
  const std::optional<DType> format = parse_dtype(name);
  if (format) return {.kind = QuantKind::kFormat, .format = *format};
  config.refuse(key, fmt::format("no format is known that would be {}", in_quotes(name)));
  return {};
}

constexpr IntegerRange kBits{1, 16};
constexpr IntegerRange kGroup{-1, 1 << 20};

Quantization read_grouped(ConfigReader& config, std::string_view stem) {
  const int64_t bits = config.integer({"bits", "w_bit", "nbits"}, kBits);
  const int64_t group = config.integer({"group_size", "q_group_size"}, kGroup);
  return named(config, "bits", grouped_name(stem, bits, group));
}

// MLX names no method. Members that are objects pack single layers in another way.
Quantization read_mlx(ConfigReader& config) {
  const std::string mode = config.text({"mode"}, "affine", "MLX's default");
  if (mode != "affine") {
    config.refuse("mode", fmt::format("unknown mode {}", in_quotes(mode)));
    return {};
  }
  const auto& items = config.value().items;
  if (std::ranges::any_of(items,
                          [](const auto& item) { return item.kind == ConfigKind::kObject; })) {
    config.warn("Some layers are packed in another way; all are taken to be packed as the rest.");
  }
  return read_grouped(config, "mlx");
}

Quantization read_bitsandbytes(ConfigReader& config) {
  const bool in_8 = config.boolean({"load_in_8bit", "_load_in_8bit"}, false);
  const bool in_4 = config.boolean({"load_in_4bit", "_load_in_4bit"}, false);
  if (in_8 == in_4) {
    config.refuse("load_in_8bit", "exactly one of load_in_8bit and load_in_4bit must be true");
    return {};
  }
  if (in_8) return {.kind = QuantKind::kFormat, .format = DType::kBnbInt8};
  const std::string type = config.text({"bnb_4bit_quant_type"}, "fp4");
  const bool nested = config.boolean({"bnb_4bit_use_double_quant"}, false);
  return named(config, "bnb_4bit_quant_type", fmt::format("bnb_{}{}", type, nested ? "_dq" : ""));
}

Quantization read_fp8(ConfigReader& config) {
  const std::vector<int64_t> block = config.integers("weight_block_size", kWidths);
  const std::string kind = config.text({"fmt"}, "e4m3");
  if (block.empty()) return named(config, "fmt", "fp8_" + kind);
  if (block != std::vector<int64_t>{128, 128}) {
    config.refuse("weight_block_size", "only blocks of 128 x 128 are known");
    return {};
  }
  return named(config, "fmt", fmt::format("fp8_{}_b128", kind));
}

// The weights of the first group; a second one would be a mix.
Quantization read_compressed_tensors(ConfigReader& config) {
  std::optional<ConfigReader> groups = config.object("config_groups");
  if (!groups || groups->value().items.size() != 1) {
    config.refuse("config_groups", "only one group of tensors is known");
    return {};
  }
  std::optional<ConfigReader> group = groups->object(groups->value().keys.front());
  std::optional<ConfigReader> weights = group ? group->object("weights") : std::nullopt;
  if (!weights) {
    config.refuse("config_groups", "says nothing of weights");
    return {};
  }
  const std::string type = weights->text({"type"}, "int");
  const int64_t bits = weights->integer({"num_bits"}, kBits, 8);
  const std::string strategy = weights->text({"strategy"}, "tensor");
  const bool symmetric = weights->boolean({"symmetric"}, true);
  if (type == "float" && bits == 8 && strategy == "tensor")
    return named(*weights, "type", "fp8_e4m3");
  const std::string zero = symmetric ? "" : "_zp";
  if (type == "int" && strategy == "group") {
    const int64_t size = weights->integer({"group_size"}, {1, 1 << 20});
    return named(*weights, "group_size", fmt::format("int{}_g{}{}", bits, size, zero));
  }
  if (type == "int" && strategy == "tensor") {
    return named(*weights, "num_bits", fmt::format("int{}_tensor{}", bits, zero));
  }
  if (type == "int" && strategy == "channel") {
    return named(*weights, "num_bits",
                 symmetric ? fmt::format("int{}", bits) : fmt::format("int{}_channel_zp", bits));
  }
  weights->refuse("strategy", fmt::format("{} of {} bits by {} is unknown", in_quotes(type), bits,
                                          in_quotes(strategy)));
  return {};
}

Quantization read_method(ConfigReader& config) {
  const std::string method = config.text({"quant_method"}, "", "MLX names none");
  if (method.empty()) return read_mlx(config);
  if (method == "gptq") return read_grouped(config, "gptq");
  if (method == "awq") return read_grouped(config, "awq");
  if (method == "bitsandbytes") return read_bitsandbytes(config);
  if (method == "fp8") return read_fp8(config);
  if (method == "mxfp4") return {.kind = QuantKind::kFormat, .format = DType::kMxfp4};
  if (method == "compressed-tensors") return read_compressed_tensors(config);
  config.refuse("quant_method", fmt::format("unknown method {}", in_quotes(method)),
                "gptq, awq, bitsandbytes, fp8, mxfp4, compressed-tensors, or MLX's quantization");
  return {};
}

}  // namespace

Quantization read_hf_quantization(ConfigReader& reader) {
  for (const std::string_view key : {"quantization_config", "quantization"}) {
    if (!reader.has({key})) continue;
    std::optional<ConfigReader> config = reader.object(key);
    return config ? read_method(*config) : Quantization{};
  }
  return {};
}

}  // namespace tidemark
