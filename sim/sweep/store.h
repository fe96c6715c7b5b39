// The rows of sweeps in one SQLite file: table `scenario`, one row a scenario id.
//
// A killed program never loses the file: rows come in transactions under SQLite's rollback journal,
// so the next opening finds the last whole batch. The file says whose it is before SQLite may touch
// it: an application id and the store's version stand in its first 100 bytes, and a file that is
// someone else's is refused unread.
//
// User's own questions are plain SQL, e.g. SELECT model, quant, max(ctx_size) FROM scenario WHERE
// fits GROUP BY 1, 2.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "planner/base/result.h"
#include "sim/sweep/row.h"

namespace tidemark {

inline constexpr int64_t kStoreVersion = 1;

enum class StoreAccess {
  kRead,   // the file must exist and hold a sweep
  kWrite,  // made when it does not exist
};

struct StoreOptions {
  int busy_milliseconds = 5000;  // how long to wait for a program that has locked the file
};

// What a row of the store says about itself.
struct StoredRow {
  std::string canonical{};
  std::string diagnostic{};
  bool failed = false;
};

class Store {
 public:
  static Result<Store> open(const std::filesystem::path& file, StoreAccess access,
                            StoreOptions options = {});
  // Gone with the object; kept on disk when it grows, so its size is no matter.
  static Result<Store> temporary();

  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();

  Result<int64_t> count() const;
  Result<std::unordered_set<std::string>> ids() const;
  Result<std::optional<StoredRow>> find(const std::string& id) const;

  // One transaction: removes, then writes over rows of the same id. The value is the number of rows
  // written.
  Result<int64_t> write(std::span<const SweepRow> rows, std::span<const std::string> remove = {});

  // All rows in the order of their settings (by compare_values, in the order of the columns), then
  // of their ids: independent of when each was written. Stops early when `visit` returns false. The
  // value is the number visited. Cells stand under sweep_columns(); `canonical` is left empty.
  Result<int64_t> for_each(const std::function<bool(const SweepRow&)>& visit) const;

  // Does the column of a setting hold more than one value? One answer for each of sweep_columns(),
  // false for others.
  Result<std::vector<bool>> varying_settings() const;

 private:
  struct Impl;
  explicit Store(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tidemark
