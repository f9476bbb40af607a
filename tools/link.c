/* Run by the kernel for each packet that leaves a host of tools/hosts.sh (BPF, a classifier of tc): a packet is there
 * when its last byte is, as on a wire.
 *
 * A token bucket sends a packet at once and makes the next one wait. So a copy goes first, which takes the packet's time
 * of the bucket; the packet itself takes one byte. The two are told apart by length, PADDING more than any packet has:
 * the bucket counts lengths less PADDING, and the receiving device drops what is longer than its packets may be. */
struct __sk_buff { /* linux/bpf.h, as far as needed */
    unsigned len, pkt_type, mark, queue_mapping, protocol, vlan_present, vlan_tci, vlan_proto, priority, ingress_ifindex,
        ifindex;
};

enum { SEEN = 77 }; /* PADDING, B, comes from hosts.sh */

/* Functions of the kernel by their numbers there. */
static long (*const clone_redirect)(struct __sk_buff*, unsigned, unsigned long) = (void*)13;
static long (*const change_tail)(struct __sk_buff*, unsigned, unsigned long) = (void*)38;

__attribute__((section("classifier"), used)) int link(struct __sk_buff* packet) {
    if (packet->mark == SEEN) return 0;
    unsigned length = packet->len;
    packet->mark = SEEN;
    if (change_tail(packet, length + PADDING, 0) != 0) return 0;
    clone_redirect(packet, packet->ifindex, 0);
    change_tail(packet, length, 0);
    return 0;
}

char gpl[] __attribute__((section("license"), used)) = "GPL"; /* what the kernel asks of who calls these two */
