# shellcheck shell=bash disable=SC2034,SC2164
# Set-up shared by the scripts beside it; sourced, never run. Talk goes to stderr, so that stdout stays the
# output of the job. Every function may be called again at any time and is then quick.

called_from=$PWD  # file names on the command line are relative to this
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"

say() { printf '%s: %s\n' "$(basename "$0")" "$*" >&2; }

# die STATUS MESSAGE
die() {
  local status=$1
  shift
  say "$@"
  exit "$status"
}

# Prints the header comment of the calling script, for --help.
usage() { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; }

# Groups of scripts/packages.txt that building needs now: Qt only once there is a window to build.
build_groups() {
  echo build
  if [[ -e gui/CMakeLists.txt ]]; then echo gui; fi
}

# packages_of GROUP...: package names, in file order.
packages_of() {
  awk -v groups=" $* " '!/^#/ && NF && index(groups, " " $1 " ") { print $2 }' scripts/packages.txt
}

# Of the packages named, those that are not installed. (dpkg-query fails when it knows nothing of one of them.)
missing_of() {
  local installed
  installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "$@" 2>/dev/null |
    awk '$1 == "installed" { print $2 }' || true)
  printf '%s\n' "$@" | grep -vxF -f <(printf '%s\n' "$installed") || true
}

# What to do by hand, with the complete list: installed packages do no harm in it.
by_hand() {
  printf '\nInstall these packages by hand and start again (TIDEMARK_NO_INSTALL=1 skips this step):\n\n  apt-get install -y --no-install-recommends' >&2
  printf ' \\\n    %s' "$@" >&2
  printf '\n\n' >&2
}

# apt_get LOG ARGUMENTS...: as root, without questions, waiting for another apt that holds the lock.
apt_get() {
  local log=$1
  shift
  local -a as_root=()
  if [[ $(id -u) != 0 ]]; then as_root=(sudo); fi
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive LC_ALL=C \
    apt-get -q -y -o DPkg::Lock::Timeout=120 "$@" >>"$log" 2>&1 </dev/null
}

# apt-get's lock timeout does not cover the package lists, so waiting for those is done here.
apt_update() {
  local attempt
  for attempt in 1 2 3 4 5 6 7 8 9 10 11 12; do
    if apt_get "$1" update; then return 0; fi
    if ! grep -q 'Could not get lock' "$1"; then break; fi
    if ((attempt == 1)); then say "another apt is at work; waiting up to two minutes"; fi
    : >"$1"
    sleep 10
  done
  return 1
}

# Installs what is missing of the groups named. Exits with 2, the log and the whole list when that fails.
install_packages() {
  local -a wanted missing
  mapfile -t wanted < <(packages_of "$@")
  if [[ -n ${TIDEMARK_NO_INSTALL:-} ]]; then return; fi
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    say "no apt-get on this machine: going on with what there is (Debian's names of it are in scripts/packages.txt)"
    return
  fi
  mapfile -t missing < <(missing_of "${wanted[@]}")
  if [[ ${#missing[@]} == 0 ]]; then return; fi
  if [[ $(id -u) != 0 ]] && ! command -v sudo >/dev/null; then
    say "packages are missing, and installing them takes root or sudo: ${missing[*]}"
    by_hand "${wanted[@]}"
    exit 2
  fi

  local log
  log=$(mktemp)
  say "installing ${#missing[@]} packages: ${missing[*]}"
  apt_update "$log" || say "apt-get update failed; trying with the package lists there are"
  if ! apt_get "$log" install --no-install-recommends "${missing[@]}"; then
    tail -n 40 "$log" >&2
    rm -f "$log"
    say "installing failed (the end of apt's log is above)"
    by_hand "${wanted[@]}"
    exit 2
  fi
  rm -f "$log"
}

# As many compilers at once as there are cores, but no more than one for each 1.5 GiB of free memory.
jobs_for_machine() {
  local cores memory
  cores=$(nproc 2>/dev/null || echo 2)
  memory=$(awk '/^MemAvailable:/ { print int($2 / 1572864) }' /proc/meminfo 2>/dev/null || true)
  if [[ -n $memory ]] && ((memory < cores)); then cores=$((memory > 0 ? memory : 1)); fi
  echo "$cores"
}

# configure PRESET: skipped when its build files are newer than the presets; ninja sees to everything else. A
# build folder that was made for a source tree elsewhere (copied, moved) is of no use and goes.
configure() {
  local build=build/$1 home log
  if [[ -e $build/CMakeCache.txt ]]; then
    home=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$build/CMakeCache.txt")
    if [[ $home != "$root" ]]; then
      say "$build was made for $home: starting it afresh"
      rm -rf "$build"
    fi
  fi
  if [[ -e $build/build.ninja && $build/build.ninja -nt CMakePresets.json ]]; then return; fi
  say "configuring $build"
  log=$(mktemp)
  if ! cmake --preset "$1" >"$log" 2>&1; then
    cat "$log" >&2
    rm -f "$log"
    local -a wanted
    mapfile -t wanted < <(packages_of $(build_groups) test)
    say "configuring failed; cmake's output is above"
    if [[ -n $(missing_of "${wanted[@]}") ]]; then by_hand "${wanted[@]}"; fi
    exit 2
  fi
  rm -f "$log"
}

# build PRESET [TARGET...]: ninja's progress on stderr; exits with 2 when something does not compile.
build() {
  local preset=$1
  shift
  local -a targets=()
  if [[ $# -gt 0 ]]; then targets=(--target "$@"); fi
  say "building build/$preset"
  cmake --build --preset "$preset" --parallel "$(jobs_for_machine)" "${targets[@]}" >&2 ||
    die 2 "the build failed"
}

# Every C++ file of the project: what git tracks or would track; without git, what is outside build/.
cpp_files() {
  if [[ -e .git ]]; then
    git ls-files --cached --others --exclude-standard -- '*.h' '*.cpp'
  else
    find . \( -path ./build -o -path ./out -o -name '.?*' \) -prune -o \( -name '*.h' -o -name '*.cpp' \) -printf '%P\n'
  fi | while read -r file; do
    if [[ -e $file ]]; then echo "$file"; fi
  done | sort
}
