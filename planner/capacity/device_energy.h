// What a device draws, where figures for it are known, and what that makes of a run.
//
//   compute  = operations x energy of one, by type (the types of compute_rate.h; of a type that
//              has no row: none) + `computing` watts while ops run
//   memory   = bytes moved by ops x energy of a byte
//   storage  = bytes read from it x energy of a byte; what a page cache served is not
//   idle     = `idle` watts from the start of the run to its end
//
//   0.5 pJ an operation of int8, 2 W computing; 20 pJ a byte of memory, 60 pJ of storage; 0.25 W:
//   10^12 operations and 3 s of ops: 0.5 + 6 J; 10^10 B moved: 0.2 J; 10^9 B read: 0.06 J; a run of
//   4 s: 1 J. In all 7.76 J. Checked by DeviceEnergyTest.WorkedInTheHeader.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "planner/base/bytes.h"
#include "planner/base/quantity.h"
#include "planner/capacity/compute_rate.h"

namespace tidemark {

// Thousandths of a picojoule: an operation takes from about 0.1 pJ on.
struct OperationEnergy {
  ValueType type = ValueType::kInt8;
  int64_t femtojoules = 0;
  bool operator==(const OperationEnergy&) const = default;
};

struct DeviceEnergy {
  std::vector<OperationEnergy> operations{};
  int64_t memory_femtojoules = 0;   // a byte
  int64_t storage_femtojoules = 0;  // a byte
  int64_t computing_milliwatts = 0;
  int64_t idle_milliwatts = 0;
  bool operator==(const DeviceEnergy&) const = default;
};

// What a run did.
struct EnergyUse {
  int64_t operations_picojoules = 0;
  Bytes moved{};
  Bytes read{};  // from storage
  Duration computing{};
  Duration whole{};
};

struct EnergyFacts {
  int64_t compute_microjoules = 0;
  int64_t memory_microjoules = 0;
  int64_t storage_microjoules = 0;
  int64_t idle_microjoules = 0;
  int64_t total() const;
};

// Rounded up; none of an unknown type. Throws std::overflow_error past 9.2 MJ.
int64_t operations_picojoules(const DeviceEnergy& energy, std::optional<ValueType> type,
                              int64_t operations);

// Each part to the nearest microjoule. Throws std::overflow_error past 63 bits.
EnergyFacts energy_of(const DeviceEnergy& energy, const EnergyUse& use);

}  // namespace tidemark
