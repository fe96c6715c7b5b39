// A sweep that is killed at any moment and run again must end like one that was left alone.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "rows.h"
#include "support/golden.h"

namespace tidemark {
namespace {

using namespace tidemark::testing;

constexpr int kPoints = 1500;

// Runs in a process of its own, slowly enough to be killed on the way.
[[noreturn]] void sweep_slowly(const std::filesystem::path& file) {
  Result<Store> store = Store::open(file, StoreAccess::kWrite);
  if (!store) ::_exit(2);
  SweepOptions options = fake_options(2);
  options.compute = [](const PreparedScenario& prepared) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return fake_compute(prepared);
  };
  Store opened = std::move(store).value();
  ::_exit(run_sweep(point_grid(kPoints), opened, options).ok() ? 0 : 2);
}

// Starts the sweep and kills it once the file holds at least so many rows. The number of rows it
// left.
int64_t kill_after(const std::filesystem::path& file, int64_t rows) {
  const pid_t child = ::fork();
  if (child == 0) sweep_slowly(file);
  for (int tries = 0; tries < 2000; ++tries) {
    const Result<Store> store = Store::open(file, StoreAccess::kRead);
    if (store.ok() && row_count(*store) >= rows) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  ::kill(child, SIGKILL);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status)) << "the sweep was over before it could be killed";
  return row_count(Store::open(file, StoreAccess::kRead).value());
}

TEST(KilledSweepTest, RunAgainItEqualsAnUndisturbedOneByteForByte) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "killed.db";
  const int64_t first = kill_after(file, 1);
  EXPECT_GE(first, 1);
  EXPECT_LT(first, kPoints);
  const int64_t second = kill_after(file, first + 1);
  EXPECT_GT(second, first);
  EXPECT_LT(second, kPoints);

  Store killed = Store::open(file, StoreAccess::kWrite).value();
  const SweepSummary rest = run_ok(point_grid(kPoints), killed, fake_options(2));
  EXPECT_EQ(rest.present, second);
  EXPECT_EQ(rest.computed, kPoints - second);

  Store undisturbed = Store::open(folder.path() / "undisturbed.db", StoreAccess::kWrite).value();
  run_ok(point_grid(kPoints), undisturbed, fake_options(1));
  for (const ExportFormat format : {ExportFormat::kCsv, ExportFormat::kJsonLines,
                                    ExportFormat::kMarkdown, ExportFormat::kTable}) {
    EXPECT_EQ(exported(killed, format), exported(undisturbed, format));
  }
}

}  // namespace
}  // namespace tidemark
