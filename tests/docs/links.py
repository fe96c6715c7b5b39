#!/usr/bin/env python3
"""Every relative link of every Markdown page leads to a file, and to a heading where it names one; and every page
below docs/ can be reached from docs/README.md.

Usage: links.py ROOT
"""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lint"))
from project_files import project_files, report  # noqa: E402

LINK = re.compile(r"\[[^\]]*\]\(\s*<?([^)\s>]+)>?[^)]*\)|^\[[^\]]+\]:\s*(\S+)|<(?:img|a)\s[^>]*(?:src|href)=\"([^\"]+)\"")
FENCE = re.compile(r"^ *(```|~~~)")


def prose(text):
    """(number, line) of the lines outside fenced blocks, without inline code."""
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if FENCE.match(line):
            fenced = not fenced
        elif not fenced:
            yield number, re.sub(r"`[^`]*`", "", line)


def anchors(text):
    """The headings, spelled as links name them."""
    found = set()
    fenced = False
    for line in text.splitlines():
        if FENCE.match(line):
            fenced = not fenced
        elif not fenced and line.startswith("#"):
            words = re.sub(r"[^\w\- ]", "", line.lstrip("#").strip().lower())
            found.add(words.replace(" ", "-"))
    return found


def check(root):
    root = Path(root)
    problems = []
    for page in project_files(root, (".md",)):
        text = (root / page).read_text(encoding="utf-8")
        for number, line in prose(text):
            for groups in LINK.findall(line):
                link = next(filter(None, groups))
                problem = problem_of(root, root / page, link)
                if problem:
                    problems.append(f"{page}:{number}: {link}: {problem}")
    return problems


def targets(page):
    """The existing pages that `page` links to."""
    for _, line in prose(page.read_text(encoding="utf-8")):
        for groups in LINK.findall(line):
            target = (page.parent / next(filter(None, groups)).partition("#")[0]).resolve()
            if target.suffix == ".md" and target.exists():
                yield target


def unreachable(root):
    root = Path(root).resolve()
    waiting = [root / "docs/README.md"]
    reached = set(waiting)
    while waiting:
        new = set(targets(waiting.pop())) - reached
        reached |= new
        waiting += new
    pages = (f for f in project_files(root, (".md",)) if f.parts[0] == "docs")
    return [f"{page}: no way leads here from docs/README.md" for page in pages if root / page not in reached]


def problem_of(root, page, link):
    if re.match(r"[a-z]+:", link):
        return None
    name, _, anchor = link.partition("#")
    target = (page.parent / name).resolve() if name else page.resolve()
    if not target.is_relative_to(root.resolve()):
        return "leads out of the tree"
    if not target.exists():
        return "no such file"
    if anchor and target.suffix == ".md" and anchor not in anchors(target.read_text(encoding="utf-8")):
        return "no such heading"
    return None


if __name__ == "__main__":
    sys.exit(report(check(sys.argv[1]) + unreachable(sys.argv[1]), "every link leads somewhere"))
