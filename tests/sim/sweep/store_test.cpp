#include "sim/sweep/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <fstream>

#include "rows.h"
#include "support/golden.h"

namespace tidemark {
namespace {

namespace fs = std::filesystem;
using testing::exported;
using ::testing::HasSubstr;
using testing::row_count;
using testing::slurp;
using testing::text_row;

// SQLite as any other program uses it.
class OtherProgram {
 public:
  explicit OtherProgram(const fs::path& file) {
    EXPECT_EQ(sqlite3_open(file.c_str(), &handle_), SQLITE_OK);
  }
  ~OtherProgram() { sqlite3_close(handle_); }
  OtherProgram(const OtherProgram&) = delete;
  OtherProgram& operator=(const OtherProgram&) = delete;

  void run(const char* sql) {
    char* error = nullptr;
    EXPECT_EQ(sqlite3_exec(handle_, sql, nullptr, nullptr, &error), SQLITE_OK) << error;
  }

 private:
  sqlite3* handle_ = nullptr;
};

class StoreTest : public ::testing::Test {
 protected:
  fs::path file(const std::string& name = "sweep.db") const { return folder_.path() / name; }
  std::string write(const std::string& name, const std::string& content) const {
    std::ofstream(file(name), std::ios::binary) << content;
    return file(name);
  }
  static Store open(const fs::path& path, StoreAccess access = StoreAccess::kWrite) {
    return Store::open(path, access).value();
  }
  static std::string refusal(const fs::path& path, StoreAccess access,
                             StoreOptions options = {.busy_milliseconds = 0}) {
    const Result<Store> store = Store::open(path, access, options);
    EXPECT_FALSE(store.ok());
    return to_string(store.diagnostics());
  }
  // Refused for reading and for writing, with not a byte of the folder changed.
  void expect_refused_untouched(const fs::path& path, const std::string& message) const {
    const std::string before = slurp(path);
    for (const StoreAccess access : {StoreAccess::kRead, StoreAccess::kWrite}) {
      EXPECT_THAT(refusal(path, access), HasSubstr(message));
    }
    EXPECT_EQ(slurp(path), before);
    EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator()), 1);
  }

  testing::TemporaryFolder folder_{};
};

SweepRow numbered_row(int64_t context) {
  SweepRow row{.id = std::to_string(context),
               .canonical = "ctx " + std::to_string(context),
               .cells = blank_cells()};
  set_cell(row.cells, "ctx_size", context);
  return row;
}

std::string contexts(const Store& store) {
  std::string out;
  const auto visited = store.for_each([&](const SweepRow& row) {
    out += std::to_string(std::get<int64_t>(row.cells[sweep_column("ctx_size")])) + " ";
    return true;
  });
  EXPECT_TRUE(visited.ok());
  return out;
}

TEST_F(StoreTest, KeepsRowsOverClosing) {
  SweepRow row = numbered_row(4096);
  set_cell(row.cells, "model", "minicpm-2b");
  set_cell(row.cells, "tokens_per_second", 0.1);
  {
    Store store = open(file());
    EXPECT_EQ(store.write(std::vector{row}).value(), 1);
  }
  const Store store = open(file(), StoreAccess::kRead);
  std::vector<SweepRow> rows;
  ASSERT_TRUE(store
                  .for_each([&](const SweepRow& stored) {
                    rows.push_back(stored);
                    return true;
                  })
                  .ok());
  row.canonical.clear();
  EXPECT_EQ(rows, std::vector{row});
  EXPECT_EQ(store.find("4096").value()->canonical, "ctx 4096");
  EXPECT_EQ(store.find("1").value(), std::nullopt);
}

TEST_F(StoreTest, RowsComeInTheOrderOfTheirSettingsHoweverTheyWereWritten) {
  Store store = open(file());
  for (const int64_t context : {10, 9, 100, 1}) {
    ASSERT_TRUE(store.write(std::vector{numbered_row(context)}).ok());
  }
  EXPECT_EQ(contexts(store), "1 9 10 100 ");
}

TEST_F(StoreTest, WritingAnIdAgainReplacesItsRowAndRemovedIdsAreGone) {
  Store store = open(file());
  ASSERT_TRUE(store.write(std::vector{numbered_row(1), numbered_row(2), numbered_row(3)}).ok());
  ASSERT_TRUE(store.write(std::vector{numbered_row(2)}, std::vector<std::string>{"3"}).ok());
  EXPECT_EQ(contexts(store), "1 2 ");
}

TEST_F(StoreTest, OnlySettingsOfSeveralValuesVary) {
  Store store = testing::temporary_store();
  SweepRow one = numbered_row(1);
  SweepRow two = numbered_row(2);
  set_cell(one.cells, "model", "minicpm-2b");
  set_cell(two.cells, "total_bytes", int64_t{7});
  ASSERT_TRUE(store.write(std::vector{one, two}).ok());
  const std::vector<bool> varying = store.varying_settings().value();
  for (size_t i = 0; i < varying.size(); ++i) {
    EXPECT_EQ(varying[i], sweep_columns()[i].name == "ctx_size") << sweep_columns()[i].name;
  }
}

TEST_F(StoreTest, AMissingFileCanBeWrittenButNotRead) {
  EXPECT_THAT(refusal(file(), StoreAccess::kRead), HasSubstr("there is no such file"));
  EXPECT_FALSE(fs::exists(file()));
  EXPECT_EQ(row_count(open(file())), 0);
}

