#!/usr/bin/env bash
# The checks: tools/test.sh SET, which is
#   short  what `make test` runs: one MPI in full, a smoke test of the others, one browser test
#   rest   everything else
#   full   both
# Each check runs whatever the others found; the last lines say what ran and how long it took. A test belongs to
# the rest by its marker `full`, which tests/conftest.py also sets.
. "$(dirname "${BASH_SOURCE[0]}")/steps.sh"
. tools/ccache.sh
set=${1-full}
case $set in short | rest | full) ;; *) sed -n '2,5s/^# //p' "$0" >&2; exit 2 ;; esac

cores=$(nproc)
mkdir -p build
rm -rf build/*.xml build/sanitized/results
ran=()

native_tests() { # without address randomisation, by which Clang 16's sanitizers end now and then where it has 32 bits
    local steady=()
    ! setarch -R true 2>/dev/null || steady=(setarch -R)
    "${steady[@]}" ctest --test-dir build/sanitized --parallel "$cores" --output-on-failure --no-tests=error
}

python_tests() { # name of the results, markers, options...
    local results=build/$1.xml markers=$2
    shift 2
    .venv/bin/python -m pytest -q --junitxml="$results" -m "$markers" "$@"
}
parallel=(--numprocesses "$cores" --dist loadfile)

sanitized() {
    step "native code, Clang with sanitizers: build" tools/native.sh sanitized
    step "native code, Clang with sanitizers: tests" native_tests
}

short() {
    beside sanitized
    step "programs for the simulator and for MPICH: build" tools/native.sh programs mpich
    step "lint" tools/lint.sh
    step "Python tests without MPI" python_tests python "not full and not mpi" "${parallel[@]}"
    join
    step "Python tests with MPI" python_tests mpi "not full and mpi"
    native=(build/sanitized/results/*.xml)
    ran+=("native=$(IFS=,; echo "${native[*]}")" "python=build/python.xml,build/mpi.xml")
}

rest() {
    step "warnings of the other compiler: build" tools/native.sh warnings
    step "clang-tidy on what changed, and all that includes it" tools/tidy.sh --includers
    step "programs for the simulator and for both MPIs: build" tools/native.sh programs mpich openmpi
    step "other Python tests without MPI" python_tests rest "full and not mpi" "${parallel[@]}"
    step "other Python tests with MPI" python_tests rest-mpi "full and mpi"
    ran+=("rest=build/rest.xml,build/rest-mpi.xml")
}

case $set in
    full) short; rest ;;
    *) "$set" ;;
esac
step "as many tests as ever" .venv/bin/python tools/floor.py "${ran[@]}"
finish
