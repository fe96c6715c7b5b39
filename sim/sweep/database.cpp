#include "sim/sweep/database.h"

#include <fmt/core.h>
#include <sqlite3.h>

namespace tidemark {
namespace {

int open_flags(Database::Access access) {
  switch (access) {
    case Database::Access::kTemporary:
    case Database::Access::kReadWrite:
      return SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    case Database::Access::kRead:
      break;
  }
  // Reading what a killed run left behind may need a rollback, so not SQLITE_OPEN_READONLY; on a
  // write-protected file SQLite falls back to that by itself.
  return SQLITE_OPEN_READWRITE;
}

// The order of compare_values() for ORDER BY ... COLLATE tidemark_value.
int collate(void*, int left_size, const void* left, int right_size, const void* right) {
  const auto view = [](const void* text, int size) {
    return std::string_view(static_cast<const char*>(text), static_cast<size_t>(size));
  };
  return compare_values(view(left, left_size), view(right, right_size));
}

struct Explanation {
  std::string message{};
  std::string hint{};
};

Explanation explain(int code, const std::string& message) {
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return {"another program has locked this file", "wait until it is done, or use another file"};
    case SQLITE_NOTADB:
      return {"this file is no SQLite database", "name a file written by `tidemark sweep -o`"};
    case SQLITE_CORRUPT:
      return {"this file is damaged: " + message, "delete it and run the sweep again"};
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return {"this file is write-protected", ""};
    case SQLITE_FULL:
      return {"the disk is full", "rows written so far are kept; free some space and run again"};
    case SQLITE_CANTOPEN:
      return {"cannot open this file", "does its folder exist?"};
    default:
      return {message, ""};
  }
}

}  // namespace

Database::Database(std::string file, Access access, int busy_milliseconds)
    : file_(std::move(file)) {
  // The empty name is a private database that spills to disk and is deleted when closed.
  // "./" keeps SQLite from reading meaning into a name (":memory:", "file:...").
  const std::string plain = file_.starts_with('/') ? file_ : "./" + file_;
  const std::string name = access == Access::kTemporary ? "" : plain;
  note(sqlite3_open_v2(name.c_str(), &handle_, open_flags(access), nullptr));
  if (!ok()) return;
  sqlite3_busy_timeout(handle_, busy_milliseconds);
  note(sqlite3_create_collation(handle_, "tidemark_value", SQLITE_UTF8, nullptr, &collate));
  // A database is data, not program: no function or view of a foreign schema is trusted.
  run("PRAGMA trusted_schema = OFF");
  run("PRAGMA temp_store = FILE");
}

Database::~Database() { sqlite3_close_v2(handle_); }

bool Database::ok() const { return code_ == SQLITE_OK; }

void Database::note(int code) {
  if (!ok() || code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE) return;
  code_ = code;
  message_ = handle_ == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(handle_);
}

Diagnostics Database::problems() const {
  if (ok()) return {};
  const Explanation explanation = explain(code_, message_);
  return one_error(file_, explanation.message, explanation.hint);
}

void Database::run(const std::string& sql) {
  if (ok()) note(sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr));
}

// Also after an error, unlike run().
void Database::roll_back() {
  if (handle_ != nullptr) sqlite3_exec(handle_, "ROLLBACK", nullptr, nullptr, nullptr);
}

int64_t Database::integer(const std::string& sql) {
  Statement statement(*this, sql);
  if (!statement.step()) return 0;
  const SweepCell cell = statement.cell(0);
  const int64_t* value = std::get_if<int64_t>(&cell);
  return value == nullptr ? 0 : *value;
}

Statement::Statement(Database& database, const std::string& sql) : database_(database) {
  if (!database_.ok()) return;
  database_.note(sqlite3_prepare_v2(database_.handle_, sql.c_str(), static_cast<int>(sql.size()),
                                    &handle_, nullptr));
}

Statement::~Statement() { sqlite3_finalize(handle_); }

void Statement::bind(int position, const SweepCell& value) {
  if (!database_.ok()) return;
  if (const auto* integer = std::get_if<int64_t>(&value)) {
    database_.note(sqlite3_bind_int64(handle_, position, *integer));
  } else if (const auto* real = std::get_if<double>(&value)) {
    database_.note(sqlite3_bind_double(handle_, position, *real));
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    database_.note(sqlite3_bind_text64(handle_, position, text->data(), text->size(),
                                       SQLITE_TRANSIENT, SQLITE_UTF8));
  } else {
    database_.note(sqlite3_bind_null(handle_, position));
  }
}

bool Statement::step() {
  if (!database_.ok()) return false;
  const int code = sqlite3_step(handle_);
  database_.note(code);
  return code == SQLITE_ROW;
}

SweepCell Statement::cell(int column) const {
  switch (sqlite3_column_type(handle_, column)) {
    case SQLITE_INTEGER:
      return int64_t{sqlite3_column_int64(handle_, column)};
    case SQLITE_FLOAT:
      return sqlite3_column_double(handle_, column);
    case SQLITE_NULL:
      return {};
    default:
      break;
  }
  // Text, and what someone may have stored as a blob.
  const auto* data = static_cast<const char*>(sqlite3_column_blob(handle_, column));
  const auto size = static_cast<size_t>(sqlite3_column_bytes(handle_, column));
  return data == nullptr ? std::string() : std::string(data, size);
}

void Statement::reset() {
  if (handle_ != nullptr) sqlite3_reset(handle_);
}

Transaction::Transaction(Database& database) : database_(database) {
  database_.run("BEGIN IMMEDIATE");
}

Transaction::~Transaction() {
  if (open_) database_.roll_back();
}

void Transaction::commit() {
  database_.run("COMMIT");
  open_ = !database_.ok();
}

}  // namespace tidemark
