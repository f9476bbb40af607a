#!/usr/bin/env bash
# Lays out every source as `make lint` wants it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
.venv/bin/ruff check --quiet --fix-only
.venv/bin/ruff format --quiet
git ls-files -z -co --exclude-standard -- 'native/*.cpp' 'native/*.hpp' 'native/*.c' 'native/*.h' |
    xargs -0 -r .venv/bin/clang-format -i
