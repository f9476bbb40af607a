#!/usr/bin/env bash
# A CephFS of this machine alone, for as long as something runs on it: tools/ceph.sh [COMMAND...]
#
# One monitor, one manager, one metadata server, four targets that write CEPH_RATE MB/s each (40), in a temporary
# folder, mounted by FUSE without a module of the kernel. Without COMMAND the tuner is asked which stripe count is the
# best for one file of 64 MiB that four ranks write, and the test fails unless it finds one better than 1. With it,
# COMMAND finds the mount in LEADLINE_CEPH. Everything is stopped and removed afterwards, also after a failure.
#
# Needs root: loop devices, a control group for each target (version 1 or 2), the mount. Debian's packages are
# installed where they are missing, unless SETUP_APT=no.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

RATE=${CEPH_RATE:-40}
TARGETS=4 TARGET_SIZE=1536M
OBJECT=$((64 << 20)) UNIT=$((1 << 20)) # B; one object holds the whole file, so that stripes alone spread it
PATIENCE=120                            # s, until the cluster answers

say()  { echo "ceph: $*"; }
fail() { echo "ceph: $*" >&2; exit 1; }

# ------------------------------------------------------------------------------------------------- what is needed

[ "$(id -u)" -eq 0 ] || fail "loop devices, control groups and mounts need root; run 'sudo make ceph-test'"
[[ $RATE =~ ^[1-9][0-9]{0,4}$ ]] || fail "CEPH_RATE is a whole number of MB/s, but got '$RATE'"
[ -e /dev/fuse ] || fail "there is no /dev/fuse, so nothing can be mounted"

packages=(ceph-mon ceph-mgr ceph-osd ceph-mds ceph-fuse ceph-common)
missing=()
for each in ceph-mon ceph-mgr ceph-osd ceph-mds ceph-fuse ceph monmaptool; do
    command -v "$each" >/dev/null || missing+=("$each")
