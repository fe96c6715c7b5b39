// The parts of a report that every kind of run fills alike.
#pragma once

#include <optional>
#include <vector>

#include "planner/report/report.h"
#include "sim/core/trace.h"
#include "sim/device/device_model.h"
#include "sim/strategy/memory_ledger.h"
#include "sim/strategy/system_watch.h"

namespace tidemark {

// Settings, model, device, engine, strategy.
void report_plan(const Scenario& scenario, const MemoryPlan& plan, SimReport& report);

// Nearest rank; nothing of no times.
std::optional<IntervalFacts> intervals_of(std::vector<Duration> times);

// Peak, curve, outcome and events; `report.end` and `report.device` are there, and among its events
// those of loading. The first layer and the first token are added. Takes the curve.
void report_memory(MemoryLedger& ledger, const SystemWatch& watch,
                   const std::vector<WeightUnit>& units, SimReport& report);

// What ops waited for, and what the run drew if the device tells; `end` and `stages.compute` are
// there. `read`: from storage; what a page cache served is not.
void report_spent(const OpCost& spent, Bytes read, const DeviceSpec& device, SimReport& report);

// A counter for each part of memory, where it changes.
void trace_memory(const std::vector<CurvePoint>& curve, Trace& trace);
// States of memory, notices and the end of the run, as instants.
void trace_events(const std::vector<SimEvent>& events, Trace& trace);

}  // namespace tidemark
