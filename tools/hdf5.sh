#!/usr/bin/env bash
# Builds a current HDF5 for an MPI, parallel and with its subfiling driver: tools/hdf5.sh [MPI], by default openmpi.
#
# Debian's HDF5 is 1.10, which has no subfiling. The sources are those that the crate hdf5-metno-src carries, fetched
# by cargo; HDF5 2 wants CMake 3.26, which is taken from the Python package index where the system's is older. What it
# makes stands in .state/hdf5-VERSION-MPI and is used where LEADLINE_HDF5 names it ('current': by its place).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

CRATE=hdf5-metno-src CRATE_VERSION=0.10.4
CMAKE_LEAST=3.26
mpi=${1:-openmpi}

say()  { echo "hdf5: $*"; }
fail() { echo "hdf5: $*" >&2; exit 1; }

at_least() { [ "$(printf '%s\n%s\n' "$1" "$2" | sort -V | head -n 1)" = "$1" ]; } # wanted, found

command -v cargo >/dev/null || fail "cargo is not installed, by which the sources are fetched; install it, e.g. 'apt install cargo'"
found=$(.venv/bin/python - "$mpi" <<'PYTHON'
import sys

from leadline.mpi.discover import find, resolve
from leadline.core.paths import state_dir

mpi = resolve(sys.argv[1], find())
print(state_dir(), mpi.id, mpi.compiler or "", sep="\n")
PYTHON
) || fail "there is no MPI '$mpi' here; 'leadline list mpis' has those that are"
mapfile -t found <<<"$found"
state=${found[0]} id=${found[1]} compiler=${found[2]-}
[ -n "$compiler" ] || fail "$id has no compiler wrapper (mpicc); install its development package"

work=$(mktemp -d "${TMPDIR:-/tmp}/leadline-hdf5.XXXXXX")
trap 'rm -rf "$work"' EXIT
log=$state/hdf5.log
mkdir -p "$state"
: >"$log"

logged() { # what, command...
    local what=$1
    shift
    say "$what"
    "$@" >>"$log" 2>&1 </dev/null || { tail -n 12 "$log" | sed 's/^/  | /' >&2; fail "$what failed; see $log"; }
}

# A project that needs nothing but the crate, so that cargo lays down its sources.
mkdir -p "$work/project/src"
touch "$work/project/src/lib.rs"
printf '[package]\nname = "fetch"\nversion = "0.0.0"\nedition = "2021"\n[dependencies]\n%s = "=%s"\n' \
    $CRATE $CRATE_VERSION >"$work/project/Cargo.toml"
logged "fetching $CRATE $CRATE_VERSION" \
    env -C "$work/project" cargo vendor --quiet "$work/vendor"
sources=$work/vendor/$CRATE/ext/hdf5
[ -f "$sources/CMakeLists.txt" ] || fail "$CRATE $CRATE_VERSION carries no sources of HDF5 in ext/hdf5"
version=$(awk '/^#define H5_VERS_(MAJOR|MINOR|RELEASE) / {print $3}' "$sources/src/H5public.h" | paste -sd.)
target=$state/hdf5-$version-$id
if [ -f "$target/include/H5pubconf.h" ]; then
    say "HDF5 $version for $id is in $target"
    exit 0
fi

cmake=$(command -v cmake || true)
have=$([ -z "$cmake" ] || "$cmake" --version | awk 'NR == 1 {print $3}')
if [ -z "$have" ] || ! at_least $CMAKE_LEAST "$have"; then
    logged "CMake $CMAKE_LEAST or newer, since ${have:-none} is here" python3 -m venv "$work/venv"
    logged "installing it" "$work/venv/bin/pip" --quiet --disable-pip-version-check install "cmake>=$CMAKE_LEAST"
    cmake=$work/venv/bin/cmake
fi

# What the crate leaves out (tools, tests, other languages) is off; the pages of the sources have each option.
options=(
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_C_COMPILER="$compiler"
    -DCMAKE_INSTALL_PREFIX="$target" -DHDF5_NO_PACKAGES=ON
    -DBUILD_SHARED_LIBS=ON -DBUILD_STATIC_LIBS=OFF -DBUILD_TESTING=OFF
    -DHDF5_BUILD_TOOLS=OFF -DHDF5_BUILD_EXAMPLES=OFF -DHDF5_BUILD_UTILS=OFF -DHDF5_BUILD_HL_LIB=OFF
    -DHDF5_BUILD_FORTRAN=OFF -DHDF5_BUILD_CPP_LIB=OFF -DHDF5_BUILD_JAVA=OFF
    -DHDF5_ENABLE_ZLIB_SUPPORT=OFF -DHDF5_ENABLE_SZIP_SUPPORT=OFF
    -DHDF5_ENABLE_PARALLEL=ON -DHDF5_ENABLE_SUBFILING_VFD=ON
)
command -v ninja >/dev/null && options+=(-G Ninja)
logged "configuring HDF5 $version for $id" "$cmake" -S "$sources" -B "$work/build" "${options[@]}"
logged "building it" "$cmake" --build "$work/build" --parallel "$(nproc)"
# Whole or not at all, and yet with its own place written into it.
logged "installing it" env DESTDIR="$work/made" "$cmake" --install "$work/build"
grep -q '^#define H5_HAVE_SUBFILING_VFD 1' "$work/made$target/include/H5pubconf.h" || fail "what was built has no subfiling driver; see $log"
rm -rf "$target"
mv "$work/made$target" "$target"
say "HDF5 $version for $id is in $target; LEADLINE_HDF5=current takes it"
