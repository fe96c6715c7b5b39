#include "sim/sweep/store.h"

#include <fmt/core.h>

#include <array>
#include <fstream>

#include "sim/sweep/database.h"

namespace tidemark {
namespace {

namespace fs = std::filesystem;

// "TDMK": what `file` prints, and what tells our databases from others.
constexpr uint32_t kApplicationId = 0x54444d4b;

// Of SQLite's file format: 100 bytes of header, big-endian numbers.
constexpr size_t kHeaderBytes = 100;
constexpr size_t kUserVersionAt = 60;
constexpr size_t kApplicationIdAt = 68;
constexpr std::string_view kMagic("SQLite format 3\0", 16);

using Header = std::array<char, kHeaderBytes>;

uint32_t number_at(const Header& header, size_t at) {
  uint32_t number = 0;
  for (size_t i = 0; i < 4; ++i) number = number << 8 | static_cast<unsigned char>(header[at + i]);
  return number;
}

Diagnostics refused(const fs::path& file, std::string message) {
  return one_error(file.string(), std::move(message), "name a file written by `tidemark sweep -o`");
}

Diagnostics other_version(const fs::path& file, uint32_t version) {
  return one_error(file.string(),
                   fmt::format("holds version {} of the sweep store, this program reads version {}",
                               version, kStoreVersion),
                   "run the sweep again into a new file");
}

// Judges the file from its first bytes. An empty diagnostic list lets SQLite open it.
Diagnostics inspect(const fs::path& file, StoreAccess access) {
  std::error_code error;
  const fs::file_status status = fs::status(file, error);
  if (!fs::exists(status)) {
    if (access == StoreAccess::kWrite) return {};
    return one_error(file.string(), "there is no such file",
                     "make it with `tidemark sweep -o FILE`");
  }
  if (!fs::is_regular_file(status)) return refused(file, "is no regular file");
  // What a run that was killed at once leaves behind.
  if (fs::file_size(file, error) == 0 && access == StoreAccess::kWrite) return {};

  std::ifstream stream(file, std::ios::binary);
  if (!stream) return one_error(file.string(), "cannot open this file");
  Header header{};
  stream.read(header.data(), header.size());
  const bool whole = stream.gcount() == static_cast<std::streamsize>(header.size());
  if (!whole || std::string_view(header.data(), kMagic.size()) != kMagic) {
    return refused(file, "is no SQLite database");
  }
  if (number_at(header, kApplicationIdAt) != kApplicationId) {
    return refused(file, "is a database of another program");
  }
  const uint32_t version = number_at(header, kUserVersionAt);
  return version == kStoreVersion ? Diagnostics() : other_version(file, version);
}

std::string column_type(ColumnKind kind) {
  switch (kind) {
    case ColumnKind::kInteger:
    case ColumnKind::kBoolean:
      return " INTEGER";
    case ColumnKind::kReal:
      return " REAL";
    case ColumnKind::kText:
      return " TEXT";
    case ColumnKind::kSetting:
      break;
  }
  return "";  // kept as written: 4096 is an integer, "1 GiB" a text
}

// `"model", "device", ...`, each name through `decorate`.
template <typename Decorate>
std::string column_list(Decorate decorate) {
  std::string list;
  for (const SweepColumn& column : sweep_columns()) {
    const std::string part = decorate(column);
    if (!part.empty()) list += (list.empty() ? "" : ", ") + part;
  }
  return list;
}

std::string name_list() {
  return column_list([](const SweepColumn& column) { return fmt::format("\"{}\"", column.name); });
}

void create_schema(Database& database) {
  Transaction transaction(database);
  // Another run may have been faster.
  if (database.integer("SELECT count(*) FROM sqlite_schema") == 0) {
    database.run(fmt::format("PRAGMA application_id = {}", kApplicationId));
    database.run(fmt::format("PRAGMA user_version = {}", kStoreVersion));
    database.run(fmt::format(
        "CREATE TABLE scenario (id TEXT PRIMARY KEY NOT NULL, canonical TEXT NOT NULL, {})",
        column_list([](const SweepColumn& column) {
          return fmt::format("\"{}\"{}", column.name, column_type(column.kind));
        })));
  }
  transaction.commit();
}

bool has_our_columns(Database& database) {
  Statement names(database, "SELECT name FROM pragma_table_info('scenario')");
  std::vector<std::string> wanted = {"id", "canonical"};
  for (const SweepColumn& column : sweep_columns()) wanted.push_back(column.name);
  size_t i = 0;
  for (; names.step(); ++i) {
    if (i >= wanted.size() || names.cell(0) != SweepCell(wanted[i])) return false;
  }
  return i == wanted.size();
}

std::string text_of(const SweepCell& cell) {
  const auto* text = std::get_if<std::string>(&cell);
  return text == nullptr ? std::string() : *text;
}

std::string insert_sql() {
  const std::string marks = column_list([](const SweepColumn&) { return std::string("?"); });
  return fmt::format("INSERT OR REPLACE INTO scenario (id, canonical, {}) VALUES (?, ?, {})",
                     name_list(), marks);
}

std::string ordered_sql() {
  const std::string order = column_list([](const SweepColumn& column) {
    if (column.kind != ColumnKind::kSetting) return std::string();
    return fmt::format("CAST(\"{}\" AS TEXT) COLLATE tidemark_value", column.name);
  });
  return fmt::format("SELECT id, {} FROM scenario ORDER BY {}, id", name_list(), order);
}

// SQLite counts columns as int.
constexpr int kFirstCell = 1;

}  // namespace

struct Store::Impl {
  Impl(std::string file, Database::Access access, int busy_milliseconds)
      : database(std::move(file), access, busy_milliseconds) {}
  Database database;
  // Prepared once: these run for every row.
  std::unique_ptr<Statement> find{};
  std::unique_ptr<Statement> insert{};
  std::unique_ptr<Statement> remove{};

