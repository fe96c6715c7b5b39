#include "planner/capacity/device_energy.h"

#include <limits>
#include <stdexcept>

namespace tidemark {
namespace {

__extension__ using Wide = __int128;

constexpr int64_t kFemto = 1'000;              // of a picojoule
constexpr int64_t kPerMicrojoule = 1'000'000;  // picojoules

int64_t narrow(Wide value) {
  if (value > std::numeric_limits<int64_t>::max()) throw std::overflow_error("energy");
  return static_cast<int64_t>(value);
}

int64_t microjoules(Wide picojoules) {
  return narrow((picojoules + kPerMicrojoule / 2) / kPerMicrojoule);
}

Wide of_bytes(Bytes bytes, int64_t femtojoules) {
  return static_cast<Wide>(bytes.count()) * femtojoules / kFemto;
}

// A milliwatt for a nanosecond is a picojoule.
Wide of_time(Duration time, int64_t milliwatts) {
  return static_cast<Wide>(time.count()) * milliwatts;
}

}  // namespace

int64_t EnergyFacts::total() const {
  return checked_add(checked_add(compute_microjoules, memory_microjoules),
                     checked_add(storage_microjoules, idle_microjoules));
}

int64_t operations_picojoules(const DeviceEnergy& energy, std::optional<ValueType> type,
                              int64_t operations) {
  if (!type) return 0;
  for (const OperationEnergy& row : energy.operations) {
    if (row.type != *type) continue;
    return narrow((static_cast<Wide>(operations) * row.femtojoules + kFemto - 1) / kFemto);
  }
  return 0;
}

EnergyFacts energy_of(const DeviceEnergy& energy, const EnergyUse& use) {
  return {.compute_microjoules = microjoules(use.operations_picojoules +
                                             of_time(use.computing, energy.computing_milliwatts)),
          .memory_microjoules = microjoules(of_bytes(use.moved, energy.memory_femtojoules)),
          .storage_microjoules = microjoules(of_bytes(use.read, energy.storage_femtojoules)),
          .idle_microjoules = microjoules(of_time(use.whole, energy.idle_milliwatts))};
}

}  // namespace tidemark
