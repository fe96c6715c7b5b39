"""Which files are the project's own: what git tracks, and what it would track.

Without git (an unpacked archive), every file outside build/, out/ and hidden folders.
"""

import os
import subprocess
from pathlib import Path

CPP = (".h", ".cpp")


def project_files(root, suffixes=None):
    """Paths relative to `root`, sorted; only those that end in one of `suffixes` when given."""
    root = Path(root)
    names = _from_git(root)
    if names is None:
        names = _from_walk(root)
    files = (Path(name) for name in sorted(set(names)))
    return [f for f in files if (root / f).is_file() and (suffixes is None or f.name.endswith(suffixes))]


def _from_git(root):
    if not (root / ".git").exists():
        return None
    command = ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        listing = subprocess.run(command, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return [name for name in os.fsdecode(listing.stdout).split("\0") if name]


def _from_walk(root):
    names = []
    for folder, subfolders, files in os.walk(root):
        here = Path(folder).relative_to(root)
        top = here == Path(".")
        subfolders[:] = [s for s in subfolders if not s.startswith(".") and not (top and s in ("build", "out"))]
        names += [str(here / name) for name in files]
    return names


def report(problems, passed):
    """Prints the problems, or what was checked; the exit code."""
    for problem in problems:
        print(problem)
    print(f"{len(problems)} problems" if problems else passed)
    return 1 if problems else 0
