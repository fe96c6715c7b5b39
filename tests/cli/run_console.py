#!/usr/bin/env python3
"""Runs the commands of a .t file, or of the console blocks of a Markdown page, and compares what they print.

    $ tidemark plan tiny --budget "1 GiB"      a command: `$ `, then shell text
    > --json                                   `> ` right after it, or a backslash at its end, continue it
    ...                                        alone on a line: any lines, also none
    total ... GiB                              inside a line: any text, also none
    [exit 1]                                   the exit code, unless it is 0

Expected lines are stdout and stderr together; space at the end of a line and empty lines at the end do not count.
A line that starts with a backslash is text as it stands after it. In a .t file, lines before the first command and
lines that start with `# ` are comments.

In Markdown, blocks fenced ```console are run, ```console skip are shown to the reader only (and counted), and any
block whose fence says file=NAME is written to NAME first. All commands of one file run in order, each in a shell of its
own, in one scratch folder, without input. The shell sees SOURCE (the source tree); both folders appear in output as
$SOURCE and $SCRATCH.

Usage: run_console.py --bin FOLDER [--source FOLDER] [--update] FILE...
       run_console.py --list-skipped PATH...
  --update  writes what was printed into FILE where it differs; the run still fails, so an update is a visible act

Exit: 0 all as expected; 1 differences; 2 a file that cannot be understood.
"""

import argparse
import difflib
import os
import re
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

TIMEOUT_SECONDS = 120
SPECIAL = re.compile(r"\\|\$ |> |# |\[exit \d+\]$|.*\.\.\.")  # a printed line that needs a backslash
EXIT = re.compile(r"\[exit (\d+)\]$")


class Malformed(Exception):
    """The file breaks the format; the text says where and how."""


@dataclass
class Command:
    line: int  # of the `$ `, from 0
    text: str
    begin: int = 0  # expected lines: [begin, end) of the file
    end: int = 0
    indent: int = 0  # of the block it stands in
    expected: list = field(default_factory=list)
    status: int = 0


@dataclass
class Script:
    lines: list
    steps: list = field(default_factory=list)  # Command, or (file name, content)
    skipped: list = field(default_factory=list)  # line of each block that is not run, from 0

    def commands(self):
        return [step for step in self.steps if isinstance(step, Command)]


# Reading -----------------------------------------------------------------------------------------------------------


def read_script(path):
    lines = Path(path).read_text(encoding="utf-8").splitlines()
    script = Script(lines)
    if Path(path).suffix == ".md":
        read_markdown(path, script)
    else:
        read_commands(path, script, 0, len(lines), comments=True)
        if not script.steps:
            raise Malformed(f"{path}:1: no command in it")
    return script


def read_markdown(path, script):
    fence = re.compile(r"( *)(`{3,}|~{3,})\s*([^`]*)$")
    at = 0
    while at < len(script.lines):
        opening = fence.match(script.lines[at])
        at += 1
        if not opening:
            continue
        indent, mark, words = opening.group(1), opening.group(2), opening.group(3).split()
        closing = re.compile(r" *%s{%d,}\s*$" % (mark[0], len(mark)))
        first = at
        while at < len(script.lines) and not closing.match(script.lines[at]):
            at += 1
        if at == len(script.lines):
            raise Malformed(f"{path}:{first}: this block is not closed")
        read_block(path, script, first, at, words, len(indent))
        at += 1


def read_block(path, script, first, end, words, indent):
    """The block whose lines are [first, end); `words` are those of its fence."""
    names = [word.removeprefix("file=") for word in words if word.startswith("file=")]
    if names:
        content = "".join(line[indent:] + "\n" for line in script.lines[first:end])
        if Path(names[0]).is_absolute() or ".." in Path(names[0]).parts:
            raise Malformed(f"{path}:{first}: file={names[0]} leaves the scratch folder")
        script.steps.append((names[0], content))
    elif words == ["console", "skip"]:
        script.skipped.append(first - 1)
    elif words[:1] == ["console"]:
        if len(words) > 1:
            raise Malformed(f"{path}:{first}: a console block takes only the word skip, not {' '.join(words[1:])}")
        before = len(script.steps)
        read_commands(path, script, first, end, indent=indent)
        if len(script.steps) == before:
            raise Malformed(f"{path}:{first}: a console block without a command: mark it skip or text")


def read_commands(path, script, first, end, indent=0, comments=False):
    at, command = first, None
    while at < end:
        line = script.lines[at][indent:]
        if line.startswith("$ "):
            command = Command(line=at, text=line[2:], indent=indent)
            script.steps.append(command)
            at = command.begin = read_continuation(script.lines, at + 1, end, indent, command)
            command.end = at
            continue
        at += 1
        if comments and (command is None or line.startswith("# ") or line == "#"):
            continue
        if command is None:
            if line.strip():
                raise Malformed(f"{path}:{at}: output before the first command")
            continue
        command.expected.append(line.rstrip())
        command.end = at if line.strip() else command.end
    for step in script.commands():
        drop_empty_end(step.expected)
        exit_line = EXIT.match(step.expected[-1]) if step.expected else None
        if exit_line:
            step.status = int(exit_line.group(1))
            step.expected.pop()


