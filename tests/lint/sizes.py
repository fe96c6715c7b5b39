#!/usr/bin/env python3
"""Files of at most 450 lines, functions of at most 60. What is over the wish of 300 and 40 is listed, not failed.

Functions are found by matching braces in text without comments and literals, so the count is of whole lines from
the name to the closing brace. A lambda or a member function counts with the function it stands in, or by itself when
it stands in a class.

Usage: sizes.py ROOT
"""

import re
import sys
from pathlib import Path

from project_files import CPP, project_files, report

FILE_HARD, FILE_WISH = 450, 300
FUNCTION_HARD, FUNCTION_WISH = 60, 40

# Comments and literals, in the order in which they must be tried.
NOISE = re.compile(
    r"""//[^\n]* | /\*.*?\*/ | R"([^()\s\\]{0,16})\(.*?\)\1" | "(?:\\.|[^"\\\n])*" | (?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+'
      | ^[ \t]*\#[^\n]*(?:\\\n[^\n]*)*""",
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
# What may stand before a class or a function: access labels, template headings, attributes.
PREFIX = re.compile(r"\s*(?:(?:public|private|protected)\s*:(?!:)|template\s*<|\[\[.*?\]\])", re.DOTALL)
SCOPE = re.compile(r"\s*(?:(?:inline|typedef|static|constexpr|const)\s+)*(?:namespace|class|struct|union|enum)\b")


def blank(text):
    """The text with comments, literals and preprocessor lines blanked; line breaks stay."""
    return NOISE.sub(lambda noise: re.sub(r"[^\n]", " ", noise.group()), text)


def functions(text):
    """(first line, lines, name) of every function body outside other functions."""
    text = blank(text)
    found, kinds = [], []
    statement, begin = 0, None  # start of the current statement; start of the current function's text
    for place, sign in enumerate(text):
        if sign == "{":
            head = _without_prefix(text[statement:place])
            if begin is not None or _is_value(head):
                kinds.append("inner")
            elif "(" in head and not SCOPE.match(head):
                kinds.append("function")
                begin = place - len(head.lstrip())
            else:
                kinds.append("scope")
            if kinds[-1] != "inner":
                statement = place + 1
        elif sign == "}" and kinds:
            kind = kinds.pop()
            if kind != "inner":
                statement = place + 1
            if kind == "function":
                first = text.count("\n", 0, begin) + 1
                found.append((first, text.count("\n", begin, place) + 1, _name(text[begin:place])))
                begin = None
        elif sign == ";" and text.count("(", statement, place) == text.count(")", statement, place):
            statement = place + 1
    return found


def _without_prefix(head):
    """The text from the declaration proper on."""
    while match := PREFIX.match(head):
        end = match.end()
        if match.group().endswith("<"):
            depth = 1
            while depth and end < len(head):
                depth += {"<": 1, ">": -1}.get(head[end], 0)
                end += 1
        head = head[end:]
    return head


def _is_value(head):
    """Does the brace after `head` open a value (an initialiser, also of a member: `S() : a_{`) and not a body?"""
    if head.rstrip().endswith(("=", "(", ",", "return")) or head.count("(") > head.count(")"):
        return True
    return re.search(r"\)[\w\s]*:[^:].*\w$", head, re.DOTALL) is not None


def _name(text):
    match = re.search(r"([\w:~]+|operator\s*\S+)\s*\(\s*([^(){]*)", text)
    if not match:
        return "?"
    name, arguments = match.group(1), match.group(2).split(")")[0].strip()
    # TEST(Suite, Name) and its kin are macros: the arguments are the name.
    return f"{name}({arguments})" if name.isupper() and arguments else name


def check(root):
    """(problems, notes)"""
    problems, notes = [], []
    for file in project_files(root, CPP + (".py",)):
        text = (Path(root) / file).read_text(encoding="utf-8", errors="replace")
        judge(f"{file}", len(text.splitlines()), FILE_HARD, FILE_WISH, problems, notes)
        if file.name.endswith(CPP):
            for first, lines, name in functions(text):
                judge(f"{file}:{first}: {name}", lines, FUNCTION_HARD, FUNCTION_WISH, problems, notes)
    return problems, notes


def judge(what, lines, hard, wish, problems, notes):
    if lines > hard:
        problems.append(f"{what}: {lines} lines, the limit is {hard}")
    elif lines > wish:
        notes.append(f"note: {what}: {lines} lines, {wish} are wished for")


if __name__ == "__main__":
    found, wished = check(sys.argv[1])
    for note in wished:
        print(note)
    sys.exit(report(found, f"no file over {FILE_HARD} lines, no function over {FUNCTION_HARD}"))
