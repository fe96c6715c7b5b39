#include "planner/engine/engine_profile.h"

#include <array>

namespace tidemark {
namespace {

constexpr std::array<FeatureKey, 6> kFeatureKeys{
    {{"weights", "weights", &RuntimeFeatures::weights},
     {"kv_types", "KV types", &RuntimeFeatures::kv_types},
     {"mmap", "mmap", &RuntimeFeatures::mmap},
     {"paging", "paging", &RuntimeFeatures::paging},
     {"spill", "spill", &RuntimeFeatures::spill},
     {"platforms", "platforms", &RuntimeFeatures::platforms}}};

}  // namespace

std::span<const FeatureKey> feature_keys() { return kFeatureKeys; }

std::string_view name_of(WeightsIn place) {
  switch (place) {
    case WeightsIn::kPrivate:
      return "private";
    case WeightsIn::kFile:
      return "file";
    case WeightsIn::kDevice:
      return "device";
  }
  return "";
}

}  // namespace tidemark
