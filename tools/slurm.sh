#!/usr/bin/env bash
# A Slurm of this machine alone: tools/slurm.sh start | stop | status
#
# munged, slurmctld and two slurmd (`-N`), each in a UTS namespace of its own, so that ranks on node1 and node2 see two
# host names. `start` prints what the shell needs: eval "$(tools/slurm.sh start)". Both nodes offer all processors of this
# machine: placement, limits and restarts are real, times of two busy nodes are not. Configuration, keys, spools and logs
# are in SLURM_HERE (a folder in TMPDIR); nothing is written elsewhere, and `stop` removes it.
#
# Settings: SLURM_PORT (16817, and the two after it), SLURM_TASK (task/affinity; task/none binds no rank),
# SLURM_CPUS (processors of each node). Needs root. Debian's packages are installed where they are missing, unless
# SETUP_APT=no.
set -euo pipefail

here=${SLURM_HERE:-${TMPDIR:-/tmp}/leadline-slurm}
port=${SLURM_PORT:-16817}
task=${SLURM_TASK:-task/affinity}
cpus=${SLURM_CPUS:-$(nproc)}
nodes=(node1 node2)
PATIENCE=30 # s, until the nodes are idle

say()  { echo "slurm: $*" >&2; }
fail() { say "$*"; exit 1; }

pid_of() { cat "$here/$1.pid" 2>/dev/null || true; }
alive() { [ -n "$(pid_of "$1")" ] && kill -0 "$(pid_of "$1")" 2>/dev/null; }

