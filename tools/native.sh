#!/usr/bin/env bash
# Builds the native code in one of the ways that the checks want: tools/native.sh KIND, which is
#   sanitized  GCC, address and undefined-behaviour sanitizers, with the tests (build/sanitized)
#   clang      Clang 16, whose warnings differ from GCC's, and whose build clang-tidy reads (build/clang)
# Warnings are errors in both.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

options=(-DLEADLINE_WERROR=ON -DLEADLINE_TESTS=ON)
case "${1-}" in
    sanitized) options+=(-DLEADLINE_SANITIZE=ON -DCMAKE_BUILD_TYPE=RelWithDebInfo) ;;
    clang) options+=(-DCMAKE_CXX_COMPILER=clang++-16) ;;
    *) echo "usage: tools/native.sh sanitized|clang" >&2; exit 2 ;;
esac
cmake -S native -B "build/$1" -G Ninja "${options[@]}" >/dev/null
cmake --build "build/$1"
