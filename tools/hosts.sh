#!/usr/bin/env bash
# Hosts of this machine alone: tools/hosts.sh up N [--rate R] [--slow A,B,R] | down | status | run HOST COMMAND...
#
# 2 to 8 hosts on a switch. Each is a set of namespaces: its own network, host name, processes, System V and POSIX
# shared memory (/dev/shm), so that no MPI library finds shared memory between two of them; messages cross a veth pair,
# limited to R (of tc, e.g. 100mbit) in both directions, and take a packet's own time before it is there (tools/link.c).
# --slow limits the way between two hosts alone to less, and may be repeated. `up` prints what a plan needs: hosts and agent. Files are those of this machine, as on a shared file
# system. Nothing outside HOSTS_HERE (a folder in TMPDIR) is written, and `down` removes everything.
#
# Host k has the processors k, k+N, ... where there is one for each host; else hosts share them, and ranks that wait for a
# socket sleep (tools/pace.c), so that hosts on one processor do not measure its scheduler.
#
# Settings of `up`: HOSTS_NAME (how the names of hosts begin: host), HOSTS_NET (10.213.77). Settings of the agent, so that
# a run may set them: HOSTS_CPUS=all gives every host all processors; HOSTS_PACE=no lets waiting ranks poll, yes has them sleep. Needs root
# and Clang.
set -euo pipefail

here=${HOSTS_HERE:-${TMPDIR:-/tmp}/leadline-hosts}
name=${HOSTS_NAME:-host}
net=${HOSTS_NET:-10.213.77}
bridge=${name}br
MTU=1500      # B
JUMBO=9000    # B; of links beyond FAST, where the processors here have no time for so many small packets
FAST=200      # Mbit/s
HEADERS=66    # B of a packet that do not count for the rate: Ethernet, IP, TCP with timestamps
PADDING=10000 # B by which the copies are longer that take a packet's time (tools/link.c)
LATE=16       # us that the kernel's timers come late here: a link that was idle so long makes up for it
QUANTUM=16384 # B that one way sends before another has its turn
QUEUE=1       # MiB that wait for a link before packets are dropped

say()  { echo "hosts: $*" >&2; }
fail() { say "$*"; exit 1; }
usage() { fail "usage: tools/hosts.sh up N [--rate R] [--slow A,B,R]... | down | status | run HOST COMMAND..."; }

pid_of() { cat "$here/$1.pid" 2>/dev/null || true; }
alive() { [ -n "$(pid_of "$1")" ] && [ -e "/proc/$(pid_of "$1")/ns/net" ]; }
inside() { local host=$1; shift; nsenter --target "$(pid_of "$host")" --net --uts --ipc --mount --pid -- "$@"; }

processors() { # HOST COUNT: gives a host processors of its own, by a cpuset: hwloc, and so mpirun, sees no others
    local root=/sys/fs/cgroup group
    if [ -d $root/cpuset ]; then root=$root/cpuset; else echo +cpuset >$root/cgroup.subtree_control; fi
    group=$root/leadline-$1
    mkdir "$group" || { say "there are no cpusets here: hosts share processors"; return 0; }
    echo "$group" >"$here/$1.cpuset"
    seq -s, $(((${1#"$name"} - 1) % $(nproc --all))) "$2" $(($(nproc --all) - 1)) >"$group/cpuset.cpus"
    [ ! -e $root/cpuset.mems ] || cat $root/cpuset.mems >"$group/cpuset.mems"
}

in_time() { # RATE US: the bytes that a link of this rate takes in so many microseconds
    local number=${1%%[!0-9.]*} unit
    case ${1#"$number"} in
    bit) unit=1 ;; kbit) unit=1e3 ;; mbit) unit=1e6 ;; gbit) unit=1e9 ;;
    *) fail "a rate is a number with bit, kbit, mbit or gbit, as 100mbit: got '$1'" ;;
    esac
    awk "BEGIN { printf \"%d\", $number * $unit / 8e6 * $2 + 1 }"
}

