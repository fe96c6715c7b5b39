#include "planner/engine/engine_profile.h"

namespace tidemark {

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