def read_continuation(lines, at, end, indent, command):
    """Appends the lines that continue `command`; the index of the first that does not."""
    while at < end:
        line = lines[at][indent:]
        if line.startswith("> ") or line == ">":
            command.text += "\n" + line[2:]
        elif command.text.endswith("\\"):
            command.text += "\n" + line
        else:
            break
        at += 1
    return at


def drop_empty_end(lines):
    while lines and not lines[-1]:
        lines.pop()


# Running -----------------------------------------------------------------------------------------------------------


def environment(binaries, source, scratch):
    """The caller's, without its TIDEMARK_ settings, with the built programs first."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("TIDEMARK_")}
    kept.pop("COLUMNS", None)
    kept.update(
        PATH=f"{Path(binaries).resolve()}{os.pathsep}{os.environ.get('PATH', '')}",
        SOURCE=str(source),
        HOME=str(scratch),
        NO_COLOR="1",
        LC_ALL="C",
        QT_QPA_PLATFORM="offscreen",
    )
    return kept


def run_command(command, scratch, env):
    """The lines it printed, and its exit code."""
    process = subprocess.Popen(
        ["sh", "-c", command.text],
        cwd=scratch,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    note = ""
    try:
        output, _ = process.communicate(timeout=TIMEOUT_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        note = f"\n(stopped after {TIMEOUT_SECONDS} s)"
    text = output.decode("utf-8", errors="replace") + note
    text = text.replace(str(scratch), "$SCRATCH").replace(env["SOURCE"], "$SOURCE")
    lines = [line.rstrip() for line in text.split("\n")]
    drop_empty_end(lines)
    status = process.returncode if process.returncode >= 0 else 128 - process.returncode
    return lines, status


# Comparing ---------------------------------------------------------------------------------------------------------


def is_any_lines(line):
    return line.strip() == "..."


def line_matches(expected, actual):
    if expected.startswith("\\"):
        return expected[1:] == actual
    return re.fullmatch(".*".join(re.escape(piece) for piece in expected.split("...")), actual) is not None


def matched_prefix(expected, actual):
    """The longest (i, j) such that expected[:i] matches actual[:j]; everything matches when both are whole."""
    reachable = {0}
    best = (0, 0)
    for i, line in enumerate(expected):
        if is_any_lines(line):
            reachable = set(range(min(reachable), len(actual) + 1))
        else:
            reachable = {j + 1 for j in reachable if j < len(actual) and line_matches(line, actual[j])}
        if not reachable:
            return best
        best = (i + 1, len(actual) if len(actual) in reachable else min(reachable))
    return best


def difference(command, lines, status, path):
    """A unified diff, or '' when the command did what was expected."""
    i, j = matched_prefix(command.expected, lines)
    if (i, j, command.status) == (len(command.expected), len(lines), status):
        return ""
    head = [f"$ {command.text}"]
    wished = head + lines[:j] + command.expected[i:] + exit_lines(command.status)
    printed = head + lines + exit_lines(status)
    diff = difflib.unified_diff(wished, printed, f"{path}:{command.line + 1} expected", "printed", lineterm="")
    return "\n".join(diff)


def exit_lines(status):
    return [f"[exit {status}]"] if status else []


# Files -------------------------------------------------------------------------------------------------------------


def run_file(path, binaries, source, update=False):
    """Prints what differs; the number of commands that did."""
    script = read_script(path)
    changes = []
    with tempfile.TemporaryDirectory(prefix="tidemark-console-") as folder:
        scratch = Path(folder).resolve()
        env = environment(binaries, Path(source).resolve(), scratch)
        for step in script.steps:
            if not isinstance(step, Command):
                target = scratch / step[0]
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(step[1], encoding="utf-8")
                continue
            lines, status = run_command(step, scratch, env)
            diff = difference(step, lines, status, path)
            if diff:
                print(diff)
                changes.append((step, lines, status))
    count = len(script.commands())
    print(f"{path}: {count} commands, {len(changes)} differ, {len(script.skipped)} blocks skipped")
    if update and changes:
        rewrite(path, script, changes)
        print(f"{path}: updated")
    return len(changes)


def rewrite(path, script, changes):
    lines = list(script.lines)
    for command, printed, status in reversed(changes):
        shown = ["\\" + line if SPECIAL.match(line) else line for line in printed] + exit_lines(status)
        lines[command.begin : command.end] = [(" " * command.indent + line).rstrip() for line in shown]
    Path(path).write_text("\n".join(lines) + "\n", encoding="utf-8")


def list_skipped(paths):
    files = []
    for path in map(Path, paths):
        files += sorted(path.rglob("*.md")) if path.is_dir() else [path] if path.exists() else []
    places = [f"{file}:{line + 1}" for file in files for line in read_script(file).skipped]
    print(f"console blocks shown but not run: {len(places) or 'none'}")
    for place in places:
        print(f"  {place}")


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", help="folder of the built programs")
    parser.add_argument("--source", default=Path(__file__).resolve().parents[2], help="what $SOURCE stands for")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--list-skipped", action="store_true")
    parser.add_argument("files", nargs="+")
    options = parser.parse_args(arguments)
    try:
        if options.list_skipped:
            list_skipped(options.files)
            return 0
        if not options.bin:
            parser.error("--bin is needed to run commands")
        return 1 if sum(run_file(f, options.bin, options.source, options.update) for f in options.files) else 0
    except Malformed as problem:
        print(problem, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
