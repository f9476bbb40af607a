#!/usr/bin/env bash
# Every check that the project has; each runs whatever the others found, and the last lines say what ran.
. "$(dirname "${BASH_SOURCE[0]}")/steps.sh"

native_tests() {
    rm -f build/native.xml
    ctest --test-dir build/sanitized --parallel "$(nproc)" --output-on-failure --no-tests=error --output-junit "$PWD/build/native.xml"
}

python_tests() {
    rm -f build/python.xml
    .venv/bin/python -m pytest -q --junitxml=build/python.xml
}

step "native code: GCC with sanitizers" tools/native.sh sanitized
step "native code: Clang" tools/native.sh clang
step "native code for an MPI: GCC and Clang" tools/native.sh mpi
step "lint" tools/lint.sh
step "native tests" native_tests
step "Python tests" python_tests
step "as many tests as ever" .venv/bin/python tools/floor.py native=build/native.xml python=build/python.xml
finish
