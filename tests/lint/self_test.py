#!/usr/bin/env python3
"""Each lint against a tiny tree that breaks one rule, and against one that breaks none."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import build_rule
import include_rules
import laws
import project_files
import sizes
import words

ROOT = Path(__file__).resolve().parents[2]


class Tree(unittest.TestCase):
    """A temporary source tree."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def write(self, name, text=""):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path


class IncludeRules(Tree):
    def setUp(self):
        super().setUp()
        for header in ("planner/base/bytes.h", "planner/graph/graph.h", "planner/report/report.h", "sim/core/server.h"):
            self.write(header)

    def problems_of(self, name, *includes):
        self.write(name, "".join(f"#include {include}\n" for include in includes))
        return include_rules.check(self.root)

    def assert_refused(self, name, include, reason):
        problems = self.problems_of(name, include)
        self.assertEqual(len(problems), 1, problems)
        self.assertIn(f"{name}:1: ", problems[0])
        self.assertIn(reason, problems[0])

    def test_allowed_includes_pass(self):
        allowed = ('"planner/base/bytes.h"', "<vector>", "<fmt/core.h>", "<unistd.h>")
        self.assertEqual(self.problems_of("planner/alloc/a.cpp", *allowed), [])
        self.assertEqual(self.problems_of("sim/strategy/a.cpp", '"planner/graph/graph.h"', '"sim/core/server.h"'), [])
        self.assertEqual(self.problems_of("planner/graph/a.cpp", "<boost/graph/adjacency_list.hpp>"), [])
        self.assertEqual(self.problems_of("gui/models/a.cpp", "<QString>", "<QtCore/QObject>"), [])
        self.assertEqual(self.problems_of("tests/planner/a_test.cpp", "<gtest/gtest.h>", '"planner/graph/graph.h"'), [])

    def test_alloc_sees_base_only(self):
        self.assert_refused("planner/alloc/a.cpp", '"planner/graph/graph.h"', "planner/alloc may not include")

    def test_planner_never_sees_sim(self):
        self.assert_refused("planner/report/a.cpp", '"sim/core/server.h"', "planner may not include")

    def test_sim_core_knows_nothing_of_graphs(self):
        self.assert_refused("sim/core/a.cpp", '"planner/graph/graph.h"', "sim/core may not include")

    def test_views_see_the_report_and_nothing_else_of_the_planner(self):
        self.assertEqual(self.problems_of("gui/views/a.cpp", '"planner/report/report.h"'), [])
        self.assert_refused("gui/views/a.cpp", '"planner/graph/graph.h"', "gui/views may not include")

    def test_an_undeclared_folder_is_refused(self):
        self.write("planner/CMakeLists.txt", "tidemark_library(planner/graph SOURCES a.cpp DEPENDS planner/base)\n")
        self.assert_refused("planner/graph/a.cpp", '"planner/report/report.h"', "does not declare planner/report")

    def test_dependencies_of_dependencies_are_declared_too(self):
        self.write(
            "planner/CMakeLists.txt",
            "tidemark_library(planner/graph DEPENDS planner/report)  # tidemark_library(x DEPENDS y)\n"
            "tidemark_library(planner/report\n  DEPENDS planner/base LINKS fmt::fmt)\n",
        )
        self.assertEqual(self.problems_of("planner/graph/a.cpp", '"planner/base/bytes.h"'), [])

    def test_folders_in_a_circle_are_refused(self):
        self.write(
            "planner/CMakeLists.txt",
            "tidemark_library(planner/graph DEPENDS planner/report)\ntidemark_library(planner/report DEPENDS planner/graph)",
        )
        self.assertEqual(
            include_rules.check(self.root),
            ["CMake: the folders planner/graph -> planner/report -> planner/graph depend on each other"],
        )

    def test_libraries_stay_in_their_files(self):
        self.assert_refused("planner/config/load.cpp", "<yaml-cpp/yaml.h>", "planner/config/yaml_reader.cpp only")
        self.write("planner/config/load.cpp")
        self.assert_refused("planner/graph/graph.h", "<boost/graph/adjacency_list.hpp>", "planner/graph/*.cpp only")
        self.write("planner/graph/graph.h")
        self.assert_refused("planner/base/bytes.h", "<fmt/core.h>", "belongs in")
        self.write("planner/base/bytes.h")
        self.assert_refused("sim/core/a.cpp", "<QString>", "gui/* only")

    def test_an_unknown_library_is_refused(self):
        self.assert_refused("sim/core/a.cpp", "<mystery/m.h>", "in no table")

    def test_the_planner_reads_no_clock(self):
        self.assert_refused("planner/alloc/a.cpp", "<chrono>", "reads no clock")
        self.assertEqual(self.problems_of("sim/replay/b.cpp", "<chrono>")[1:], [])

    def test_paths_are_spelled_in_full_and_exist(self):
        self.assert_refused("planner/base/a.cpp", '"bytes.h"', "from the top of the tree")
        self.assert_refused("planner/base/a.cpp", '"planner/base/gone.h"', "does not exist")


