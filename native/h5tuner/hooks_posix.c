// The system's own calls, so that what reaches the file system is counted. Each is handed over unchanged; a
// file that neither HDF5 nor MPI-IO opened costs one look at a table. A program may make these calls in a
// signal handler, between vfork() and exec, or while it starts: nothing here allocates, locks or formats.
#include <aio.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include "inject_stripes.h"
#include "observe.h"
#include "real.h"

// Found when the library is loaded: in a signal handler nothing may be looked up.
#define CALLS(X)                                                         \
    X(int, open, (const char*, int, ...))                                \
    X(int, open64, (const char*, int, ...))                              \
    X(int, openat, (int, const char*, int, ...))                         \
    X(int, openat64, (int, const char*, int, ...))                       \
    X(int, __open_2, (const char*, int))                                 \
    X(int, __open64_2, (const char*, int))                               \
    X(int, __openat_2, (int, const char*, int))                          \
    X(int, __openat64_2, (int, const char*, int))                        \
    X(int, creat, (const char*, mode_t))                                 \
    X(int, creat64, (const char*, mode_t))                               \
    X(int, close, (int))                                                 \
    X(int, close_range, (unsigned, unsigned, int))                       \
    X(void, closefrom, (int))                                            \
    X(int, dup, (int))                                                   \
    X(int, dup2, (int, int))                                             \
    X(int, dup3, (int, int, int))                                        \
    X(int, fcntl, (int, int, ...))                                       \
    X(int, fcntl64, (int, int, ...))                                     \
    X(ssize_t, read, (int, void*, size_t))                               \
    X(ssize_t, write, (int, const void*, size_t))                        \
    X(ssize_t, __read_chk, (int, void*, size_t, size_t))                 \
    X(ssize_t, pread, (int, void*, size_t, off_t))                       \
    X(ssize_t, pread64, (int, void*, size_t, off_t))                     \
    X(ssize_t, __pread_chk, (int, void*, size_t, off_t, size_t))         \
    X(ssize_t, __pread64_chk, (int, void*, size_t, off_t, size_t))       \
    X(ssize_t, pwrite, (int, const void*, size_t, off_t))                \
    X(ssize_t, pwrite64, (int, const void*, size_t, off_t))              \
    X(ssize_t, readv, (int, const struct iovec*, int))                   \
    X(ssize_t, writev, (int, const struct iovec*, int))                  \
    X(ssize_t, preadv, (int, const struct iovec*, int, off_t))           \
    X(ssize_t, preadv64, (int, const struct iovec*, int, off_t))         \
    X(ssize_t, pwritev, (int, const struct iovec*, int, off_t))          \
    X(ssize_t, pwritev64, (int, const struct iovec*, int, off_t))        \
    X(ssize_t, preadv2, (int, const struct iovec*, int, off_t, int))     \
    X(ssize_t, preadv64v2, (int, const struct iovec*, int, off_t, int))  \
    X(ssize_t, pwritev2, (int, const struct iovec*, int, off_t, int))    \
    X(ssize_t, pwritev64v2, (int, const struct iovec*, int, off_t, int)) \
    X(off_t, lseek, (int, off_t, int))                                   \
    X(off_t, lseek64, (int, off_t, int))                                 \
    X(int, fsync, (int))                                                 \
    X(int, fdatasync, (int))                                             \
    X(int, aio_read, (struct aiocb*))                                    \
    X(int, aio_read64, (struct aiocb64*))                                \
    X(int, aio_write, (struct aiocb*))                                   \
    X(int, aio_write64, (struct aiocb64*))

static struct {
#define FIELD(result, name, arguments) result(*name) arguments;
    CALLS(FIELD)
#undef FIELD
} calls;

__attribute__((constructor(103))) static void find_all(void) {
    const int error = errno;
#define FIND(result, name, arguments) *(void**)&calls.name = dlsym(RTLD_NEXT, #name);
    CALLS(FIND)
#undef FIND
    errno = error;
}