  void prepare() {
    find = std::make_unique<Statement>(
        database, "SELECT canonical, diagnostic, status = 'failed' FROM scenario WHERE id = ?");
    insert = std::make_unique<Statement>(database, insert_sql());
    remove = std::make_unique<Statement>(database, "DELETE FROM scenario WHERE id = ?");
  }
};

Store::Store(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

Result<Store> Store::open(const fs::path& file, StoreAccess access, StoreOptions options) {
  Diagnostics refusal = inspect(file, access);
  if (!refusal.empty()) return refusal;
  const bool write = access == StoreAccess::kWrite;
  auto impl = std::make_unique<Impl>(file.string(),
                                     write ? Database::Access::kReadWrite : Database::Access::kRead,
                                     options.busy_milliseconds);
  Database& database = impl->database;
  // A locked or damaged file shows at the first read.
  const bool empty = database.integer("SELECT count(*) FROM sqlite_schema") == 0;
  if (database.ok() && empty && !write) return refused(file, "holds no sweep");
  if (empty) create_schema(database);
  if (database.ok() && !has_our_columns(database)) {
    return one_error(file.string(),
                     "was written by another version of tidemark, with other columns",
                     "run the sweep again into a new file");
  }
  impl->prepare();
  if (!database.ok()) return database.problems();
  return Store(std::move(impl));
}

Result<Store> Store::temporary() {
  auto impl = std::make_unique<Impl>("temporary database", Database::Access::kTemporary, 0);
  create_schema(impl->database);
  impl->prepare();
  if (!impl->database.ok()) return impl->database.problems();
  return Store(std::move(impl));
}

Result<int64_t> Store::count() const {
  const int64_t count = impl_->database.integer("SELECT count(*) FROM scenario");
  if (!impl_->database.ok()) return impl_->database.problems();
  return count;
}

Result<std::unordered_set<std::string>> Store::ids() const {
  std::unordered_set<std::string> ids;
  Statement statement(impl_->database, "SELECT id FROM scenario");
  while (statement.step()) ids.insert(text_of(statement.cell(0)));
  if (!impl_->database.ok()) return impl_->database.problems();
  return ids;
}

Result<std::optional<StoredRow>> Store::find(const std::string& id) const {
  Statement& statement = *impl_->find;
  std::optional<StoredRow> row;
  statement.bind(1, id);
  if (statement.step()) {
    row = StoredRow{.canonical = text_of(statement.cell(0)),
                    .diagnostic = text_of(statement.cell(1)),
                    .failed = statement.cell(2) == SweepCell(int64_t{1})};
  }
  statement.reset();
  if (!impl_->database.ok()) return impl_->database.problems();
  return row;
}

Result<int64_t> Store::write(std::span<const SweepRow> rows, std::span<const std::string> remove) {
  Transaction transaction(impl_->database);
  for (const std::string& id : remove) {
    impl_->remove->bind(1, id);
    impl_->remove->step();
    impl_->remove->reset();
  }
  for (const SweepRow& row : rows) {
    Statement& statement = *impl_->insert;
    check(row.cells.size() == sweep_columns().size(), "a row has a cell for every column");
    int position = 1;
    statement.bind(position++, row.id);
    statement.bind(position++, row.canonical);
    for (const SweepCell& cell : row.cells) statement.bind(position++, cell);
    statement.step();
    statement.reset();
  }
  transaction.commit();
  if (!impl_->database.ok()) return impl_->database.problems();
  return std::ssize(rows);
}

Result<int64_t> Store::for_each(const std::function<bool(const SweepRow&)>& visit) const {
  Statement statement(impl_->database, ordered_sql());
  SweepRow row;
  row.cells.resize(sweep_columns().size());
  int64_t visited = 0;
  while (statement.step()) {
    row.id = text_of(statement.cell(0));
    for (size_t i = 0; i < row.cells.size(); ++i) {
      row.cells[i] = statement.cell(static_cast<int>(i) + kFirstCell);
    }
    ++visited;
    if (!visit(row)) break;
  }
  if (!impl_->database.ok()) return impl_->database.problems();
  return visited;
}

Result<std::vector<bool>> Store::varying_settings() const {
  const std::string sql = column_list([](const SweepColumn& column) {
    // Whether the lowest and the highest value differ; an empty cell does not count.
    if (column.kind != ColumnKind::kSetting) return std::string("0");
    return fmt::format("coalesce(min(\"{0}\") <> max(\"{0}\"), 0)", column.name);
  });
  Statement statement(impl_->database, fmt::format("SELECT {} FROM scenario", sql));
  std::vector<bool> varying(sweep_columns().size(), false);
  if (statement.step()) {
    for (size_t i = 0; i < varying.size(); ++i) {
      varying[i] = statement.cell(static_cast<int>(i)) == SweepCell(int64_t{1});
    }
  }
  if (!impl_->database.ok()) return impl_->database.problems();
  return varying;
}

}  // namespace tidemark
