#!/usr/bin/env bash
# Builds the native code as the checks want it, with warnings as errors: tools/native.sh KIND, which is
#   sanitized  the tests, with GCC's address and undefined-behaviour sanitizers (build/sanitized)
#   clang      the tests, with Clang 16, whose warnings differ from GCC's; clang-tidy reads it (build/clang)
#   mpi        the benchmarks for the first MPI found, with each of the two compilers (build/mpi)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

with_cmake() { # folder, options...
    local folder=build/$1
    shift
    cmake -S native -B "$folder" -G Ninja -DLEADLINE_WERROR=ON -DLEADLINE_TESTS=ON "$@" >/dev/null
    cmake --build "$folder"
}

with_mpi() { # compiler
    LEADLINE_STATE=build/mpi CXX=$1 CXXFLAGS=-Werror .venv/bin/python -c '
from leadline.build import build
from leadline.mpi.discover import resolve

print(build(resolve("default")))'
}

case "${1-}" in
    # -O1 -g1: half the time that -O2 -g takes to compile, and lines are still named.
    sanitized) with_cmake sanitized -DLEADLINE_SANITIZE=ON -DCMAKE_BUILD_TYPE=Debug \
        -DCMAKE_CXX_FLAGS_DEBUG="-O1 -g1" ;;
    # Not run, only read for its warnings: without optimisation, which is most of the time.
    clang) with_cmake clang -DCMAKE_CXX_COMPILER=clang++-16 -DCMAKE_BUILD_TYPE=Debug \
        -DCMAKE_CXX_FLAGS_DEBUG="-O0" ;;
    mpi) with_mpi g++ && with_mpi clang++-16 ;;
    *) sed -n '2,5s/^# //p' "$0" >&2; exit 2 ;;
esac
