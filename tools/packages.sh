#!/usr/bin/env bash
# Checks every package in packaging/ as far as it can be checked on this machine: tools/packages.sh
#
# Prints a line for each: checked, what was checked only in part, or why it could not be. Fails where a check fails.
# shellcheck disable=SC2317  # the checks are called by name
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit

place=$(mktemp -d)
podman=(podman --root "$place/podman" --runroot "$place/podman-run") # images of its own, which it does not leave behind
cleanup() {
    if [ -d "$place/podman" ]; then
        "${podman[@]}" rmi --all --force >/dev/null 2>&1
        umount "$place/podman/overlay" 2>/dev/null
    fi
    rm -rf "$place"
}
trap cleanup EXIT
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
container_engine() { # docker, else podman
    engine=() building=() limits=()
    if has docker && docker info >/dev/null 2>&1; then
        engine=(docker)
    elif has podman; then
        engine=("${podman[@]}") building=(--isolation chroot)
        limits=(--ulimit nofile=4096 --ulimit nproc=16384) # podman's own may be higher than this machine allows
        ! has runc || engine+=(--runtime runc)             # crun refuses some settings of cgroups that runc accepts
    fi
    [ ${#engine[@]} -gt 0 ]
}
base_tree() { # Debian 12 by debootstrap, from the mirror of this machine and with its own certificates
    [ ! -d "$place/base/etc" ] || return 0
    has debootstrap && [ "$(id -u)" = 0 ] || return 1
    local mirror
    mirror=$(apt-get indextargets --format "\$(REPO_URI)" "Created-By: Packages" "Origin: Debian" "Codename: bookworm" | head -n 1)
    # shellcheck disable=SC2086  # without one, debootstrap takes its default
    debootstrap --variant=minbase bookworm "$place/base" $mirror || return 1
    find "$place/base/dev" -mindepth 1 -delete # a container has devices of its own
    cp -r /usr/local/share/ca-certificates "$place/base/usr/local/share/"
}
base_image() {
    base=debian:12-slim
    "${engine[@]}" pull --quiet "$base" >/dev/null 2>&1 || "${engine[@]}" image inspect "$base" >/dev/null 2>&1 && return
    [ "${engine[0]}" = podman ] && base_tree >"$place/output" 2>&1 || return 1
    tar -C "$place/base" -c . | "${engine[@]}" import --quiet - "docker.io/library/$base" >/dev/null
}
clean_clone() { # the files of this working tree that git does not ignore
    mkdir -p "$place/clone"
    git ls-files --cached --others --exclude-standard -z | xargs -0 cp --parents -t "$place/clone"
}
trial() { # COMMAND...: leadline in an image, in an empty directory that is to be mounted
    "$@" --help && "$@" list plans && "$@" doctor && "$@" run latency --output runs/measured || return 1
    "$@" show measured | tee "$place/shown"
    grep -q '^mpich-' "$place/shown" && grep -q '^openmpi-' "$place/shown" && "$@" report measured || return 1
    "$@" run latency --on bgp --ranks 8 --output runs/simulated && "$@" show simulated
}
trials() { # IMAGE: as root and as a user whom it does not know
    local user
    for user in 0 1000; do
        mkdir -m 777 "$place/$1-$user"
        trial "${engine[@]}" run "${limits[@]}" --rm --user "$user" --volume "$place/$1-$user:/data" "$1" || return 1
    done
}
docker_image() {
    "${engine[@]}" build "${building[@]}" -f "$place/clone/packaging/Dockerfile" -t leadline-check "$place/clone" &&
        trials leadline-check
}
definition_image() { # what the Apptainer definition does, as a Dockerfile
    local section
    mkdir "$place/clone/definition"
    for section in post environment test runscript; do
        sed -n "/^%$section\$/,/^%/{/^%/!p}" packaging/leadline.def >"$place/clone/definition/$section"
    done
    cat >"$place/clone/definition/Dockerfile" <<'DOCKERFILE'
FROM debian:12-slim
COPY . /opt/source
COPY definition /definition
RUN sh -e /definition/post
RUN . /definition/environment && sh -e /definition/test
WORKDIR /data
ENTRYPOINT ["sh", "-c", ". /definition/environment && . /definition/runscript", "leadline"]
DOCKERFILE
    "${engine[@]}" build "${building[@]}" -f "$place/clone/definition/Dockerfile" -t definition-check "$place/clone" &&
        trials definition-check
}
apptainer_image() {
    local edits=(-e "")
    if ! apptainer pull "$place/base.sif" docker://debian:12-slim; then
        base_tree || return 1
        edits=(-e 's/^Bootstrap: .*/Bootstrap: localimage/' -e "s#^From: .*#From: $place/base#")
    fi
    sed "${edits[@]}" packaging/leadline.def >"$place/leadline.def" && mkdir "$place/apptainer" || return 1
    (cd "$place/clone" && apptainer build "$place/leadline.sif" "$place/leadline.def") &&
        trial apptainer run --writable-tmpfs --bind "$place/apptainer:/data" --pwd /data "$place/leadline.sif"
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
clean_clone
if ! container_engine; then
    why="no docker daemon answers, and podman is not here"
elif ! base_image; then
    why="debian:12-slim can neither be pulled nor made (by podman and debootstrap, as root)"
elif ! "${engine[@]}" run "${limits[@]}" --rm "$base" true >"$place/output" 2>&1; then
    why="${engine[0]} starts no container: $(tail -n 1 "$place/output")"
else
    why=
fi
if [ "$why" ]; then cannot docker "built: $why"
else check docker "built by ${engine[0]}, measured with both MPIs as root and as another user" docker_image; fi
if has apptainer; then check apptainer "built and tested, measured with both MPIs" apptainer_image
elif [ "$why" ]; then cannot apptainer "built: apptainer is not here"
else check apptainer "no image, as apptainer is not here; its scripts executed by ${engine[0]}, measured with both MPIs" definition_image; fi
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