limit() { # DEVICE RATE [ADDRESS RATE]...: what leaves a device is slower, to some addresses even more; runs inside if in $host
    local device=$1 rate=$2 class=10 tc=(${host:+inside "$host"} tc) longer=0 slack=$((4 * LATE)) burst; shift 2
    # From a host to the switch a packet takes its time; what the switch sends on has taken it, and only queues.
    [ -z "$host" ] || { longer=$PADDING; slack=$LATE; }
    "${tc[@]}" qdisc replace dev "$device" root handle 1: stab overhead -$((HEADERS + longer)) htb default $class
    way() {
        burst=$(in_time "$1" $slack)
        "${tc[@]}" class add dev "$device" parent 1: classid 1:$class htb rate "$1" burst "$burst" cburst "$burst" quantum $((QUANTUM))
        "${tc[@]}" qdisc add dev "$device" parent 1:$class bfifo limit $((QUEUE << 20))
    }
    way "$rate"
    while [ $# -ge 2 ]; do
        class=$((class + 1))
        way "$2"
        "${tc[@]}" filter add dev "$device" parent 1: protocol ip prio 1 u32 match ip dst "$1/32" flowid 1:$class
        shift 2
    done
    [ -n "$host" ] || return 0
    "${tc[@]}" qdisc add dev "$device" clsact
    "${tc[@]}" filter add dev "$device" egress bpf direct-action object-file "$here/link.o" section classifier
}

hold() { # what a host is: these namespaces, as long as its first process lives, which waits for those that lost their parents
    local host=$1
    unshare --net --uts --ipc --mount --pid --fork --kill-child sh -c "
        hostname $host
        mount --make-rprivate / && mount -t proc proc /proc && mount -t tmpfs -o mode=1777 shm /dev/shm
        mount --rbind /sys/fs/cgroup /mnt && mount -t sysfs sys /sys && mount --rbind /mnt /sys/fs/cgroup && umount -R /mnt
        mount --bind '$here/hosts' /etc/hosts
        ip link set lo up
        touch '$here/$host.up'
        sleep infinity & wait" >>"$here/$host.log" 2>&1 </dev/null 9>&- &
    local outer=$! tries
    for ((tries = 0; tries < 100; tries++)); do [ -e "$here/$host.up" ] && break; sleep 0.05; done
    [ -e "$here/$host.up" ] || { cat "$here/$host.log" >&2; fail "$host did not start"; }
    disown $outer
    cut -d' ' -f1 "/proc/$outer/task/$outer/children" >"$here/$host.pid"
    echo $outer >"$here/$host.outer"
}

up() {
    local count=${1:-} rate="" slow=() each; shift || true
    [[ $count =~ ^[2-8]$ ]] || usage
    while [ $# -gt 0 ]; do
        case $1 in
        --rate) rate=${2:-}; [ -n "$rate" ] || usage; shift 2 ;;
        --slow) [[ ${2:-} =~ ^[1-8],[1-8],.+$ ]] || usage; slow+=("${2//,/ }"); shift 2 ;;
        *) usage ;;
        esac
    done
    [ ${#slow[@]} -eq 0 ] || [ -n "$rate" ] || fail "--slow needs --rate, the rate of the other ways"
    [ "$(id -u)" -eq 0 ] || fail "namespaces need root"
    local clang; clang=$(compgen -c clang | grep -xE 'clang(-[0-9]+)?' | sort -V | head -n 1 || true)
    for each in ip tc unshare nsenter "${clang:-clang}"; do
        command -v "$each" >/dev/null || fail "$each is missing: apt install iproute2 util-linux clang"
    done
    each=$(in_time "${rate:-0bit}" 8) # B in 8 us: Mbit/s
    [ "$each" -le $FAST ] || MTU=$JUMBO
    [ "$count" -le "$(nproc)" ] || LATE=$((2 * LATE))
    [ ! -e "$here/count" ] || fail "hosts are up in $here; 'tools/hosts.sh down' removes them"
    mkdir -p "$here"
    "$clang" -std=gnu11 -O2 -shared -fPIC -o "$here/pace.so" "$(dirname "$0")/pace.c"
    "$clang" -std=gnu11 -O2 -g -target bpf -DPADDING=$PADDING -c -o "$here/link.o" "$(dirname "$0")/link.c"
    trap down EXIT
    echo "$count" >"$here/count"
    ip link add "$bridge" mtu $MTU type bridge
    ip addr add "$net.254/24" dev "$bridge"
    ip link set "$bridge" up
    { echo "127.0.0.1 localhost"; echo "$net.254 $(hostname)"; } >"$here/hosts"
    for ((each = 1; each <= count; each++)); do echo "$net.$each $name$each" >>"$here/hosts"; done
    for ((each = 1; each <= count; each++)); do
        local outside=$name${each}v pair ways=()
        processors "$name$each" "$count"
        hold "$name$each"
        ip link add "$outside" mtu $MTU type veth peer name eth0 mtu $MTU netns "$(pid_of "$name$each")"
        ip link set "$outside" master "$bridge" up
        inside "$name$each" ip addr add "$net.$each/24" dev eth0
        inside "$name$each" ip link set eth0 gso_max_segs 1 up  # else 64 KiB cross at once, then nothing for a while
        [ -n "$rate" ] || continue
        for pair in "${slow[@]}"; do
            local a b limited; read -r a b limited <<<"$pair"
            [ "$a" -ne "$each" ] || ways+=("$net.$b" "$limited")
            [ "$b" -ne "$each" ] || ways+=("$net.$a" "$limited")
        done
        host=$name$each limit eth0 "$rate" "${ways[@]}"
        host="" limit "$outside" "$rate"
    done
    agent >"$here/agent"
    chmod +x "$here/agent"
    trap - EXIT
    say "up: $(seq -f "$name%g" -s' ' "$count"); 'tools/hosts.sh down' removes them"
    echo "hosts = [$(seq -f "\"$name%g\"" -s', ' "$count")]"
    echo "agent = \"$here/agent\""
}