TEST_F(StoreTest, AnEmptyFileBecomesAStore) {
  write("sweep.db", "");
  EXPECT_THAT(refusal(file(), StoreAccess::kRead), HasSubstr("is no SQLite database"));
  EXPECT_EQ(row_count(open(file())), 0);
}

TEST_F(StoreTest, AFolderThatDoesNotExistIsNamed) {
  EXPECT_THAT(refusal(file("no/sweep.db"), StoreAccess::kWrite),
              HasSubstr("no/sweep.db: cannot open this file\n  hint: does its folder exist?"));
}

TEST_F(StoreTest, AFolderIsNoStore) {
  EXPECT_THAT(refusal(folder_.path(), StoreAccess::kWrite), HasSubstr("is no regular file"));
}

TEST_F(StoreTest, AFileThatIsNoDatabaseIsLeftAlone) {
  expect_refused_untouched(write("sweep.db", std::string(5000, 'x')), "is no SQLite database");
}

TEST_F(StoreTest, AShortFileIsLeftAlone) {
  expect_refused_untouched(write("sweep.db", "schema: sweep/1\n"), "is no SQLite database");
}

TEST_F(StoreTest, ADatabaseOfAnotherProgramIsLeftAlone) {
  OtherProgram(file()).run("CREATE TABLE scenario (id, canonical)");
  expect_refused_untouched(file(), "is a database of another program");
}

TEST_F(StoreTest, AStoreOfAnotherVersionIsLeftAlone) {
  open(file());
  OtherProgram(file()).run("PRAGMA user_version = 7");
  expect_refused_untouched(file(),
                           "holds version 7 of the sweep store, this program reads version 1");
}

TEST_F(StoreTest, AStoreOfOtherColumnsIsLeftAlone) {
  open(file());
  OtherProgram(file()).run("ALTER TABLE scenario ADD COLUMN colour");
  expect_refused_untouched(file(), "with other columns");
}

TEST_F(StoreTest, ADamagedStoreIsRefused) {
  { ASSERT_TRUE(open(file()).write(std::vector{numbered_row(1)}).ok()); }
  std::string content = slurp(file());
  content.replace(100, content.size() - 100, content.size() - 100, '\xff');
  write("sweep.db", content);
  expect_refused_untouched(file(), "this file is damaged");
}

TEST_F(StoreTest, ALockedStoreIsRefusedAndUsableAfterwards) {
  { ASSERT_TRUE(open(file()).write(std::vector{numbered_row(1)}).ok()); }
  {
    OtherProgram other(file());
    other.run("BEGIN EXCLUSIVE");
    for (const StoreAccess access : {StoreAccess::kRead, StoreAccess::kWrite}) {
      EXPECT_THAT(refusal(file(), access), HasSubstr("another program has locked this file"));
    }
    other.run("ROLLBACK");
  }
  EXPECT_EQ(row_count(open(file(), StoreAccess::kRead)), 1);
}

TEST_F(StoreTest, AStoreLockedWhileOpenGivesDiagnosticsAndNoHalfBatch) {
  Store store = Store::open(file(), StoreAccess::kWrite, {.busy_milliseconds = 0}).value();
  OtherProgram other(file());
  other.run("BEGIN EXCLUSIVE");
  const Result<int64_t> written = store.write(std::vector{numbered_row(1), numbered_row(2)});
  EXPECT_THAT(to_string(written.diagnostics()), HasSubstr("locked"));
  other.run("ROLLBACK");
  EXPECT_EQ(row_count(open(file(), StoreAccess::kRead)), 0);
}

// The image of a program killed in the middle of a commit: pages of the unfinished transaction in
// the file, the old ones in the journal beside it.
TEST_F(StoreTest, AHalfWrittenBatchIsRolledBackByTheNextReader) {
  { ASSERT_TRUE(open(file()).write(std::vector{numbered_row(1)}).ok()); }
  OtherProgram writer(file());
  writer.run("PRAGMA cache_size = 1");
  writer.run("BEGIN");
  writer.run("UPDATE scenario SET ctx_size = 666");
  writer.run(
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) "
      "INSERT INTO scenario (id, canonical) SELECT 'x' || i, printf('%1000d', i) FROM n");
  fs::copy(file(), file("killed.db"));
  fs::copy(file("sweep.db-journal"), file("killed.db-journal"));
  ASSERT_GT(fs::file_size(file("killed.db")), 100000u);
  const Store store = open(file("killed.db"), StoreAccess::kRead);
  EXPECT_EQ(contexts(store), "1 ");
}

TEST_F(StoreTest, HostileTextIsStoredAsItIs) {
  const std::string hostile("'; DROP TABLE scenario; --\n\"\0\x80|", 31);
  Store store = open(file());
  const SweepRow row = text_row("a", hostile);
  ASSERT_TRUE(store.write(std::vector{row}).ok());
  std::vector<SweepCell> cells;
  ASSERT_TRUE(store
                  .for_each([&](const SweepRow& stored) {
                    cells = stored.cells;
                    return true;
                  })
                  .ok());
  EXPECT_EQ(cells, row.cells);
}

}  // namespace
}  // namespace tidemark
