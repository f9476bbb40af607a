#!/usr/bin/env bash
# clang-tidy on the native files that changed since the commit that tools/tidied.txt names, at which it had read
# every file and found nothing, and on those that include a changed header; with --all, and where that commit is
# not there (a clone of one commit), on all. How files are compiled it reads from build/clang, and for the MPI
# backend from the latest build in build/mpi (tools/native.sh makes both).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

base=$(git rev-parse -q --verify "$(grep -v '^#' tools/tidied.txt)^{commit}" || true)
mpi_build=$(find build/mpi/build -mindepth 1 -maxdepth 1 -type d -printf '%T@ %p\n' | sort -n | tail -n 1 | cut -d' ' -f2-)

changed() { # without a base (a clone of one commit) everything counts as changed
    if [ "${1-}" = --all ] || [ -z "$base" ] || ! git diff --quiet "$base" -- .clang-tidy; then
        git ls-files -co --exclude-standard native
    else
        git diff --name-only --diff-filter=d "$base" -- native
        git ls-files -o --exclude-standard native
    fi
}

units() { # a header is read with the files that include it
    local file
    changed "$@" | while read -r file; do
        case $file in
            *.cpp) echo "$file" ;;
            *.hpp) grep -rlF --include='*.cpp' "${file#native/}\"" native || true ;;
        esac
    done | sort -u
}

tidy() { # the folder of a build, files...
    local build=$1
    shift
    [ $# -eq 0 ] || printf '%s\0' "$@" |
        xargs -0 -n 1 -P "$(nproc)" clang-tidy-16 -p "$build" --quiet 2> >(grep -v 'warnings generated' >&2)
}

for_mpi='^native/(comm/mpi/|tests/mpi/|bench/trust)' # what is compiled for a real MPI only
mapfile -t backend < <(units "$@" | grep -E "$for_mpi")
mapfile -t others < <(units "$@" | grep -vE "$for_mpi")
echo "clang-tidy: $((${#backend[@]} + ${#others[@]})) of $(git ls-files 'native/*.cpp' | wc -l) files"
status=0
# What is compiled for several backends is read for one.
mkdir -p build/clang/once
.venv/bin/python -c '
import json
commands = json.load(open("build/clang/compile_commands.json"))
json.dump(list({each["file"]: each for each in commands}.values()), open("build/clang/once/compile_commands.json", "w"))'
tidy build/clang/once "${others[@]}" || status=1
tidy "$mpi_build" "${backend[@]}" || status=1
exit $status
