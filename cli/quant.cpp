// tidemark quant FILE: every matrix of a file of weights in other formats, size against error.
#include "quant.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>

#include "interrupt.h"
#include "progress_line.h"
#include "rendered.h"
#include "stated.h"
#include "threads.h"

namespace tidemark::cli {
namespace {

Result<QuantizeOutcome> quantize(const QuantCommand& command) {
  const std::vector<NamedFile> outputs{{"-o", command.output.file}};
  if (auto refused = overwrites(outputs, {{"FILE", command.file}})) return std::move(*refused);
  const Result<QuantPlan> plan = read_quant_request(command.request);
  if (!plan) return plan.diagnostics();
  const Result<TensorFile> file = read_tensor_file(command.file);
  if (!file) return file.diagnostics();
  if (auto refused = unwritable(outputs)) return std::move(*refused);
  ProgressLine line(command.output.quiet);
  const int threads = command.threads > 0 ? command.threads : all_threads();
  const QuantizeOptions options{
      .run_all =
          [threads](std::span<const std::function<void()>> tasks) {
            run_on_threads(threads, tasks);
          },
      .stop = [] { return stop_asked.load(); },
      .progress = [&line](int64_t done, int64_t total) { line.show("quantizing", done, total); }};
  return quantize_file(command.file, *file, *plan, options);
}

}  // namespace

int run_quant(const QuantCommand& command) {
  catch_interrupts();
  Result<QuantizeOutcome> outcome = quantize(command);
  if (!outcome) return fail(outcome.diagnostics());
  if (outcome->interrupted) {
    if (!command.output.quiet) talk("interrupted\n");
    return kInterrupted;
  }
  QuantReport report = std::move(outcome).value().report;
  report.top = command.top;
  return emit(command.output, rendered(report, command.output), kYes);
}

void add_quant_flags(CLI::App& verb, QuantCommand& command) {
  verb.add_option("FILE", command.file,
                  "A .safetensors, a model.safetensors.index.json, the folder of one, or a .gguf")
      ->required();
  verb.add_option("--to", command.request.to,
                  "Formats: int8, int4, Q8_0, Q4_0, f16, bf16, int8_g64_zp, ... "
                  "[int8,int4,q8_0,q4_0]")
      ->option_text("LIST");
  verb.add_option("--granularity", command.request.granularity,
                  "What shares a scale in int8 and int4: tensor, channel (an output row) or "
                  "group=N, N being 32, 64 or 128 [channel]")
      ->option_text("WHAT");
  verb.add_option("--range", command.request.range,
                  "Range that integers cover: minmax, percentile=P, or mse, the one of least "
                  "squared error [minmax]")
      ->option_text("RULE");
  verb.add_flag("--asymmetric", command.request.asymmetric, "int8 and int4 with a zero point");
  verb.add_option("--tensors", command.request.tensors,
                  "Only tensors whose names the pattern finds: attn, layers\\.0\\.")
      ->option_text("PATTERN")
      ->check(stated());
  verb.add_option("--top", command.top, "The N tensors that lose most, the worst first")
      ->option_text("N")
      ->check(CLI::Range(int64_t{1}, int64_t{1'000'000}));
  verb.add_option("--threads", command.threads, "The result does not depend on them [all]")
      ->option_text("N")
      ->check(CLI::Range(1, 1024));
  verb.footer(
      "Examples:\n"
      "  tidemark quant model.safetensors --to int8,int4 --top 10\n"
      "  tidemark quant model.safetensors --to int4 --granularity group=64 --range mse "
      "--tensors mlp\n"
      "Norms, vectors and what is no float stay as stored. Exit code 130 when interrupted.");
}

}  // namespace tidemark::cli
