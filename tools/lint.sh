#!/usr/bin/env bash
# Reads every source without running it: style, types, and the warnings of two compilers' tools.
. "$(dirname "${BASH_SOURCE[0]}")/steps.sh"

mapfile -t native < <(git ls-files -co --exclude-standard -- 'native/*.cpp' 'native/*.hpp' 'native/*.c' 'native/*.h')
mapfile -t scripts < <(git ls-files -co --exclude-standard -- '*.sh' .ci/run)

step "ruff check" .venv/bin/ruff check --quiet
step "ruff format" .venv/bin/ruff format --quiet --check
step "mypy --strict" .venv/bin/mypy
step "clang-format" .venv/bin/clang-format --dry-run -Werror "${native[@]}"
step "shellcheck" shellcheck -S warning -x -P SCRIPTDIR "${scripts[@]}"
step "clang-tidy on what changed" tools/tidy.sh
finish
