#!/usr/bin/env bash
# What a fresh Debian 12 or Ubuntu 24.04 machine needs, and nothing that is there already.
#
#   ./setup.sh          what 'make report' needs: compiler, libraries, two MPIs, the Python environment
#   ./setup.sh --test   that, and what 'make test' needs: linters, Clang, a browser
#   ./setup.sh --full   that, and what 'make test-full' needs: Darshan's reader, HDF5 2 with subfiling (cargo fetches it)
#
# System packages come through apt where it may be used (as root, or by sudo without a password; SETUP_APT=no
# forbids it). Where it may not, what is missing is listed with the one command that installs it, and the MPIs,
# which the Python package index has too, are taken from there. Details go to .state/setup.log.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

case "${1-}" in
    "")     goal="report" ;;
    --test) goal="test" ;;
    --full) goal="full" ;;
    *)      echo "usage: ./setup.sh [--test | --full]" >&2; exit 2 ;;
esac

mkdir -p .state
exec 9>.state/lock && flock 9      # two calls at once take turns
log=.state/setup.log
path=""                            # where the last successful probe found what it looked for
unset PYTHONHOME PYTHONPATH        # environment modules set them; they would reach into .venv
export PIP_USER=0 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1
PATH="${PATH//"$PWD/.venv/bin:"/}:/usr/sbin:/sbin"

say()  { echo "setup: $*"; }
fail() { echo "setup: $*" >&2; exit 1; }

# ---------------------------------------------------------------------------------------- what was done before

# A stamp's first line is what the set-up depends on; each other line is a file that must still exist.
wanted() { printf '%s %s\n' "$(cat setup.sh pyproject.toml | sha256sum | cut -c1-64)" "$PWD"; }

still_good() { # stamp
    local first="" file
    [ -f "$1" ] || return 1
    {
        read -r first
        [ "$first" = "$(wanted)" ] || return 1
        while read -r file; do [ -e "$file" ] || return 1; done
    } <"$1"
}

# What comes later includes what came before, so its stamp will do as well.
for done in report test full; do
    [ $done != $goal ] || enough=yes
    if [ -n "${enough-}" ] && still_good .state/setup-$done; then exit 0; fi
done
: >"$log"

step() { # what, command...: one line on the screen, all the rest into the log
    local what=$1 began=$SECONDS
    shift
    printf 'setup: %s ... ' "$what"
    echo "== $what: $*" >>"$log"
    if "$@" >>"$log" 2>&1 </dev/null 9>&-; then echo "done ($((SECONDS - began)) s)"; return; fi
    echo "failed"
    tail -n 12 "$log" | sed 's/^/  | /' >&2
    echo "setup: all of it is in $log" >&2
    return 1
}

# ------------------------------------------------------------------------------------------------------- probes
# Each succeeds and sets `path`, or fails; they look for the thing itself, however it was installed.

program() { # name [least version]
    local version
    path=$(command -v "$1") || return 1
    [ -n "${2-}" ] || return 0
    version=$("$1" --version 2>/dev/null | grep -oE '[0-9]+(\.[0-9]+)+' | head -n 1)
    [ "$(printf '%s\n%s\n' "$2" "$version" | sort -V | head -n 1)" = "$2" ]
}

header() { # name, looked for where the compiler looks
    local folder
    while read -r folder; do
        path=$folder/$1
        [ -e "$path" ] && return 0
    done < <({ g++ -E -x c++ -v /dev/null 2>&1 || true; } | sed -n '/^#include </,/^End/s/^ //p'
             printf '%s\n' /usr/include /usr/local/include)
    return 1
}

library() { # name, looked for where the loader looks
    path=$(ldconfig -p | awk -v name="$1" '$1 == name { print $NF; exit }')
    [ -n "$path" ]
}

python_with_venv() { # the python3 that the user chose if it will do, else the newest that does
    local name
    for name in python3 python3.14 python3.13 python3.12 python3.11; do
        path=$(command -v $name) || continue
        "$path" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && return 0
    done
    return 1
}

sanitizers() { # of Clang 16
    path=$(compgen -G "$(clang++-16 -print-resource-dir 2>/dev/null)/lib/*/libclang_rt.asan*.a" | head -n 1)
    [ -n "$path" ]
}

browser() { # Ubuntu's apt packages are stubs that ask for a snap: only what says its version counts
    local name
    for name in chromium google-chrome google-chrome-stable chrome chromium-browser; do
        path=$(command -v $name) || continue
        timeout 20 "$path" --version 2>/dev/null | grep -q Chrom && return 0
    done
    return 1
}

openmpi() { path=$(command -v mpicc.openmpi || command -v ompi_info); }

mpich() { # MPICH 4.2.0 as Ubuntu 24.04 builds it starts each rank as a world of its own
    path=$(command -v mpicc.mpich || command -v mpichversion) || return 1
    ! { [ "$system" = ubuntu-24.04 ] && mpichversion 2>/dev/null | grep -q '4\.2\.0$'; }
}

# ---------------------------------------------------------------------------------------------------- the needs

# "debian-12", "ubuntu-24.04"; "unknown" where the system does not say.
system=$(. /etc/os-release 2>/dev/null && echo "${ID-}-${VERSION_ID-}") || system=unknown

need() { # packages, what they are for, probe...
    local packages=$1 what=$2
    shift 2
    if "$@"; then found+=("$path"); else missing+=("$packages"); lacks+=("$what"); fi
}

