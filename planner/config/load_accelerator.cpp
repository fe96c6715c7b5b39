#include "planner/config/load_accelerator.h"

#include "planner/config/load_common.h"

namespace tidemark {

using literals::operator""_B;

std::optional<Accelerator> read_accelerator(YamlMap& map) {
  if (!map.has("accelerator")) return std::nullopt;
  std::optional<YamlMap> part = map.map("accelerator");
  if (!part) return std::nullopt;
  const auto compute = [&](std::string_view key) {
    return part->compute_rate(key).value_or(OpsPerSecond{});
  };
  const auto link = [&](std::string_view key) {
    return part->bandwidth(key).value_or(BytesPerSecond{});
  };
  const Accelerator read{.memory = part->bytes("memory", 1_B).value_or(Bytes{}),
                         .prefill_products = compute("prefill_products"),
                         .prefill_attention = compute("prefill_attention"),
                         .decode_products = compute("decode_products"),
                         .decode_attention = compute("decode_attention"),
                         .host_attention = compute("host_attention"),
                         .to_device = link("to_device"),
                         .cache_to_host = link("cache_to_host"),
                         .hidden_to_host = link("hidden_to_host"),
                         .from_storage = link("from_storage"),
                         .cache_to_storage = link("cache_to_storage"),
                         .hidden_to_storage = link("hidden_to_storage")};
  part->finish();
  return read;
}

}  // namespace tidemark