class Sizes(Tree):
    def function(self, lines):
        return "int f(int x) {\n" + "  x += 1;\n" * (lines - 2) + "}\n"

    def test_sixty_lines_pass_and_sixty_one_do_not(self):
        self.write("a.cpp", self.function(60))
        self.assertEqual(sizes.check(self.root), ([], ["note: a.cpp:1: f: 60 lines, 40 are wished for"]))
        self.write("a.cpp", self.function(61))
        self.assertEqual(sizes.check(self.root)[0], ["a.cpp:1: f: 61 lines, the limit is 60"])

    def test_a_long_file_is_refused(self):
        self.write("a.h", "\n" * 451)
        self.assertEqual(sizes.check(self.root)[0], ["a.h: 451 lines, the limit is 450"])

    def test_functions_are_told_from_everything_else_with_braces(self):
        text = """\
namespace n {  // f() {
#define M(x) {
const char* text = "f() {";  char brace = '{';  int grouped = 1'000'000;
const char* raw = R"(f() { { {)";
struct S : Base<int> {
  S() : a_{1}, b_(2) {
  }
 public:
  template <typename T, typename = Check<T>>
  T get() const { return T{}; }
};
constexpr int kTable[] = {
    1, 2, 3};
const auto made = make({
    1, 2});
class C final {
  enum class E { kA };
};
}
TEST(Suite, Name) {
  auto lambda = [](int y) {
    return y;
  };
}
"""
        self.assertEqual(
            sizes.functions(text), [(6, 2, "S"), (10, 1, "get"), (20, 5, "TEST(Suite, Name)")]
        )


class Laws(Tree):
    def test_a_dropped_answer_is_found(self):
        self.write("a_test.cpp", 'TEST(A, B) {\n  rc::check("law", [] { RC_ASSERT(false); });\n}\n')
        found = laws.check(self.root)
        self.assertEqual(len(found), 1, found)
        self.assertTrue(found[0].startswith("a_test.cpp:2: "))

    def test_an_answer_in_use_passes(self):
        self.write("a_test.cpp", "EXPECT_TRUE(rc::check([] {}));\nconst bool held =\n    rc::check([] {});\n")
        self.assertEqual(laws.check(self.root), [])


class Words(Tree):
    def test_unfinished_work_and_machine_paths_are_found(self):
        self.write("a.cpp", "// TO" "DO: later\n")
        self.write("docs/b.md", "see /ho" "me/me/notes and C:" "\\notes\n")
        found = words.check(self.root)
        self.assertEqual(len(found), 3)
        self.assertTrue(found[0].startswith("a.cpp:1: "))
        self.assertTrue(found[1].startswith("docs/b.md:1: "))

    def test_harmless_look_alikes_pass(self):
        self.write("a.md", "todo, https://example.org/home/x, build/tmp/x, $ROOT/tmp/x, /proc/meminfo\n")
        self.assertEqual(words.check(self.root), [])


class ProjectFiles(Tree):
    def test_build_folders_and_hidden_ones_are_left_out(self):
        for name in ("a.cpp", "build/b.cpp", ".cache/c.cpp", "sim/build/d.cpp", "e.txt"):
            self.write(name)
        files = [f.as_posix() for f in project_files.project_files(self.root, project_files.CPP)]
        self.assertEqual(files, ["a.cpp", "sim/build/d.cpp"])

    def test_the_project_itself_is_not_empty(self):
        self.assertIn(Path("planner/base/bytes.h"), project_files.project_files(ROOT))


class BuildRule(Tree):
    def test_a_reachable_header_is_not_bad_and_a_missing_one_not_good(self):
        self.write("planner/a.h", "int a();\n")
        compiler, folders = COMPILER, f"{self.root}|"
        self.assertEqual(build_rule.check(compiler, folders, "good", ["planner/a.h"]), [])
        self.assertEqual(build_rule.check(compiler, folders, "bad", ["planner/b.h"]), [])
        self.assertIn("should not be found", build_rule.check(compiler, folders, "bad", ["planner/a.h"])[0])
        self.assertIn("should compile", build_rule.check(compiler, folders, "good", ["planner/b.h"])[0])

    def test_a_header_that_is_found_but_broken_counts_as_found(self):
        self.write("planner/a.h", "this is no C++\n")
        self.assertNotEqual(build_rule.check(COMPILER, f"{self.root}", "bad", ["planner/a.h"]), [])


class Format(Tree):
    def run_format(self, *arguments):
        return subprocess.run([ROOT / "scripts/format", *arguments], capture_output=True, text=True, check=False)

    def test_a_badly_formatted_file_is_named_and_fixed(self):
        bad = self.write("bad.cpp", "int  f( ){return 1 ;}\n")
        self.write(".clang-format", (ROOT / ".clang-format").read_text())
        run = self.run_format(str(bad))
        if run.returncode == 77:
            self.skipTest("no clang-format 14")
        self.assertEqual((run.returncode, run.stdout), (1, f"{bad}\n"))
        self.assertEqual(self.run_format("--fix", str(bad)).returncode, 0)
        self.assertEqual(bad.read_text(), "int f() { return 1; }\n")
        self.assertEqual(self.run_format(str(bad)).returncode, 0)


if __name__ == "__main__":
    COMPILER = sys.argv.pop(1) if len(sys.argv) > 1 else "c++"
    unittest.main()