install_packages() {
    local each missing=()
    for each in munged slurmctld slurmd srun unshare; do
        command -v "$each" >/dev/null || missing+=("$each")
    done
    [ ${#missing[@]} -eq 0 ] && return
    if [ "${SETUP_APT:-}" = no ] || ! command -v apt-get >/dev/null; then
        fail "${missing[*]} are missing; install them, e.g. 'apt install slurmctld slurmd slurm-client munge'"
    fi
    say "installing slurmctld slurmd slurm-client munge"
    local install=(apt-get install -q -y --no-install-recommends slurmctld slurmd slurm-client munge libpmi2-0)
    DEBIAN_FRONTEND=noninteractive "${install[@]}" >"$here/apt.log" 2>&1 </dev/null ||
        { apt-get -q update && "${install[@]}"; } >>"$here/apt.log" 2>&1 </dev/null ||
        fail "apt could not install them; see $here/apt.log"
}

configure() {
    mkdir -p "$here"/{state,node1,node2,munge}
    chmod 711 "$here" "$here/munge"
    ( umask 077; head -c 1024 /dev/urandom >"$here/munge/key" )
    local cores packages
    packages=$(lscpu -p=SOCKET | grep -v '^#' | sort -u | wc -l)
    cores=$(lscpu -p=CORE | grep -v '^#' | sort -u | wc -l)
    local shape="CPUs=$cpus"
    [ "$cpus" -ne "$(nproc)" ] ||
        shape+=" Sockets=$packages CoresPerSocket=$((cores / packages)) ThreadsPerCore=$((cpus / cores))"
    cat >"$here/slurm.conf" <<CONF
ClusterName=leadline
SlurmctldHost=$(hostname)(127.0.0.1)
SlurmctldPort=$port
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$here/munge/socket
CredType=cred/munge
StateSaveLocation=$here/state
SlurmdSpoolDir=$here/%n
TmpFS=$here/%n
SlurmctldPidFile=$here/slurmctld.pid
SlurmdPidFile=$here/%n.pid
SlurmctldLogFile=$here/slurmctld.log
SlurmdLogFile=$here/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=$task
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=sched_interval=2,bf_interval=2
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
PlugStackConfig=/dev/null
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
KillWait=5
InactiveLimit=0
SlurmctldTimeout=30
SlurmdTimeout=60
NodeName=node1 NodeHostname=$(hostname) NodeAddr=127.0.0.1 Port=$((port + 1)) $shape State=UNKNOWN
NodeName=node2 NodeHostname=$(hostname) NodeAddr=127.0.0.1 Port=$((port + 2)) $shape State=UNKNOWN
PartitionName=all Nodes=node1,node2 Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO
CONF
    echo "CgroupAutomount=no" >"$here/cgroup.conf"
}

start_controller() { slurmctld -f "$here/slurm.conf" >>"$here/slurmctld.log" 2>&1 9>&-; }

start() {
    [ "$(id -u)" -eq 0 ] || fail "namespaces and daemons need root"
    alive slurmctld && fail "a Slurm runs already in $here; 'tools/slurm.sh stop' removes it"
    mkdir -p "$here"
    install_packages
    configure
    export SLURM_CONF=$here/slurm.conf
    trap 'stop' ERR
    munged --key-file="$here/munge/key" --socket="$here/munge/socket" --pid-file="$here/munged.pid" \
        --log-file="$here/munged.log" --seed-file="$here/munge/seed" --force >&2
    start_controller
    local each
    for each in "${nodes[@]}"; do
        unshare --uts sh -c "hostname $each && exec slurmd -N $each -f '$here/slurm.conf'" >>"$here/$each.log" 2>&1
    done
    for ((each = 0; each < PATIENCE * 5; each++)); do
        [ "$(sinfo -h -N -t idle -o %N 2>/dev/null | wc -l)" -eq ${#nodes[@]} ] && break
        sleep 0.2
    done
    if [ "$(sinfo -h -N -t idle -o %N | wc -l)" -ne ${#nodes[@]} ]; then
        sinfo -N -l >&2 || true
        tail -n 5 "$here"/*.log >&2
        stop
        fail "the nodes were not idle within $PATIENCE s"
    fi
    trap - ERR
    echo "export SLURM_CONF=$here/slurm.conf"
}

ours() { # processes that this Slurm started: daemons by their files, steps by what they listen to
    local each
    for each in slurmctld node1 node2 munged; do alive "$each" && pid_of "$each"; done
    pgrep -f "^slurmstepd: .*" | while read -r each; do
        tr '\0' '\n' <"/proc/$each/environ" 2>/dev/null | grep -q "^SLURM_CONF=$here/" && echo "$each"
    done
    true
}

stop() {
    trap - ERR
    export SLURM_CONF=$here/slurm.conf
    if alive slurmctld; then
        timeout 10 scancel --user=root 2>/dev/null || true
        local each
        for ((each = 0; each < 50; each++)); do
            [ -n "$(timeout 10 squeue -h 2>/dev/null)" ] || break
            sleep 0.2
        done
    fi
    local running each
    mapfile -t running < <(ours)
    [ ${#running[@]} -eq 0 ] || kill "${running[@]}" 2>/dev/null || true
    for ((each = 0; each < 50; each++)); do
        if [ ${#running[@]} -eq 0 ] || ! kill -0 "${running[@]}" 2>/dev/null; then break; fi
        sleep 0.1
    done
    [ ${#running[@]} -eq 0 ] || kill -KILL "${running[@]}" 2>/dev/null || true
    rm -rf "$here"
}

status() {
    local each down=0
    for each in munged slurmctld "${nodes[@]}"; do
        if alive "$each"; then echo "$each: process $(pid_of "$each")"; else echo "$each: not running"; down=1; fi
    done
    [ $down -eq 0 ] && SLURM_CONF=$here/slurm.conf sinfo -N
    return $down
}

restart-controller() { # what an administrator does; jobs go on
    kill "$(pid_of slurmctld)"
    local each
    for ((each = 0; each < 100; each++)); do alive slurmctld || break; sleep 0.1; done
    start_controller
}

case "${1:-}" in
start | stop | status | restart-controller) "$1" ;;
*) fail "usage: tools/slurm.sh start | stop | status | restart-controller" ;;
esac