done
if [ ${#missing[@]} -gt 0 ]; then
    [ "${SETUP_APT:-}" != no ] && command -v apt-get >/dev/null ||
        fail "${missing[*]} are missing; install them, e.g. 'apt install ${packages[*]}'"
    mkdir -p .state
    say "installing ${packages[*]}"
    DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${packages[@]}" \
        >.state/ceph-setup.log 2>&1 </dev/null || fail "apt could not install them; see .state/ceph-setup.log"
fi

# ------------------------------------------------------------------------------------------- and taken down again

started=() loops=() groups=() place="" client=""

mounted() { grep -q " $place/mount " /proc/mounts; } # asks nobody: a mount whose cluster is gone answers nobody

take_down() {
    local outcome=$? each
    trap - EXIT
    # What is still written to the mount fails at once when its client is gone. Nothing is worth an orderly end.
    [ -z "$client" ] || kill -KILL "$client" 2>/dev/null || true
    [ -z "$place" ] || ! mounted || umount -l "$place/mount" || true
    [ ${#started[@]} -eq 0 ] || kill -KILL "${started[@]}" 2>/dev/null || true
    for each in {1..100}; do
        kill -0 "${started[@]}" 2>/dev/null || break
        sleep 0.1
    done
    for each in "${loops[@]}"; do losetup -d "$each" || true; done
    for each in "${groups[@]}"; do rmdir "$each" 2>/dev/null || { sleep 1; rmdir "$each"; } || true; done
    if [ "$outcome" -ne 0 ] && [ -n "$place" ] && [ -n "$(ls "$place"/*.log 2>/dev/null)" ]; then
        mkdir -p .state/ceph-log
        cp "$place"/*.log .state/ceph-log/ && say "what its parts said is kept in .state/ceph-log" >&2
    fi
    [ -z "$place" ] || rm -rf --one-file-system "$place"
    exit "$outcome"
}
trap take_down EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# ---------------------------------------------------------------------------------------------------- what limits

# Puts this process into a group whose writes to a device are limited: version 1 of control groups has a tree for
# block devices; version 2 has one for all.
limit() { # name, device's numbers
    local group=/sys/fs/cgroup/blkio/$1
    if [ -e /sys/fs/cgroup/blkio/blkio.throttle.write_bps_device ]; then
        mkdir "$group" && groups+=("$group")
        echo "$2 ${RATE}000000" >"$group/blkio.throttle.write_bps_device"
    elif grep -qw io /sys/fs/cgroup/cgroup.controllers 2>/dev/null; then
        group=/sys/fs/cgroup/$1
        echo +io >/sys/fs/cgroup/cgroup.subtree_control
        mkdir "$group" && groups+=("$group")
        echo "$2 wbps=${RATE}000000" >"$group/io.max"
    else
        fail "no control group here limits what is written to block devices"
    fi
}

# ---------------------------------------------------------------------------------------------------- the cluster

configure() { # port
    cat <<CONF
[global]
fsid = $(cat /proc/sys/kernel/random/uuid)
mon host = [v2:127.0.0.1:$1]
public network = 127.0.0.0/8
auth cluster required = none
auth service required = none
auth client required = none
run dir = $place
admin socket =
log file = $place/\$name.log
mon data = $place/mon
mgr data = $place/mgr
mds data = $place/mds
osd data = $place/osd\$id
mon data avail crit = 0
mon allow pool size one = true
mgr initial modules =
osd pool default size = 1
osd pool default min size = 1
osd pool default pg autoscale mode = off
osd crush chooseleaf type = 0
osd memory target = 939524096
# Bytes are worth no sums here, where two cores do all of it.
ms crc data = false
bluestore csum type = none
debug osd = 0/0
debug ms = 0/0
debug bluestore = 0/0
debug bdev = 0/0
debug rocksdb = 0/0
debug objecter = 0/0
debug objectcacher = 0/0
debug client = 0/0
# What a program has written is on the targets when its file is closed, but for this.
client oc max dirty = 4194304
client oc target dirty = 2097152
CONF
}

begin() { # name, command...
    local name=$1
    shift
    "$@" >>"$place/$name.log" 2>&1 </dev/null &
    started+=($!)
    disown # so that its end, when all is taken down, is no news
}

ask() { timeout "$PATIENCE" ceph "$@" >>"$place/asked.log" 2>&1 </dev/null; }

wait_for() { # what, command...
    local what=$1 end=$((SECONDS + PATIENCE))
    shift
    until "$@" >>"$place/asked.log" 2>&1; do
        [ $SECONDS -lt $end ] || fail "$what is not there after $PATIENCE s"
        sleep 0.5
    done
}

answers() { timeout 10 ceph "${@:2}" 2>>"$place/asked.log" | grep -Eq "$1"; } # pattern, question...

says() { wait_for "$1" answers "${@:2}"; } # what, pattern, question...

target() { # number
    local id loop
    truncate -s "$TARGET_SIZE" "$place/disk$1"
    loop=$(losetup -f --show "$place/disk$1") || fail "no loop device can be had"
    loops+=("$loop")
    id=$(cat /proc/sys/kernel/random/uuid)
    ask osd new "$id"
    mkdir "$place/osd$1"
    ln -s "$loop" "$place/osd$1/block"
    ceph-osd -i "$1" --mkfs --osd-uuid "$id" >>"$place/osd.$1.log" 2>&1
    limit "leadline-ceph-$$-$1" "$(cat "/sys/block/${loop#/dev/}/dev")"
    # shellcheck disable=SC2016  # of the inner shell
    begin "osd.$1" sh -c 'echo $$ >"$0/cgroup.procs" && exec ceph-osd -f -i "$1"' "${groups[-1]}" "$1"
}

bring_up() {
    local port each
    place=$(mktemp -d "$([ -w /dev/shm ] && echo /dev/shm || echo "${TMPDIR:-/tmp}")/leadline-ceph.XXXXXX")
    port=$(.venv/bin/python -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
    export CEPH_CONF=$place/ceph.conf
    configure "$port" >"$CEPH_CONF"
    mkdir "$place/mon" "$place/mgr" "$place/mds" "$place/mount"
    monmaptool --create --fsid "$(awk '/^fsid/ {print $3}' "$CEPH_CONF")" --addv a "[v2:127.0.0.1:$port]" \
        "$place/monmap" >>"$place/asked.log"
    ceph-mon --mkfs -i a --monmap "$place/monmap" >>"$place/mon.a.log" 2>&1
    begin mon.a ceph-mon -f -i a
    wait_for "the monitor" timeout 10 ceph mon stat
    begin mgr.a ceph-mgr -f -i a
    for ((each = 0; each < TARGETS; ++each)); do target "$each"; done
    # A pool that is made while its targets come up may have parts that wait for ever.
    says "the targets" " $TARGETS up " osd stat
    # What is being read through for faults cannot be written meanwhile.
    ask osd set noscrub
    ask osd set nodeep-scrub
    ask osd pool create meta 8
    ask osd pool create data 64
    ask fs new leadline meta data
    begin mds.a ceph-mds -f -i a
    says "the metadata server" 'up:active' mds stat
    says "the pools" '^([0-9]+) pgs: \1 active\+clean;' pg stat
    begin client ceph-fuse -f "$place/mount"
    client=${started[-1]}
    wait_for "the mount" mounted
    .venv/bin/python -c 'import os, sys; os.setxattr(sys.argv[1], "ceph.dir.layout", sys.argv[2].encode())' \
        "$place/mount" "stripe_unit=$UNIT stripe_count=1 object_size=$OBJECT"
    export LEADLINE_CEPH=$place/mount
}

# ------------------------------------------------------------------------------------------------------ the test

tune() {
    local run best
    run=runs/ceph-$(date +%Y%m%d-%H%M%S)
    .venv/bin/leadline io tune --space cephfs --kernel ior --set pattern=shared --set transfer=independent \
        --budget 5 --directory "$LEADLINE_CEPH" --output "$run" | tee "$place/answer"
    best=$(sed -n 's/^striping_factor = //p' "$run/settings.toml" 2>/dev/null || true)
    [ "${best:-1}" -gt 1 ] || fail "the tuner found no stripe count that is better than 1; see $run"
    say "of 1, 2, 4, 8 and 16 stripes $best are the best: $(grep -m 1 -o '[0-9.]* \[[0-9., ]*\] times as fast' "$place/answer") as 1"
}

.venv/bin/python -c '' 2>/dev/null || fail "there is no .venv; run ./setup.sh"
say "starting $TARGETS targets of $RATE MB/s"
bring_up
say "a CephFS is at $LEADLINE_CEPH"
if [ $# -gt 0 ]; then "$@"; else tune; fi
