#!/usr/bin/env bash
# Checks every package in packaging/ as far as it can be checked on this machine: tools/packages.sh
#
# Prints a line for each: checked, what was checked only in part, or why it could not be. Fails where a check fails.
# shellcheck disable=SC2317  # the checks are called by name
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit

place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
failed=0

report() { printf '%-12s %s\n' "$1" "$2"; }
check() { # NAME WHAT COMMAND...: run it, its output shown only when it fails
    local name=$1 what=$2
    shift 2
    if "$@" >"$place/output" 2>&1; then
        report "$name" "checked: $what"
    else
        report "$name" "FAILED: $what"
        sed 's/^/    /' "$place/output" | tail -n 20
        failed=1
    fi
}
cannot() { report "$1" "not checked: $2"; }
has() { command -v "$1" >/dev/null; }

no_compiler() { # the wheel, with nothing but Python on PATH
    .venv/bin/python -m pip --quiet wheel --no-deps -w "$place/dist" . &&
        python3 -m zipfile -e "$place"/dist/leadline-*.whl "$place/wheel" || return 1
    mkdir -p "$place/bin"
    ln -sf "$(readlink -f .venv/bin/python)" "$place/bin/python"
    local site
    site=$(.venv/bin/python -c "import sysconfig; print(sysconfig.get_path('purelib'))")
    local run=(env -i HOME="$place" PATH="$place/bin" PYTHONPATH="$place/wheel:$site" LEADLINE_STATE="$place/state"
        "$place/bin/python" -c "from leadline.cli import main; main()")
    cd "$place" || return 1
    "${run[@]}" list plans && "${run[@]}" list machines && "${run[@]}" show machine bgp && "${run[@]}" jobs &&
        "${run[@]}" completion bash
    local outcome=$?
    cd - >/dev/null || return 1
    return "$outcome"
}
completions() {
    local shell
    for shell in bash zsh fish; do
        .venv/bin/leadline completion "$shell" >"$place/completion.$shell" || return 1
        ! has "$shell" || "$shell" -n "$place/completion.$shell" || return 1
    done
}
packages() { # that an image installs
    sed -n '/install-recommends/,/python3-venv/p' "$1" | tr -cd 'a-z0-9+. \n-' | tr -s ' \n' ' ' | sed 's/.*recommends //'
}
container_files() { # both images install and build the same; what they copy and run is there
    diff <(packages packaging/Dockerfile) <(packages packaging/leadline.def) || return 1
    [ -f plans/quick.toml ] && grep -q 'leadline build quick' packaging/Dockerfile packaging/leadline.def || return 1
    # shellcheck disable=SC2046
    ! has apt-cache || apt-cache show --no-all-versions $(packages packaging/Dockerfile) >/dev/null
}
spack_package() { # the same dependencies and versions as pyproject.toml
    .venv/bin/python - <<'PYTHON'
import ast, re, sys, tomllib
from pathlib import Path
text = Path("packaging/spack/packages/leadline/package.py").read_text()
calls = [n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Call) and getattr(n.func, "id", "") == "depends_on"]
spack = {n.args[0].value.removesuffix(":") for n in calls if n.args[0].value.startswith("py-")} - {"py-hatchling"}
project = tomllib.loads(Path("pyproject.toml").read_text())["project"]
wanted = {"py-" + re.sub(r">=", "@", each) for each in project["dependencies"]}
loose = {each.partition("@")[0] for each in spack}
missing = {each for each in wanted if each not in spack and not (each.startswith("py-polars") and "py-polars" in spack)}
extra = loose - {each.partition("@")[0] for each in wanted}
assert f'version("{project["version"]}")' in text, "the package lacks the project's version"
sys.exit(f"missing {missing}, too many {extra}" if missing or extra else 0)
PYTHON
}
release() { # the version of pyproject.toml, the citation and the changelog agree
    local version
    version=$(sed -n 's/^version = "\(.*\)"/\1/p' pyproject.toml)
    grep -q "^version: $version\$" CITATION.cff && grep -qE "^## \[(Unreleased|$version)\]" CHANGELOG.md
}

check wheel "built, and used without a compiler on PATH: plans, machines, jobs, completion" no_compiler
check completions "bash, zsh and fish, by each shell that is here" completions
check spack "dependencies and version are those of pyproject.toml" spack_package
if has spack; then check spack "audited" env SPACK_USER_CONFIG_PATH="$place/spack" sh -c "spack repo add packaging/spack; spack audit packages leadline"; else cannot spack "installed: spack is not here"; fi
check images "Dockerfile and Apptainer definition install the same packages, which exist" container_files
if has docker && docker info >/dev/null 2>&1; then
    check docker "built, and lists plans" sh -c 'docker build -q -f packaging/Dockerfile -t leadline-check . && docker run --rm leadline-check list plans'
else
    cannot docker "built: no docker daemon answers"
fi
if has apptainer; then check apptainer "built and tested" apptainer build "$place/leadline.sif" packaging/leadline.def
else cannot apptainer "built: apptainer is not here"; fi
if has luac; then check modules "syntax of the Lmod file" luac -p packaging/modulefiles/leadline.lua
else cannot modules "Lmod file: luac is not here"; fi
if has tclsh; then
    check modules "executed by Tcl with the module commands" tclsh <<'TCL'
proc module-whatis {args} {}
proc prepend-path {name value} { puts "$name $value" }
proc setenv {name value} { puts "$name $value" }
source packaging/modulefiles/leadline.tcl
ModulesHelp
TCL
else
    cannot modules "Tcl file: tclsh is not here"
fi
check release "version in pyproject.toml, CITATION.cff and CHANGELOG.md" release
exit $failed
