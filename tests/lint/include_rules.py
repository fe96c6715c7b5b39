#!/usr/bin/env python3
"""Every #include of the project against the rules of docs/architecture.md.

Two tables decide. LAYERS says what a folder may include of the project: the direction between the parts. Inside it,
a folder may include only the folders its CMake target declares (DEPENDS, and theirs in turn), and DEPENDS may not
run in circles. THIRD_PARTY says which files may include which library: the compiler cannot see to that, as the
libraries' headers stand on the system's search path. A header that no table knows is a problem too, so a new
dependency needs a line here and in docs/architecture.md.

Usage: include_rules.py ROOT
"""

import re
import sys
from fnmatch import fnmatchcase
from pathlib import Path

from project_files import CPP, project_files, report

PARTS = ("planner", "sim", "gui", "cli")

# Folder -> what it may include besides itself. The longest matching folder decides.
LAYERS = {
    "planner": ("planner",),
    "planner/base": (),
    "planner/alloc": ("planner/base",),
    "sim": ("planner", "sim"),
    "sim/core": ("planner/base",),
    "gui": ("gui",),
    "gui/models": ("planner", "sim"),
    "gui/views": ("gui/models", "planner/report/report.h"),
    "cli": ("planner", "sim"),
    "bench": ("planner", "sim"),
    "tests": ("planner", "sim", "gui", "cli"),
}

# Header pattern -> files that may include it.
THIRD_PARTY = [
    ("yaml-cpp/*", ["planner/config/yaml_reader.cpp"]),
    ("boost/*", ["planner/graph/*.cpp"]),
    ("nlohmann/*", ["planner/report/to_json.cpp", "planner/report/pack_json.cpp", "planner/report/json_document.*",
                    "planner/report/compare_json.cpp", "planner/report/quant_json.cpp",
                    "planner/import/*.cpp"]),
    ("Eigen/*", ["planner/lifetime/load_profile.cpp", "sim/kernels/*", "sim/device/calibrate*.cpp"]),
    ("fmt/*", ["planner/*.cpp", "sim/*.cpp", "cli/*"]),
    ("CLI/*", ["cli/*"]),
    ("flatbuffers/*", ["planner/import/*.cpp"]),
    ("google/protobuf/*", ["planner/import/*.cpp"]),
    ("tbb/*", ["sim/sweep/*.cpp", "sim/kernels/*.cpp"]),
    ("oneapi/tbb/*", ["sim/sweep/*.cpp", "sim/kernels/*.cpp"]),
    ("sqlite3.h", ["sim/sweep/*.cpp"]),
    ("zlib.h", ["planner/base/gzip.cpp"]),
    ("Q[A-Z]*", ["gui/*"]),
    ("Qt[A-Z]*/*", ["gui/*"]),
]

# Tests and benchmarks are free to look behind the walls and bring tools of their own.
FREE_OF_THIRD_PARTY_RULES = ("tests", "bench")

# One folder each, or many small ones: a header of the same folder needs no path there.
NEIGHBOURS_BY_BARE_NAME = ("cli", "tests", "bench")

# The planner owns no threads and reads no clock.
NOT_IN_PLANNER = frozenset("thread chrono ctime future condition_variable time.h sys/time.h pthread.h".split())

STANDARD = frozenset(
    """
    algorithm any array atomic barrier bit bitset cassert cctype cerrno cfenv cfloat charconv chrono cinttypes climits
    clocale cmath compare complex concepts condition_variable csetjmp csignal cstdarg cstddef cstdint cstdio cstdlib
    cstring ctime cwchar deque exception filesystem forward_list fstream functional future initializer_list iomanip ios
    iosfwd iostream istream iterator latch limits list locale map memory memory_resource mutex new numbers numeric
    optional ostream queue random ranges ratio regex scoped_allocator semaphore set shared_mutex source_location span
    sstream stack stdexcept stop_token streambuf string string_view system_error thread tuple type_traits typeindex
    typeinfo unordered_map unordered_set utility valarray variant vector version
    """.split()
)
SYSTEM = ("sys/*", "linux/*", "asm/*", "*intrin.h", "arm_neon.h", "unistd.h", "fcntl.h", "sched.h", "signal.h", "cpuid.h",
          "time.h", "pthread.h", "dirent.h", "poll.h", "termios.h")

INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')
LIBRARY = re.compile(r"tidemark_library\s*\(\s*([\w/]+)([^)]*)\)")
KEYWORDS = ("SOURCES", "DEPENDS", "LINKS")


def check(root):
    root = Path(root)
    depends = declared_dependencies(root)
    problems = [f"CMake: the folders {' -> '.join(circle)} depend on each other" for circle in circles(depends)]
    for file in project_files(root, CPP):
        if file.parts[0] not in PARTS + FREE_OF_THIRD_PARTY_RULES:
            continue
        text = (root / file).read_text(encoding="utf-8", errors="replace")
        for number, line in enumerate(text.splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            own, other = match.groups()
            problem = check_own(root, file, own, depends) if own else check_other(file, other)
            if problem:
                problems.append(f"{file}:{number}: {problem}")
    return problems


def check_own(root, file, header, depends):
    """What is wrong with `#include "header"` in `file`, or None."""
    if file.parts[0] in NEIGHBOURS_BY_BARE_NAME and (root / file.parent / header).is_file():
        return None
    if header.startswith("support/") and (root / "tests" / header).is_file():
        return None if file.parts[0] in FREE_OF_THIRD_PARTY_RULES else f'"{header}" is for tests only'
    if not header.startswith(tuple(part + "/" for part in PARTS)):
        return f'"{header}" must be spelled from the top of the tree, as "planner/base/bytes.h"'
    if not (root / header).is_file():
        return f'"{header}" does not exist'
    folder = target_of(file.parent.as_posix(), depends)
    target = target_of(Path(header).parent.as_posix(), depends)
    if target == folder:
        return None
    layer = max((name for name in LAYERS if inside(folder, name)), key=len)
    if not any(inside(header, allowed) for allowed in (layer, *LAYERS[layer])):
        return f'{layer} may not include "{header}"'
    if folder in depends and target not in closure(folder, depends):
        return f'"{header}": {folder} does not declare {target} in its CMake DEPENDS'
    return None


def target_of(folder, depends):
    """The folder whose library a folder's files are in: itself, or the nearest above it."""
    above = folder
    while above not in depends and "/" in above:
        above = above.rpartition("/")[0]
    return above if above in depends else folder


def check_other(file, header):
    """What is wrong with `#include <header>` in `file`, or None."""
    if file.parts[0] in FREE_OF_THIRD_PARTY_RULES:
        return None
    if file.parts[0] == "planner" and header in NOT_IN_PLANNER:
        return f"<{header}>: the planner owns no threads and reads no clock"
    if header in STANDARD or any(fnmatchcase(header, pattern) for pattern in SYSTEM):
        return None
    for pattern, places in THIRD_PARTY:
        if fnmatchcase(header, pattern):
            if any(fnmatchcase(file.as_posix(), place) for place in places):
                return None
            return f"<{header}> belongs in {' and '.join(places)} only"
    return f"<{header}> is in no table of tests/lint/include_rules.py"


def inside(path, folder):
    return path == folder or path.startswith(folder + "/")


def declared_dependencies(root):
    """Folder -> folders in DEPENDS, read from every tidemark_library() of the tree."""
    depends = {}
    for file in project_files(root, ("CMakeLists.txt",)):
        text = re.sub(r"#.*", "", (root / file).read_text(encoding="utf-8"))
        for folder, arguments in LIBRARY.findall(text):
            keyword = None
            depends[folder] = set()
            for word in arguments.split():
                if word in KEYWORDS:
                    keyword = word
                elif keyword == "DEPENDS":
                    depends[folder].add(word)
    return depends


def closure(folder, depends):
    """All folders reachable from `folder`, not itself unless in a circle."""
    reached, waiting = set(), list(depends.get(folder, ()))
    while waiting:
        here = waiting.pop()
        if here not in reached:
            reached.add(here)
            waiting += depends.get(here, ())
    return reached


def circles(depends):
    """One circle for each set of folders that depend on each other."""
    found, seen = [], set()
    for folder in sorted(depends):
        if folder in closure(folder, depends) and folder not in seen:
            members = sorted(f for f in closure(folder, depends) if folder in closure(f, depends))
            seen.update(members)
            found.append(members + members[:1])
    return found


if __name__ == "__main__":
    sys.exit(report(check(sys.argv[1]), "every #include follows the table"))