agent() { # what stands in for ssh: options, host, command
    cat <<AGENT
#!/usr/bin/env bash
# Starts a command on one of the hosts of tools/hosts.sh: agent [OPTION]... HOST COMMAND...
while [ \$# -gt 0 ]; do case \$1 in -*) shift ;; *) break ;; esac; done
host=\${1%%:*}; shift
pid=\$(cat "$here/\$host.pid" 2>/dev/null) || { echo "agent: no host '\$host'; 'tools/hosts.sh status' lists them" >&2; exit 255; }
pace=$([ "$count" -le "$(nproc)" ] && echo no || echo yes)
own="$here/\$host.cpuset"
if [ "\${HOSTS_CPUS:-own}" = own ] && [ -e "\$own" ]; then echo \$\$ >"\$(cat "\$own")/cgroup.procs"; else pace=yes; fi
[ "\${HOSTS_PACE:-\$pace}" = no ] || export LD_PRELOAD="$here/pace.so"
exec nsenter --target "\$pid" --net --uts --ipc --mount --pid --wd="\$PWD" -- sh -c "\$*"
AGENT
}

down() {
    trap - EXIT
    local each tries pids=()
    for each in "$here"/*.outer; do [ ! -e "$each" ] || pids+=("$(cat "$each")"); done
    # The first process of a process namespace takes all others of its host with it.
    for each in "$here"/*.pid; do [ ! -e "$each" ] || kill -KILL "$(cat "$each")" 2>/dev/null || true; done
    for each in "${pids[@]}"; do while kill -0 "$each" 2>/dev/null; do sleep 0.05; done; done
    for each in "$here"/*.cpuset; do # as soon as the agents have seen that their commands are gone
        [ -e "$each" ] || continue
        for ((tries = 0; tries < 100; tries++)); do rmdir "$(cat "$each")" 2>/dev/null && break; sleep 0.05; done
    done
    ip link del "$bridge" 2>/dev/null || true
    rm -rf "$here"
}

status() {
    [ -e "$here/count" ] || { echo "no hosts in $here"; return 1; }
    local each
    for ((each = 1; each <= $(cat "$here/count"); each++)); do
        if alive "$name$each"; then echo "$name$each: $net.$each, process $(pid_of "$name$each")"; else echo "$name$each: down"; fi
    done
}

case "${1:-}" in
up | down | status) "$@" ;;
run) [ $# -ge 3 ] || usage; host=$2; shift 2; alive "$host" || fail "there is no host '$host'"; inside "$host" "$@" ;;
*) usage ;;
esac