look() {
    found=() missing=() lacks=()
    need make               "make"                        program make
    need g++                "g++ 12 or newer"             program g++ 12
    need cmake              "cmake 3.22 or newer"         program cmake 3.22
    need ninja-build        "ninja"                       program ninja
    need pkgconf            "pkg-config"                  program pkg-config
    need libhwloc-dev       "hwloc.h"                     header hwloc.h
    need nlohmann-json3-dev "nlohmann/json.hpp"           header nlohmann/json.hpp
    need libfftw3-dev       "fftw3.h"                     header fftw3.h
    need python3-venv       "Python 3.11 or newer with venv" python_with_venv
    [ $goal != report ] || return 0
    need libgtest-dev       "gtest/gtest.h"               header gtest/gtest.h
    need clang-16           "clang++-16"                  program clang++-16
    need libclang-rt-16-dev "Clang's sanitizers"          sanitizers
    need clang-tidy-16      "clang-tidy-16"               program clang-tidy-16
    need libhdf5-dev        "HDF5"                        header hdf5/serial/hdf5.h
    need hdf5-tools         "h5diff"                      program h5diff
    need netcdf-bin         "nccopy"                      program nccopy
    need gfortran           "gfortran"                    program gfortran
    need libjemalloc2       "jemalloc"                    library libjemalloc.so.2
    need iproute2           "ip"                          program ip
    need shellcheck         "shellcheck"                  program shellcheck
    if [ "${system%%-*}" = debian ]; then
        need chromium       "Chromium"                    browser
        need chromium-driver "chromedriver"               program chromedriver
    fi
    [ $goal = full ] || return 0
    need cargo              "cargo"                       program cargo
    need "slurmctld slurmd slurm-client munge libpmi2-0" "Slurm" program slurmctld
}

# What is missing and comes from this system's packages where they may be installed: the MPIs, which the Python package
# index has as well, HDF5 for them, and ccache, without which the checks only take longer.
look_for_more() {
    [ $goal = report ] || program ccache || missing+=("ccache")
    openmpi || missing+=("openmpi-bin libopenmpi-dev")
    [ "$system" = ubuntu-24.04 ] || mpich || missing+=("mpich libmpich-dev")
    # HDF5 for each of them, for the kernels of parallel I/O; what an MPI of the package index would need is not there.
    header hdf5/openmpi/hdf5.h || missing+=("libhdf5-openmpi-dev")
    [ "$system" = ubuntu-24.04 ] || header hdf5/mpich/hdf5.h || missing+=("libhdf5-mpich-dev")
}

# ----------------------------------------------------------------------------------------------- system packages

as_root=()
apt_may() {
    [ "${SETUP_APT-yes}" != no ] && command -v apt-get >/dev/null || return 1
    [ "$(id -u)" = 0 ] && return 0
    as_root=(sudo -n)
    command -v sudo >/dev/null && sudo -n true 2>/dev/null
}

apt() { # waits for another apt to end; the second try is for a mirror that stumbled or a stale list
    local options=(-o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 -y -q --no-install-recommends)
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get "${options[@]}" "$@"
}
apt_lists()    { apt update || { sleep 10; apt update; }; }
apt_packages() { apt install "$@" || { apt_lists && apt install "$@"; }; }
apt_knows()    { [ "$(apt-cache show --no-all-versions "$@" 2>/dev/null | grep -c '^Package: ')" -ge $# ]; }

look
if apt_may; then
    look_for_more
    # shellcheck disable=SC2206  # a need may be several packages: they are meant to be split
    packages=(${missing[@]-})
    if [ ${#packages[@]} -gt 0 ]; then
        apt_knows "${packages[@]}" || step "package lists" apt_lists || exit 1
        step "system packages: ${packages[*]}" apt_packages "${packages[@]}" || exit 1
        look
    fi
fi
if [ ${#missing[@]} -gt 0 ]; then
    say "this machine lacks (package names as on Debian):" >&2
    for i in "${!missing[@]}"; do printf '  %-28s %s\n' "${lacks[i]}" "${missing[i]}" >&2; done
    fail "this installs them: sudo apt-get install -y --no-install-recommends ${missing[*]}"
fi

# -------------------------------------------------------------------------------------------- Python environment

environment_good() { # it starts, and its scripts name this folder (a clone that was moved does not)
    .venv/bin/python -c 'import pip, sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null &&
        { [ ! -e .venv/bin/leadline ] || head -n 2 .venv/bin/leadline | grep -qF "$PWD/.venv/"; }
}

python_with_venv
environment_good || step "Python environment in .venv ($("$path" --version))" "$path" -m venv --clear .venv || exit 1
case $goal in report) extra="" ;; test) extra="[dev]" ;; full) extra="[full]" ;; esac
step "Python packages" .venv/bin/python -m pip install -q -e ".$extra" || exit 1
found+=("$PWD/.venv/bin/python" "$PWD/.venv/bin/leadline")

# ---------------------------------------------------------------------------------------------------- the MPIs

for family in openmpi mpich; do
    if $family; then found+=("$path"); continue; fi
    step "$family from the Python package index" .venv/bin/leadline doctor --install $family || exit 1
    found+=("$(realpath "${LEADLINE_STATE-.state}")/mpi/$family")
done

hdf5() { path=$(compgen -G "${LEADLINE_STATE-.state}/hdf5-*-openmpi-*/include/H5pubconf.h"); }
if [ $goal = full ]; then
    hdf5 || step "HDF5 with subfiling for Open MPI" tools/hdf5.sh openmpi || exit 1
    hdf5 && found+=("$path")
fi

[ $goal = report ] || { browser && program chromedriver; } || say "no Chromium or Chrome with chromedriver here: the browser tests will be skipped"
{ wanted; printf '%s\n' "${found[@]}"; } >".state/setup-$goal.new"
mv ".state/setup-$goal.new" ".state/setup-$goal"
say "ready"
