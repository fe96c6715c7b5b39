#!/usr/bin/env python3
"""The build itself refuses an include against the rules: with the include folders of a target, a header of a folder
it depends on compiles, and any other is not even found.

Usage: build_rule.py COMPILER FOLDERS good|bad HEADER...
  FOLDERS  the target's include folders, joined by '|'
  good     every HEADER must compile
  bad      no HEADER may be found
"""

import subprocess
import sys
import tempfile


def try_include(compiler, folders, header):
    """(compiled, what the compiler said)"""
    command = [compiler, "-std=c++20", "-fsyntax-only", "-x", "c++", "-"]
    command += [f"-I{folder}" for folder in folders.split("|") if folder]
    # In an empty folder: quoted includes are looked up beside the including file first.
    with tempfile.TemporaryDirectory() as empty:
        run = subprocess.run(
            command, input=f'#include "{header}"\n', capture_output=True, text=True, check=False, cwd=empty
        )
    return run.returncode == 0, run.stderr


def check(compiler, folders, wish, headers):
    problems = []
    for header in headers:
        compiled, said = try_include(compiler, folders, header)
        if wish == "good" and not compiled:
            problems.append(f'"{header}" should compile here, but:\n{said}')
        # Any other error would mean that the header was found.
        if wish == "bad" and (compiled or f"{header}: No such file" not in said):
            problems.append(f'"{header}" should not be found here\n{said}')
    return problems


if __name__ == "__main__":
    found = check(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:])
    print("\n".join(found) or f"{len(sys.argv) - 4} headers, as expected")
    sys.exit(1 if found else 0)
