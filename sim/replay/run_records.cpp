#include "sim/replay/run_records.h"

#include <algorithm>
#include <cerrno>
#include <new>
#include <system_error>
#include <utility>

#include "planner/base/check.h"

namespace tidemark {
namespace {

enum class About : int64_t { kPlace, kStep, kTokens, kEnd, kRefused, kFailed, kInterrupted };

Record about(About what) { return std::move(Record().add(static_cast<int64_t>(what))); }

Record of_step(const ReplayStep& step) {
  Record record = about(About::kStep);
  record.add(step.step).add(step.pass).add(step.op);
  record.add(step.predicted.count()).add(step.measured.count()).add(step.wall.count());
  return record;
}

void tell_tokens(const Tell& tell, const std::vector<int32_t>& tokens) {
  constexpr size_t kInARecord = 400;
  for (size_t at = 0; at < tokens.size(); at += kInARecord) {
    const size_t end = std::min(tokens.size(), at + kInARecord);
    Record record = about(About::kTokens);
    record.add(static_cast<int64_t>(end - at));
    for (size_t i = at; i < end; ++i) record.add(tokens[i]);
    tell(record);
  }
}

void add_cache(const std::optional<CacheCounts>& cache, Record& record) {
  const CacheCounts counts = cache.value_or(CacheCounts{});
  record.add(int64_t{cache ? 1 : 0}).add(counts.hits).add(counts.misses).add(counts.evictions);
}

std::optional<CacheCounts> cache_from(Record& record) {
  const bool has_cache = record.number() != 0;
  CacheCounts counts;
  counts.hits = record.number();
  counts.misses = record.number();
  counts.evictions = record.number();
  return has_cache ? std::optional(counts) : std::nullopt;
}

// Everything of the report that the run itself found out, but for steps and tokens.
void tell_end(const Tell& tell, const ReplayReport& report) {
  tell_tokens(tell, report.tokens);
  Record record = about(About::kEnd);
  record.add(int64_t{report.outputs_match ? 1 : 0});
  record.add(report.process_peak ? report.process_peak->count() : int64_t{-1});
  record.add(report.bytes_read.count()).add(report.wall.count());
  add_cache(report.measured_cache, record);
  record.add(int64_t{report.corruption ? 1 : 0});
  const Corruption corruption = report.corruption.value_or(Corruption{});
  // Four names of a model; cut so that all of them fit a record.
  for (const std::string& name :
       {corruption.pass, corruption.tensor, corruption.reader, corruption.writer}) {
    record.add(std::string_view(name).substr(0, 600));
  }
  tell(record);
}

void tell_trouble(const Tell& tell, About what, int error, const char* message) {
  Record record = about(what);
  record.add(int64_t{error}).add(message);
  tell(record);
}

}  // namespace

void tell_run(const Tell& tell, ReplayReport& report,
              const std::function<bool(const RunListener& listener)>& run) {
  const RunListener listener{.on_place =
                                 [&](const std::string& place) {
                                   Record record = about(About::kPlace);
                                   tell(record.add(place));
                                 },
                             .on_step = [&](const ReplayStep& step) { tell(of_step(step)); }};
  try {
    if (!run(listener)) {
      tell(about(About::kInterrupted));
      return;
    }
    tell_end(tell, report);
  } catch (const std::bad_alloc& none) {
    tell_trouble(tell, About::kRefused, ENOMEM, none.what());
  } catch (const std::system_error& failed) {
    const bool is_memory = failed.code() == std::errc::not_enough_memory;
    tell_trouble(tell, is_memory ? About::kRefused : About::kFailed, failed.code().value(),
                 failed.what());
  }
}

void RunRecords::take(Record record) {
  switch (static_cast<About>(record.number())) {
    case About::kPlace:
      place_ = record.text();
      if (listener_.on_place) listener_.on_place(place_);
      return;
    case About::kStep:
      return take_step(record);
    case About::kTokens:
      for (int64_t left = record.number(); left > 0; --left) {
        report_.tokens.push_back(static_cast<int32_t>(record.number()));
      }
      return;
    case About::kEnd:
      return take_end(record);
    case About::kRefused:
      report_.end = ReplayEnd::kRefused;
      ended_ = true;
      return;
    case About::kFailed:
      error_ = static_cast<int>(record.number());
      trouble_ = record.text();
      ended_ = true;
      return;
    case About::kInterrupted:
      interrupted_ = true;
      ended_ = true;
      return;
  }
  check(false, "a child tells what its parent knows");
}

void RunRecords::take_step(Record& record) {
  ReplayStep step;
  step.step = record.number();
  step.pass = record.text();
  step.op = record.text();
  step.predicted = Bytes::of(record.number());
  step.measured = Bytes::of(record.number());
  step.wall = Duration::ns(record.number());
  report_.measured_peak = std::max(report_.measured_peak, step.measured);
  report_.steps.push_back(std::move(step));
  if (listener_.on_step) listener_.on_step(report_.steps.back());
}

void RunRecords::take_end(Record& record) {
  ended_ = true;
  report_.outputs_match = record.number() != 0;
  const int64_t peak = record.number();
  if (peak >= 0) report_.process_peak = Bytes::of(peak);
  report_.bytes_read = Bytes::of(record.number());
  report_.wall = Duration::ns(record.number());
  report_.measured_cache = cache_from(record);
  if (record.number() == 0) return;
  Corruption corruption;
  corruption.pass = record.text();
  corruption.tensor = record.text();
  corruption.reader = record.text();
  corruption.writer = record.text();
  report_.corruption = std::move(corruption);
}

bool RunRecords::finish(const ChildEnd& end, const std::optional<Bytes>& limit) {
  if (end.stopped || interrupted_) return false;
  if (limit) {
    report_.limit = ReplayLimit{
        .limit = *limit, .mechanism = end.mechanism, .counts = end.counts, .highest = end.highest};
  }
  if (error_ != 0) throw std::system_error(error_, std::generic_category(), trouble_);
  if (!ended_) report_.end = ReplayEnd::kKilled;
  if (report_.end != ReplayEnd::kCompleted) {
    // After the last step nothing more is said; the logits of its pass are compared.
    const bool all_done =
        !report_.steps.empty() && std::ssize(report_.steps) == report_.planned_steps;
    report_.end_place = all_done ? "comparing outputs" : place_;
    report_.outputs_match = false;
  }
  return true;
}

}  // namespace tidemark