// A library that is started before this one may call already, as an allocator does that reads its settings:
// only what it calls is looked up, since looking for what an older C library lacks would allocate.
#define FIND_NOW(name) \
    if (calls.name == NULL) *(void**)&calls.name = dlsym(RTLD_NEXT, #name)
#define NEED(name)  \
    FIND_NOW(name); \
    if (calls.name == NULL) return errno = ENOSYS, -1

// A mode is there where a file may be made.
#define MODE(flags)                                                                          \
    va_list rest;                                                                            \
    va_start(rest, flags);                                                                   \
    const mode_t mode = ((flags) & (O_CREAT | __O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0; \
    va_end(rest)

static int opened(int file, const char* path, int flags) {
    ll_stripe(file, path, flags);
    ll_note_open(file, path);
    return file;
}

#define OPEN(name)                                                 \
    LL_EXPORT int name(const char* path, int flags, ...) {         \
        MODE(flags);                                               \
        NEED(name);                                                \
        return opened(calls.name(path, flags, mode), path, flags); \
    }
OPEN(open)
OPEN(open64)

#define OPEN_AT(name)                                                      \
    LL_EXPORT int name(int folder, const char* path, int flags, ...) {     \
        MODE(flags);                                                       \
        NEED(name);                                                        \
        return opened(calls.name(folder, path, flags, mode), path, flags); \
    }
OPEN_AT(openat)
OPEN_AT(openat64)

#define OPEN_FIXED(name, made, parameters, arguments)    \
    LL_EXPORT int name parameters;                       \
    LL_EXPORT int name parameters {                      \
        NEED(name);                                      \
        return opened(calls.name arguments, path, made); \
    }
OPEN_FIXED(__open_2, 0, (const char* path, int flags), (path, flags))
OPEN_FIXED(__open64_2, 0, (const char* path, int flags), (path, flags))
OPEN_FIXED(__openat_2, 0, (int folder, const char* path, int flags), (folder, path, flags))
OPEN_FIXED(__openat64_2, 0, (int folder, const char* path, int flags), (folder, path, flags))
OPEN_FIXED(creat, O_CREAT, (const char* path, mode_t mode), (path, mode))
OPEN_FIXED(creat64, O_CREAT, (const char* path, mode_t mode), (path, mode))

// Before the call, since another thread may be given the number as soon as it is free.
LL_EXPORT int close(int file) {
    NEED(close);
    ll_note_close(file);
    return calls.close(file);
}

// Flags of linux/close_range.h: with one they are closed by exec alone; with the other this thread has its
// own descriptors from now on, of which the table knows nothing.
LL_EXPORT int close_range(unsigned first, unsigned last, int flags) {
    enum { UNSHARE = 2, ON_EXEC = 4 };
    NEED(close_range);
    if ((flags & UNSHARE) != 0) ll_note_unshared();
    if (flags == 0) ll_note_close_range(first, last);
    return calls.close_range(first, last, flags);
}

LL_EXPORT void closefrom(int first) {
    FIND_NOW(closefrom);
    ll_note_close_range(first > 0 ? (unsigned)first : 0, LL_DESCRIPTORS - 1);
    if (calls.closefrom != NULL) calls.closefrom(first);
    // An older C library has none, but whoever looks for it finds this one.
    for (long i = first > 0 ? first : 0; calls.closefrom == NULL && i < sysconf(_SC_OPEN_MAX); ++i)
        (void)syscall(SYS_close, (int)i);
}

static int duplicated(int file, int other) {
    if (other >= 0) ll_note_duplicate(file, other);
    return other;
}

// What they replace is closed.
static void note_replaced(int file, int other) {
    if (file == other || ll_observed_of(other) == NULL) return;
    const int error = errno;
    if (syscall(SYS_fcntl, file, F_GETFD) >= 0) ll_note_close(other);
    errno = error;
}

LL_EXPORT int dup(int file) {
    NEED(dup);
    return duplicated(file, calls.dup(file));
}

LL_EXPORT int dup2(int file, int other) {
    NEED(dup2);
    note_replaced(file, other);
    return duplicated(file, calls.dup2(file, other));
}

LL_EXPORT int dup3(int file, int other, int flags) {
    NEED(dup3);
    note_replaced(file, other);
    return duplicated(file, calls.dup3(file, other, flags));
}

// The third argument is a number or an address; the C library takes it as an address, too.
#define CONTROL(name)                                                             \
    LL_EXPORT int name(int file, int command, ...) {                              \
        NEED(name);                                                               \
        va_list rest;                                                             \
        va_start(rest, command);                                                  \
        void* argument = va_arg(rest, void*);                                     \
        va_end(rest);                                                             \
        const int result = calls.name(file, command, argument);                   \
        const bool duplicates = command == F_DUPFD || command == F_DUPFD_CLOEXEC; \
        return duplicates ? duplicated(file, result) : result;                    \
    }
CONTROL(fcntl)
#ifndef fcntl64
CONTROL(fcntl64)
#endif

// What was moved is what is counted; a call that failed moved nothing.
#define AT_POSITION(name, direction, parameters, arguments)                                     \
    LL_EXPORT ssize_t name parameters;                                                          \
    LL_EXPORT ssize_t name parameters {                                                         \
        NEED(name);                                                                             \
        const ssize_t moved = calls.name arguments;                                             \
        ll_observed* observed = ll_observed_of(file);                                           \
        if (observed != NULL && moved >= 0) ll_note_here(observed, direction, (uint64_t)moved); \
        return moved;                                                                           \
    }
#define AT_OFFSET(name, direction, parameters, arguments)                             \
    LL_EXPORT ssize_t name parameters;                                                \
    LL_EXPORT ssize_t name parameters {                                               \
        NEED(name);                                                                   \
        const ssize_t moved = calls.name arguments;                                   \
        ll_observed* observed = ll_observed_of(file);                                 \
        if (observed != NULL && moved >= 0)                                           \
            ll_note_transfer(observed, direction, (uint64_t)offset, (uint64_t)moved); \
        return moved;                                                                 \
    }

AT_POSITION(read, LL_READ, (int file, void* data, size_t size), (file, data, size))
AT_POSITION(__read_chk, LL_READ, (int file, void* data, size_t size, size_t room), (file, data, size, room))
AT_POSITION(write, LL_WRITE, (int file, const void* data, size_t size), (file, data, size))
AT_POSITION(readv, LL_READ, (int file, const struct iovec* parts, int count), (file, parts, count))
AT_POSITION(writev, LL_WRITE, (int file, const struct iovec* parts, int count), (file, parts, count))
AT_OFFSET(pread, LL_READ, (int file, void* data, size_t size, off_t offset), (file, data, size, offset))
AT_OFFSET(pread64, LL_READ, (int file, void* data, size_t size, off_t offset), (file, data, size, offset))
AT_OFFSET(__pread_chk, LL_READ, (int file, void* data, size_t size, off_t offset, size_t room),
          (file, data, size, offset, room))
AT_OFFSET(__pread64_chk, LL_READ, (int file, void* data, size_t size, off_t offset, size_t room),
          (file, data, size, offset, room))
AT_OFFSET(pwrite, LL_WRITE, (int file, const void* data, size_t size, off_t offset),
          (file, data, size, offset))
AT_OFFSET(pwrite64, LL_WRITE, (int file, const void* data, size_t size, off_t offset),
          (file, data, size, offset))
AT_OFFSET(preadv, LL_READ, (int file, const struct iovec* parts, int count, off_t offset),
          (file, parts, count, offset))
AT_OFFSET(preadv64, LL_READ, (int file, const struct iovec* parts, int count, off_t offset),
          (file, parts, count, offset))
AT_OFFSET(pwritev, LL_WRITE, (int file, const struct iovec* parts, int count, off_t offset),
          (file, parts, count, offset))
AT_OFFSET(pwritev64, LL_WRITE, (int file, const struct iovec* parts, int count, off_t offset),
          (file, parts, count, offset))

// At the file's position where the offset is -1.
#define AT_EITHER(name, direction)                                                                    \
    LL_EXPORT ssize_t name(int file, const struct iovec* parts, int count, off_t offset, int flags) { \
        NEED(name);                                                                                   \
        const ssize_t moved = calls.name(file, parts, count, offset, flags);                          \
        ll_observed* observed = ll_observed_of(file);                                                 \
        if (observed != NULL && moved >= 0 && offset == -1)                                           \
            ll_note_here(observed, direction, (uint64_t)moved);                                       \
        else if (observed != NULL && moved >= 0)                                                      \
            ll_note_transfer(observed, direction, (uint64_t)offset, (uint64_t)moved);                 \
        return moved;                                                                                 \
    }
AT_EITHER(preadv2, LL_READ)
AT_EITHER(preadv64v2, LL_READ)
AT_EITHER(pwritev2, LL_WRITE)
AT_EITHER(pwritev64v2, LL_WRITE)

#define SEEK(name)                                                               \
    LL_EXPORT off_t name(int file, off_t offset, int whence) {                   \
        NEED(name);                                                              \
        const off_t now = calls.name(file, offset, whence);                      \
        ll_observed* observed = ll_observed_of(file);                            \
        if (observed != NULL && now >= 0) ll_note_seek(observed, (uint64_t)now); \
        return now;                                                              \
    }
SEEK(lseek)
SEEK(lseek64)

#define SYNC(name)                                    \
    LL_EXPORT int name(int file) {                    \
        NEED(name);                                   \
        ll_observed* observed = ll_observed_of(file); \
        if (observed != NULL) ll_note_sync(observed); \
        return calls.name(file);                      \
    }
SYNC(fsync)
SYNC(fdatasync)

// Counted as asked: what was moved is known later, and not to us. The block is the program's again as soon as
// the transfer has ended.
#define ASYNCHRONOUS(name, aiocb, direction)                                                      \
    LL_EXPORT int name(struct aiocb* block);                                                      \
    LL_EXPORT int name(struct aiocb* block) {                                                     \
        NEED(name);                                                                               \
        ll_observed* observed = ll_observed_of(block->aio_fildes);                                \
        const uint64_t offset = (uint64_t)block->aio_offset, size = (uint64_t)block->aio_nbytes;  \
        const int result = calls.name(block);                                                     \
        if (observed != NULL && result == 0) ll_note_transfer(observed, direction, offset, size); \
        return result;                                                                            \
    }
ASYNCHRONOUS(aio_read, aiocb, LL_READ)
ASYNCHRONOUS(aio_read64, aiocb64, LL_READ)
ASYNCHRONOUS(aio_write, aiocb, LL_WRITE)
ASYNCHRONOUS(aio_write64, aiocb64, LL_WRITE)
