#!/usr/bin/env python3
"""The console runner against files that are right and files that are wrong."""

import io
import tempfile
import unittest
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import run_console


class Runner(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.binaries = self.folder / "bin"
        self.binaries.mkdir()

    def run_text(self, text, name="case.t", *options):
        """(exit code, what the runner printed)"""
        self.file = self.folder / name
        self.file.write_text(text, encoding="utf-8")
        out = io.StringIO()
        with redirect_stdout(out), redirect_stderr(out):
            code = run_console.main(["--bin", str(self.binaries), "--source", str(self.folder), *options, str(self.file)])
        return code, out.getvalue()

    def assert_passes(self, text, name="case.t"):
        code, said = self.run_text(text, name)
        self.assertEqual(code, 0, said)
        return said

    def assert_differs(self, text, name="case.t"):
        code, said = self.run_text(text, name)
        self.assertEqual(code, 1, said)
        return said

    def assert_malformed(self, text, name="page.md"):
        code, said = self.run_text(text, name)
        self.assertEqual(code, 2, said)
        return said


class Output(Runner):
    def test_equal_output_passes_and_any_difference_is_shown_as_a_diff(self):
        self.assert_passes("$ printf 'a\\nb\\n'\na\nb\n")
        said = self.assert_differs("$ printf 'a\\nb\\n'\na\nc\n")
        self.assertIn("case.t:1 expected", said)
        self.assertIn("\n-c\n+b\n", said)

    def test_missing_and_surplus_lines_differ(self):
        self.assert_differs("$ echo a\n")
        self.assert_differs("$ true\na\n")
        self.assert_differs("$ printf 'a\\n\\nb\\n'\na\nb\n")

    def test_standard_error_is_part_of_the_output(self):
        self.assert_passes("$ echo out; echo err >&2\nout\nerr\n")

    def test_empty_lines_before_the_next_command_do_not_count(self):
        self.assert_passes("$ echo a\na\n\n\n$ echo b\nb\n")

    def test_dots_alone_stand_for_any_lines_also_none(self):
        self.assert_passes("$ printf 'a\\nb\\nc\\n'\na\n...\nc\n")
        self.assert_passes("$ printf 'a\\nc\\n'\na\n...\nc\n...\n")
        self.assert_differs("$ printf 'a\\nb\\n'\na\n...\nc\n")

    def test_dots_inside_a_line_stand_for_any_text(self):
        self.assert_passes("$ echo 'took 12 ms (ok)'\ntook ... ms (ok)\n")
        self.assert_differs("$ echo 'took 12 s (ok)'\ntook ... ms (ok)\n")

    def test_a_backslash_makes_a_line_plain_text(self):
        self.assert_passes("$ printf '...\\n# x\\n$ y\\n\\\\z\\n'\n\\...\n\\# x\n\\$ y\n\\\\z\n")
        self.assert_differs("$ echo abc\n\\...\n")
        self.assert_passes("$ echo '[exit 3]'\n\\[exit 3]\n")


class ExitCodes(Runner):
    def test_a_code_other_than_zero_must_be_stated(self):
        self.assert_passes("$ echo no; exit 2\nno\n[exit 2]\n")
        self.assertIn("+[exit 2]", self.assert_differs("$ exit 2\n"))
        self.assertIn("-[exit 2]", self.assert_differs("$ exit 1\n[exit 2]\n"))
        self.assert_differs("$ true\n[exit 1]\n")

    def test_a_crash_is_an_exit_code_past_128(self):
        self.assert_passes("$ kill -SEGV $$\n[exit 139]\n")

    def test_a_command_that_never_ends_is_stopped(self):
        self.addCleanup(setattr, run_console, "TIMEOUT_SECONDS", run_console.TIMEOUT_SECONDS)
        run_console.TIMEOUT_SECONDS = 0.2
        self.assertIn("stopped after", self.assert_differs("$ sleep 60\n"))


class Surroundings(Runner):
    def test_commands_of_a_file_share_a_scratch_folder_that_starts_empty(self):
        self.assert_passes("$ ls\n$ echo kept > a\n$ cat a\nkept\n")
        self.assert_passes("$ ls\n")

    def test_built_programs_come_first_on_the_path(self):
        (self.binaries / "ls").write_text("#!/bin/sh\necho ours\n", encoding="utf-8")
        (self.binaries / "ls").chmod(0o755)
        self.assert_passes("$ ls\nours\n")

    def test_settings_of_the_caller_are_not_seen(self):
        run_console.os.environ["TIDEMARK_CONFIG_PATH"] = "x"
        self.addCleanup(run_console.os.environ.pop, "TIDEMARK_CONFIG_PATH")
        self.assert_passes("$ echo ${TIDEMARK_CONFIG_PATH-unset} $NO_COLOR $LC_ALL\nunset 1 C\n")

    def test_folders_appear_by_name(self):
        self.assert_passes("$ echo $SOURCE/a; pwd\n$SOURCE/a\n$SCRATCH\n")

    def test_input_is_empty(self):
        self.assert_passes("$ cat\n")


class Grammar(Runner):
    def test_commands_go_on_after_an_angle_or_a_backslash(self):
        self.assert_passes("$ cat > f <<'END'\n> one\n>\n> two\n> END\n$ echo \\\n    x \\\n    y; cat f\nx y\none\n\ntwo\n")

    def test_comments_are_not_output(self):
        self.assert_passes("Why this file exists.\n\n$ echo a\na\n\n# the next one\n$ echo b\nb\n")

    def test_a_file_without_commands_is_malformed(self):
        self.assertIn("no command", self.assert_malformed("just text\n", "case.t"))


class Markdown(Runner):
    def test_only_console_blocks_are_run_in_order(self):
        page = "```sh\n$ exit 9\n```\n\n```console\n$ echo a > f\n```\ntext\n\n1. item\n\n   ~~~console\n   $ cat f\n   a\n   ~~~\n"
        self.assertIn("2 commands", self.assert_passes(page, "page.md"))
        self.assert_differs(page.replace("   a\n", "   b\n"), "page.md")

    def test_a_block_inside_a_longer_fence_is_text(self):
        self.assert_passes("````markdown\n```console\n$ exit 9\n```\n````\n", "page.md")

    def test_skipped_blocks_are_counted(self):
        page = "```console skip\n$ exit 9\n```\n"
        self.assertIn("1 blocks skipped", self.assert_passes(page, "page.md"))
        out = io.StringIO()
        with redirect_stdout(out):
            run_console.main(["--list-skipped", str(self.folder)])
        self.assertEqual(out.getvalue(), f"console blocks shown but not run: 1\n  {self.file}:1\n")

    def test_a_named_block_becomes_a_file(self):
        self.assert_passes("```yaml file=a/b.yaml\nx: 1\n```\n```console\n$ cat a/b.yaml\nx: 1\n```\n", "page.md")
        self.assert_malformed("```yaml file=../b.yaml\nx: 1\n```\n")

    def test_what_would_silently_not_be_run_is_malformed(self):
        self.assertIn("not closed", self.assert_malformed("```console\n$ true\n"))
        self.assertIn("without a command", self.assert_malformed("```console\n```\n"))
        self.assertIn("before the first command", self.assert_malformed("```console\ntidemark plan\n```\n"))
        self.assertIn("only the word skip", self.assert_malformed("```console skipped\n$ true\n```\n"))


class Update(Runner):
    def test_it_writes_what_was_printed_and_still_fails(self):
        text = "Note.\n\n$ printf 'a\\n... b\\n'; exit 3\nold\n\n# about the next\n$ echo x1\nx...\n"
        code, said = self.run_text(text, "case.t", "--update")
        self.assertEqual(code, 1, said)
        updated = self.file.read_text(encoding="utf-8")
        self.assertEqual(updated, text.replace("old\n", "a\n\\... b\n[exit 3]\n"))
        self.assert_passes(updated)


if __name__ == "__main__":
    unittest.main()
