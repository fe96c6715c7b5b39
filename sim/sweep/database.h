// SQLite behind three small classes. The first error sticks: every later call does nothing, so a
// caller writes its steps in a row and asks once, at the end, whether they all succeeded.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "sim/sweep/row.h"

struct sqlite3;
struct sqlite3_stmt;

namespace tidemark {

class Database {
 public:
  enum class Access { kTemporary, kRead, kReadWrite };

  // kTemporary: `file` is only a name for messages; the data is gone with the object. A locked file
  // is waited for so many milliseconds.
  Database(std::string file, Access access, int busy_milliseconds);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  void run(const std::string& sql);
  int64_t integer(const std::string& sql);  // first cell of the first row; 0 without one

  bool ok() const;
  Diagnostics problems() const;  // empty when ok

 private:
  friend class Statement;
  friend class Transaction;
  void note(int code);
  void roll_back();
  sqlite3* handle_ = nullptr;
  std::string file_;
  int code_ = 0;
  std::string message_{};
};

class Statement {
 public:
  Statement(Database& database, const std::string& sql);
  ~Statement();
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  void bind(int position, const SweepCell& value);  // from 1
  bool step();                                      // true on a row
  SweepCell cell(int column) const;                 // from 0
  void reset();

 private:
  Database& database_;
  sqlite3_stmt* handle_ = nullptr;
};

// Ends without commit when it is not told to.
class Transaction {
 public:
  explicit Transaction(Database& database);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit();

 private:
  Database& database_;
  bool open_ = true;
};

}  // namespace tidemark
