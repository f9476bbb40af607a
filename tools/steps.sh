#!/usr/bin/env bash
# Sourced by the scripts that check many things: every step runs, whatever the others found, and the last lines
# say how each one ended.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

outcomes=()
failures=0

step() { # name, command...
    local name=$1 began=$SECONDS outcome=passed
    shift
    printf '== %s\n' "$name"
    "$@" </dev/null || { outcome=FAILED failures=$((failures + 1)); }
    outcomes+=("$(printf '%-6s  %4d s  %s' "$outcome" $((SECONDS - began)) "$name")")
}

finish() { # exits with the number of steps that failed
    printf '\n'
    printf '%s\n' "${outcomes[@]}"
    exit "$failures"
}
