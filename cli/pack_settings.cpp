#include "pack_settings.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

#include "planner/base/units.h"
#include "threads.h"

namespace tidemark::cli {
namespace {

// "1048576" are bytes here, as in the file itself.
Result<Bytes> read_size(std::string_view flag, const std::string& text) {
  const Parsed<int64_t> number = parse_integer(text);
  if (const auto* bytes = std::get_if<int64_t>(&number); bytes != nullptr && *bytes >= 0) {
    return Bytes::of(*bytes);
  }
  const Parsed<Bytes> size = parse_bytes(text);
  if (const auto* bytes = std::get_if<Bytes>(&size)) return *bytes;
  const auto& error = std::get<UnitError>(size);
  return one_error(std::string(flag), error.message, error.hint);
}

class SettingsReader {
 public:
  explicit SettingsReader(const PackCommand& command) : command_(command) {}

  Result<PackSettings> read() {
    if (command_.capacity) settings_.capacity = size("--capacity", *command_.capacity);
    for (const std::string& text : command_.pools) read_pool(text);
    if (command_.capacity && !command_.pools.empty()) {
      fail("--capacity", "stands beside --pool", "give each pool its own: --pool NAME=SIZE");
    }
    if (command_.bank) read_bank(*command_.bank);
    const std::optional<PlannerKind> kind = parse_planner(command_.planner);
    if (!kind) {
      fail("--planner", fmt::format("{} is not known", in_quotes(command_.planner)),
           "`tidemark list planners` shows them all");
    }
    settings_.kind = kind.value_or(PlannerKind::kPortfolio);
    if (!std::isfinite(command_.time_limit)) fail("--time-limit", "is not a number of seconds");
    read_seed();
    settings_.threads = command_.threads > 0 ? command_.threads : all_threads();
    if (!problems_.empty()) return problems_;
    return settings_;
  }

 private:
  void fail(std::string flag, std::string message, std::string hint = "") {
    const Diagnostics one = one_error(std::move(flag), std::move(message), std::move(hint));
    problems_.insert(problems_.end(), one.begin(), one.end());
  }

  Bytes size(std::string_view flag, const std::string& text) {
    const Result<Bytes> bytes = read_size(flag, text);
    if (bytes) return *bytes;
    problems_.insert(problems_.end(), bytes.diagnostics().begin(), bytes.diagnostics().end());
    return {};
  }

  void read_pool(const std::string& text) {
    const size_t equals = text.find('=');
    Pool pool{.name = text.substr(0, equals)};
    if (pool.name.empty() || pool.name.find_first_of(", \t") != std::string::npos) {
      return fail("--pool", in_quotes(text) + " has no name that a file could use",
                  "as in --pool sram=512KiB");
    }
    const auto same = [&](const Pool& other) { return other.name == pool.name; };
    if (std::ranges::any_of(settings_.pools, same)) {
      return fail("--pool", in_quotes(pool.name) + " stands twice");
    }
    if (equals != std::string::npos) pool.capacity = size("--pool", text.substr(equals + 1));
    settings_.pools.push_back(std::move(pool));
    if (settings_.pools.size() == kMostPools + 1) {
      fail("--pool", fmt::format("more than {} pools", kMostPools));
    }
  }

  void read_bank(const std::string& text) {
    const size_t before = problems_.size();
    const Bytes bank = size("--bank", text);
    if (problems_.size() > before) return;
    if (bank.count() < 1 || !std::has_single_bit(static_cast<uint64_t>(bank.count()))) {
      return fail("--bank", in_quotes(text) + " is no power of two");
    }
    settings_.bank = Alignment::of(bank.count());
  }

  void read_seed() {
    const std::string& text = command_.seed;
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), settings_.seed);
    if (error == std::errc{} && end == text.data() + text.size()) return;
    fail("--seed", fmt::format("{} is no integer from 0 to {}", in_quotes(text),
                               std::numeric_limits<uint64_t>::max()));
  }

  static constexpr size_t kMostPools = 64;

  const PackCommand& command_;
  PackSettings settings_{};
  Diagnostics problems_{};
};

}  // namespace

Result<PackSettings> read_settings(const PackCommand& command) {
  return SettingsReader(command).read();
}

}  // namespace tidemark::cli
