#include "sim/quant/quantize_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <mutex>
#include <utility>

#include "planner/base/checked.h"
#include "planner/base/units.h"
#include "sim/quant/measure.h"

namespace tidemark {
namespace {

std::string in_lower_case(std::string name) {
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return name;
}

// One matrix on its way into the report.
struct Work {
  const FileTensor* tensor = nullptr;
  Measurement measured{};
};

// Stops early, once any tensor could not be read.
class Quantizer {
 public:
  Quantizer(const TensorFile& file, const QuantPlan& plan, const QuantizeOptions& options)
      : file_(file), plan_(plan), options_(options) {}

  Result<QuantizeOutcome> run(const std::string& name);

 private:
  // A matrix, or why it is none.
  struct Entry {
    const FileTensor* tensor = nullptr;
    std::optional<std::string> reason{};
    size_t work = 0;  // without a reason
  };

  void sort_out();
  void measure_all();
  void measure_one(Work& work);
  void tell(int64_t bytes);
  std::vector<QuantScheme> schemes_for(const FileTensor& tensor) const;
  QuantTensor outcome_of(const Work& work) const;
  QuantReport report(const std::string& name) const;

  const TensorFile& file_;
  const QuantPlan& plan_;
  const QuantizeOptions& options_;
  std::vector<Entry> entries_{};
  std::vector<Work> work_{};
  int64_t left_out_ = 0;
  int64_t reads_ = 1;   // of each matrix
  int64_t total_ = 0;   // bytes, as often as they are read
  std::mutex mutex_{};  // of done_ and of the callback
  int64_t done_ = 0;
  std::atomic<bool> failed_{false};
  std::atomic<bool> stopped_{false};
};

void Quantizer::sort_out() {
  if (std::ranges::any_of(plan_.schemes, is_per_tensor)) reads_ = 2;
  for (const FileTensor& tensor : file_.tensors) {
    if (!plan_.pattern.found_in(in_lower_case(tensor.name))) {
      ++left_out_;
      continue;
    }
    Entry entry{.tensor = &tensor, .reason = why_kept(tensor), .work = work_.size()};
    if (!entry.reason) {
      work_.push_back({.tensor = &tensor});
      total_ = checked_add(total_, checked_mul(tensor.bytes.count(), reads_));
    }
    entries_.push_back(std::move(entry));
  }
}

std::vector<QuantScheme> Quantizer::schemes_for(const FileTensor& tensor) const {
  std::vector<QuantScheme> schemes;
  std::ranges::copy_if(plan_.schemes, std::back_inserter(schemes), [&](const QuantScheme& scheme) {
    return takes_rows_of(scheme.dtype, tensor.columns());
  });
  return schemes;
}

void Quantizer::measure_one(Work& work) {
  const FileTensor& tensor = *work.tensor;
  RowReader reader(file_);
  int64_t left = tensor.bytes.count() * reads_;
  const int64_t row = tensor.bytes.count() / tensor.rows();
  const RowSource source{.rows = tensor.rows(),
                         .columns = tensor.columns(),
                         .read = [&](int64_t first, std::span<float> values) {
                           auto failure = reader.read(tensor, first, values);
                           const int64_t read = row * (std::ssize(values) / tensor.columns());
                           left -= read;
                           tell(read);
                           return failure;
                         }};
  const auto stop = [this] {
    if (options_.stop && options_.stop()) stopped_ = true;
    return stopped_ || failed_;
  };
  work.measured = measure(source, schemes_for(tensor), {.rule = plan_.rule, .stop = stop});
  if (work.measured.failure) failed_ = true;
  tell(left);
}

void Quantizer::tell(int64_t bytes) {
  if (bytes == 0) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  done_ += bytes;
  if (options_.progress) options_.progress(done_, total_);
}

void Quantizer::measure_all() {
  std::vector<std::function<void()>> tasks;
  tasks.reserve(work_.size());
  for (Work& work : work_) {
    tasks.emplace_back([this, &work] { measure_one(work); });
  }
  if (options_.run_all) return options_.run_all(tasks);
  for (const std::function<void()>& task : tasks) task();
}

QuantTensor Quantizer::outcome_of(const Work& work) const {
  const FileTensor& tensor = *work.tensor;
  QuantTensor shown{
      .name = tensor.name, .shape = tensor.shape, .type = tensor.type, .bytes = tensor.bytes};
  auto errors = work.measured.errors.begin();
  for (const QuantScheme& scheme : plan_.schemes) {
    if (!takes_rows_of(scheme.dtype, tensor.columns())) {
      shown.outcomes.push_back({.bytes = tensor.bytes, .as_stored = true});
      continue;
    }
    shown.outcomes.push_back({.bytes = matrix_bytes(scheme.dtype, tensor.columns(), tensor.rows()),
                              .sqnr_db = sqnr_db(*errors),
                              .largest_error = errors->largest,
                              .rms_error = rms_error(*errors),
                              .cosine = cosine(*errors)});
    ++errors;
  }
  return shown;
}

QuantReport Quantizer::report(const std::string& name) const {
  QuantReport report{.file = name,
                     .file_format = file_.format,
                     .granularity = plan_.granularity,
                     .range = plan_.range,
                     .asymmetric = plan_.asymmetric,
                     .left_out = left_out_,
                     .notes = plan_.notes};
  if (file_.parts.size() > 1) report.file_format += fmt::format(", {} files", file_.parts.size());
  for (const QuantScheme& scheme : plan_.schemes) {
    report.formats.emplace_back(name_of(scheme.dtype));
  }
  for (const Entry& entry : entries_) {
    std::optional<std::string> reason = entry.reason;
    if (!reason && work_[entry.work].measured.not_finite > 0) {
      reason = "NaN or infinite values";
      const int64_t count = work_[entry.work].measured.not_finite;
      report.notes.push_back(fmt::format("{} has {} NaN or infinite {} and was not measured.",
                                         entry.tensor->name, format_count(count),
                                         count == 1 ? "value" : "values"));
    }
    if (!reason) {
      report.tensors.push_back(outcome_of(work_[entry.work]));
      continue;
    }
    report.kept.push_back({.name = entry.tensor->name,
                           .shape = entry.tensor->shape,
                           .type = entry.tensor->type,
                           .bytes = entry.tensor->bytes,
                           .reason = std::move(*reason)});
  }
  if (report.tensors.empty()) report.notes.emplace_back("No matrix here can be quantized.");
  add_totals(report);
  return report;
}

Result<QuantizeOutcome> Quantizer::run(const std::string& name) {
  sort_out();
  if (entries_.empty() && left_out_ > 0) {
    return one_error("--tensors",
                     fmt::format("{} finds none of the {} tensors", in_quotes(plan_.pattern.text()),
                                 format_count(left_out_)),
                     "`tidemark quant FILE` without it shows their names");
  }
  measure_all();
  for (const Work& work : work_) {
    if (work.measured.failure) return *work.measured.failure;
  }
  if (stopped_) return QuantizeOutcome{.interrupted = true};
  return QuantizeOutcome{.report = report(name)};
}

}  // namespace

Result<QuantizeOutcome> quantize_file(const std::string& name, const TensorFile& file,
                                      const QuantPlan& plan, const QuantizeOptions& options) {
  return Quantizer(file, plan, options).run(name);
}

}  // namespace tidemark
