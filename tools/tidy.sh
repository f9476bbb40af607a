#!/usr/bin/env bash
# clang-tidy on the native files that changed since the commit that tools/tidied.txt names, at which it had read
# every file and found nothing, and on one that includes each changed header; with --includers, on every file that
# does; with --all, and where that commit is not there (a clone of one commit), on all files. How files are compiled
# it reads from build/read (tools/native.sh database).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

base=$(git rev-parse -q --verify "$(grep -v '^#' tools/tidied.txt)^{commit}" || true)

changed() { # without a base (a clone of one commit) everything counts as changed
    if [ "${1-}" = --all ] || [ -z "$base" ] || ! git diff --quiet "$base" -- .clang-tidy; then
        git ls-files -co --exclude-standard native
    else
        git diff --name-only --diff-filter=d "$base" -- native
        git ls-files -o --exclude-standard native
    fi
}

units() { # a header is read with a file that includes it, or with all that do
    local file most=1
    [ "${1-}" != --includers ] || most=1000
    changed "$@" | while read -r file; do
        case $file in
            *.cpp) echo "$file" ;;
            *.hpp) { grep -rlF --include='*.cpp' "${file#native/}\"" native || true; } | sort | head -n $most ;;
        esac
    done | sort -u
}

mapfile -t files < <(units "$@")
echo "clang-tidy: ${#files[@]} of $(git ls-files 'native/*.cpp' | wc -l) files"
[ ${#files[@]} -gt 0 ] || exit 0
tools/native.sh database
printf '%s\0' "${files[@]}" |
    xargs -0 -n 1 -P "$(nproc)" clang-tidy-16 -p build/read --quiet 2> >(grep -v 'warnings generated' >&2)
