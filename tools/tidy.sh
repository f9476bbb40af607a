#!/usr/bin/env bash
# clang-tidy on the native files that changed since the branch left origin/main (on main itself: since the last
# commit), and on those that include a changed header; with --all, on all. Reads how files are compiled from
# build/clang.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

base=$(git merge-base HEAD origin/main 2>/dev/null || true)
[ -n "$base" ] && [ "$base" != "$(git rev-parse HEAD)" ] || base=$(git rev-parse -q --verify HEAD~1 || true)

changed() { # without a base (a clone of one commit) everything counts as changed
    if [ "${1-}" = --all ] || [ -z "$base" ] || ! git diff --quiet "$base" -- .clang-tidy; then
        git ls-files -co --exclude-standard native
    else
        git diff --name-only --diff-filter=d "$base" -- native
        git ls-files -o --exclude-standard native
    fi
}

units() {
    local file
    changed "$@" | while read -r file; do
        case $file in
            *.cpp) echo "$file" ;;
            *.hpp) grep -rlF --include='*.cpp' "${file#native/}\"" native || true ;;
        esac
    done | sort -u | grep -vE '^native/comm/(mpi|sim)/' || true # those belong to the builds of an MPI
}

mapfile -t files < <(units "$@")
echo "clang-tidy: ${#files[@]} of $(git ls-files 'native/*.cpp' | wc -l) files"
[ ${#files[@]} -eq 0 ] || printf '%s\0' "${files[@]}" | xargs -0 -n 1 -P "$(nproc)" clang-tidy-16 -p build/clang --quiet
