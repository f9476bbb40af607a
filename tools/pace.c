/* Preloaded by tools/hosts.sh where hosts share processors: a rank that polls its sockets in vain sleeps
 * until a message.
 *
 * MPI libraries poll without end, for which each rank would need a processor of its own: on a shared one a
 * message waits until the scheduler takes the processor from the rank that polls, 4 ms and more. A sleeping
 * rank is woken by its message. The sleep is bounded, since a rank may also wait for what is not a socket. */
#define _GNU_SOURCE
#include <poll.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <time.h>

enum { EMPTY_POLLS = 8, SLEEP = 100000 /* ns */ };

static __thread int empty;

/* How long a call may wait that was to last `timeout` ms, negative for any time: NULL for any time. */
static const struct timespec* limit(int timeout, struct timespec* buffer) {
    if (timeout < 0) return NULL;
    *buffer = (struct timespec){timeout / 1000, timeout % 1000 * 1000000L};
    if (timeout == 0 && empty >= EMPTY_POLLS) buffer->tv_nsec = SLEEP;
    return buffer;
}

static int count(int timeout, int found) {
    if (timeout == 0) empty = found != 0 ? 0 : empty + (empty < EMPTY_POLLS);
    return found;
}

int epoll_wait(int set, struct epoll_event* events, int most, int timeout) {
    struct timespec buffer;
    return count(timeout, epoll_pwait2(set, events, most, limit(timeout, &buffer), NULL));
}

int poll(struct pollfd* files, nfds_t number, int timeout) {
    struct timespec buffer;
    return count(timeout, ppoll(files, number, limit(timeout, &buffer), NULL));
}
