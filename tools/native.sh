#!/usr/bin/env bash
# Builds the native code as the checks want it, with warnings as errors: tools/native.sh KIND, which is
#   sanitized  the tests, with Clang's address and undefined-behaviour sanitizers (build/sanitized)
#   programs   what Python's tests run, as users get it: the simulator, and the benchmarks for the MPIs named after it
#   warnings   what the others build with one compiler only: the tests with GCC, the benchmarks for the first MPI with
#              Clang 16, whose warnings differ
#   database   nothing: says how every file would be compiled with Clang (build/read), for clang-tidy to read
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. tools/ccache.sh

configured() { # folder, options...
    local folder=build/$1
    shift
    cmake -S native -B "$folder" -G Ninja -DLEADLINE_WERROR=ON -DLEADLINE_TESTS=ON "$@" >/dev/null
}

for_mpi() { # the options for the first MPI
    local options
    options=$(.venv/bin/python tools/builds.py settings)
    mapfile -t mpi <<<"$options"
}

clang=(-DCMAKE_C_COMPILER=clang-16 -DCMAKE_CXX_COMPILER=clang++-16 -DCMAKE_BUILD_TYPE=Debug)

case "${1-}" in
    # Clang, in half of GCC's time and with more to find; not optimised, but for what simulates. -g1: lines are named.
    sanitized) configured sanitized "${clang[@]}" -DLEADLINE_SANITIZE=ON -DCMAKE_{C,CXX}_FLAGS_DEBUG="-O0 -g1"
        cmake --build build/sanitized ;;
    programs) shift; .venv/bin/python tools/builds.py build "$@" ;;
    # Not run, only read for its warnings: without optimisation, which is most of the time.
    warnings) for_mpi
        configured gcc -DCMAKE_BUILD_TYPE=Debug -DCMAKE_{C,CXX}_FLAGS_DEBUG="-O0"
        configured clang-mpi "${clang[@]}" -DCMAKE_{C,CXX}_FLAGS_DEBUG="-O0" "${mpi[@]}"
        cmake --build build/gcc
        cmake --build build/clang-mpi ;;
    # Without precompiled headers, which nobody would have compiled.
    database) for_mpi
        configured read/local "${clang[@]}" -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON -DLEADLINE_BENCH=ON
        configured read/mpi "${clang[@]}" -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON -DLEADLINE_BENCH=ON "${mpi[@]}"
        .venv/bin/python tools/builds.py database build/read/local build/read/mpi >build/read/new
        mv build/read/new build/read/compile_commands.json ;;
    *) sed -n '2,7s/^# //p' "$0" >&2; exit 2 ;;
esac
