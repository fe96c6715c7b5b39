#!/usr/bin/env python3
"""The answer of every rc::check is used. It returns whether the law held, and fails no test by itself.

Usage: laws.py ROOT
"""

import re
import sys
from pathlib import Path

from project_files import CPP, project_files, report
from sizes import blank

# A statement of its own: what stands before it ended one, or opened a block.
DROPPED = re.compile(r"(?:\A|[;{}])\s*(?=rc::check\s*\()")


def check(root):
    problems = []
    for file in project_files(root, CPP):
        text = blank((Path(root) / file).read_text(encoding="utf-8", errors="replace"))
        for match in DROPPED.finditer(text):
            line = text.count("\n", 0, match.end()) + 1
            problems.append(f"{file}:{line}: this law cannot fail; write EXPECT_TRUE(rc::check(...))")
    return problems


if __name__ == "__main__":
    sys.exit(report(check(sys.argv[1]), "every law can fail"))
