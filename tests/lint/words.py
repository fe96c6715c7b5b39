#!/usr/bin/env python3
"""Words that do not belong in a tracked file: notes of unfinished work, and paths of somebody's machine.

Usage: words.py ROOT
"""

import re
import sys
from pathlib import Path

from project_files import project_files, report

# The patterns are put together from pieces so that this file does not find itself.
RULES = [
    (re.compile(r"\b(?:TO" r"DO|FIX" r"ME|XX" r"X)\b"), "a note of unfinished work: finish it or file it"),
    (
        re.compile(r"(?<![\w.$}~)<*-])/(?:wo" r"rk|tm" r"p|ho" r"me|ro" r"ot|User" r"s|mn" r"t)/(?=\w)"),
        "a path of one machine: use a relative path or a temporary folder",
    ),
    (re.compile(r"\b[A-Z]:\\\w"), "a path of one machine: use a relative path"),
]


def check(root):
    problems = []
    for file in project_files(root):
        content = (Path(root) / file).read_bytes()
        if b"\0" in content:
            continue
        for number, line in enumerate(content.decode("utf-8", errors="replace").splitlines(), 1):
            for pattern, complaint in RULES:
                match = pattern.search(line)
                if match:
                    problems.append(f"{file}:{number}: {match.group()!r} is {complaint}")
    return problems


if __name__ == "__main__":
    sys.exit(report(check(sys.argv[1]), "no stray words"))
