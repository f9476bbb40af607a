#!/usr/bin/env bash
# Sourced by the scripts that check many things: every step runs, whatever the others found, and the last lines
# say how each one ended and how long it took.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

outcomes=()
failures=0
lane=""         # the process group of the steps that run beside the others
TIMEFORMAT='%0R %0U %0S'

step() { # name, command...
    local name=$1 outcome=passed times wall user system
    shift
    times=$(mktemp)
    printf '== %s\n' "$name"
    { time "$@" </dev/null 2>&3; } 3>&2 2>"$times" || { outcome=FAILED failures=$((failures + 1)); }
    read -r wall user system < <(tail -n 1 "$times")
    rm -f "$times"
    outcomes+=("$(printf '%-6s %5d s %5d s  %s' "$outcome" "$wall" $((user + system)) "$name")")
}

beside() { # function: its steps run at the same time as those that follow, until `join`
    said=$(mktemp -d)
    set -m # a process group of its own, which can be ended as a whole
    (
        trap - EXIT
        "$@"
        printf '%s\n' "${outcomes[@]}" >"$said/outcomes"
        exit "$failures"
    ) >"$said/output" 2>&1 &
    lane=$!
    set +m
    trap 'kill -- "-$lane" 2>/dev/null; rm -rf "$said"' EXIT
}

join() { # what the steps of `beside` printed, and how they ended
    wait "$lane"
    failures=$((failures + $?))
    trap - EXIT
    cat "$said/output"
    local ended=()
    mapfile -t ended <"$said/outcomes"
    outcomes=("${ended[@]}" "${outcomes[@]}")
    rm -rf "$said"
}

finish() { # exits with 1 where a step failed
    printf '\n%-6s %7s %7s  %s\n' "" "took" "used" "(s of the clock, s of processors)"
    printf '%s\n' "${outcomes[@]}"
    printf '%-6s %5d s          in all\n' "" "$SECONDS"
    exit $((failures > 0))
}
