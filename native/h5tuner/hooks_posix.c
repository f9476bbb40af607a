// The system's own calls, so that what reaches the file system is counted. Each is handed over first and
// unchanged; a file that neither HDF5 nor MPI-IO opened costs one look at a table.
#include <aio.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include "inject_stripes.h"
#include "observe.h"
#include "real.h"

// Found when the library is loaded: a program may call them in a handler of signals, where nothing may be
// looked up.
#define CALLS(X)                                                   \
    X(int, open, (const char*, int, ...))                          \
    X(int, open64, (const char*, int, ...))                        \
    X(int, openat, (int, const char*, int, ...))                   \
    X(int, openat64, (int, const char*, int, ...))                 \
    X(int, __open_2, (const char*, int))                           \
    X(int, __open64_2, (const char*, int))                         \
    X(int, close, (int))                                           \
    X(ssize_t, read, (int, void*, size_t))                         \
    X(ssize_t, write, (int, const void*, size_t))                  \
    X(ssize_t, __read_chk, (int, void*, size_t, size_t))           \
    X(ssize_t, pread, (int, void*, size_t, off_t))                 \
    X(ssize_t, pread64, (int, void*, size_t, off_t))               \
    X(ssize_t, __pread_chk, (int, void*, size_t, off_t, size_t))   \
    X(ssize_t, __pread64_chk, (int, void*, size_t, off_t, size_t)) \
    X(ssize_t, pwrite, (int, const void*, size_t, off_t))          \
    X(ssize_t, pwrite64, (int, const void*, size_t, off_t))        \
    X(ssize_t, readv, (int, const struct iovec*, int))             \
    X(ssize_t, writev, (int, const struct iovec*, int))            \
    X(ssize_t, preadv, (int, const struct iovec*, int, off_t))     \
    X(ssize_t, preadv64, (int, const struct iovec*, int, off_t))   \
    X(ssize_t, pwritev, (int, const struct iovec*, int, off_t))    \
    X(ssize_t, pwritev64, (int, const struct iovec*, int, off_t))  \
    X(off_t, lseek, (int, off_t, int))                             \
    X(off_t, lseek64, (int, off_t, int))                           \
    X(int, fsync, (int))                                           \
    X(int, fdatasync, (int))                                       \
    X(int, aio_read, (struct aiocb*))                              \
    X(int, aio_read64, (struct aiocb64*))                          \
    X(int, aio_write, (struct aiocb*))                             \
    X(int, aio_write64, (struct aiocb64*))

static struct {
#define FIELD(result, name, arguments) result(*name) arguments;
    CALLS(FIELD)
#undef FIELD
} calls;

__attribute__((constructor)) static void find_all(void) {
#define FIND(result, name, arguments) *(void**)&calls.name = dlsym(RTLD_NEXT, #name);
    CALLS(FIND)
#undef FIND
}

// A library that is started before this one may call already.
#define NEED(name)                      \
    if (calls.name == NULL) find_all(); \
    if (calls.name == NULL) return errno = ENOSYS, -1

// A mode is there where a file may be made.
#define MODE(flags)                                                                          \
    va_list rest;                                                                            \
    va_start(rest, flags);                                                                   \
    const mode_t mode = ((flags) & (O_CREAT | __O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0; \
    va_end(rest)

#define OPEN(name)                                         \
    LL_EXPORT int name(const char* path, int flags, ...) { \
        MODE(flags);                                       \
        NEED(name);                                        \
        const int file = calls.name(path, flags, mode);    \
        ll_stripe(file, flags);                            \
        ll_note_open(file, path);                          \
        return file;                                       \
    }
OPEN(open)
OPEN(open64)

#define OPEN_AT(name)                                                  \
    LL_EXPORT int name(int folder, const char* path, int flags, ...) { \
        MODE(flags);                                                   \
        NEED(name);                                                    \
        const int file = calls.name(folder, path, flags, mode);        \
        ll_stripe(file, flags);                                        \
        ll_note_open(file, path);                                      \
        return file;                                                   \
    }
OPEN_AT(openat)
OPEN_AT(openat64)

#define OPEN_2(name)                                  \
    LL_EXPORT int name(const char* path, int flags);  \
    LL_EXPORT int name(const char* path, int flags) { \
        NEED(name);                                   \
        const int file = calls.name(path, flags);     \
        ll_note_open(file, path);                     \
        return file;                                  \
    }
OPEN_2(__open_2)
OPEN_2(__open64_2)

LL_EXPORT int close(int file) {
    NEED(close);
    // Before, since another thread may be given the number as soon as it is free.
    if (ll_observed_of(file) != NULL) {
        const int error = errno;
        ll_note_close(file);
        errno = error;
    }
    return calls.close(file);
}

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

#define SEEK(name)                                                                           \
    LL_EXPORT off_t name(int file, off_t offset, int whence) {                               \
        NEED(name);                                                                          \
        const off_t now = calls.name(file, offset, whence);                                  \
        ll_observed* observed = ll_observed_of(file);                                        \
        if (observed != NULL && now >= 0) {                                                  \
            atomic_fetch_add_explicit(&observed->seeks, 1, memory_order_relaxed);            \
            atomic_store_explicit(&observed->position, (uint64_t)now, memory_order_relaxed); \
        }                                                                                    \
        return now;                                                                          \
    }
SEEK(lseek)
SEEK(lseek64)

#define SYNC(name)                                                                                  \
    LL_EXPORT int name(int file) {                                                                  \
        NEED(name);                                                                                 \
        ll_observed* observed = ll_observed_of(file);                                               \
        if (observed != NULL) atomic_fetch_add_explicit(&observed->syncs, 1, memory_order_relaxed); \
        return calls.name(file);                                                                    \
    }
SYNC(fsync)
SYNC(fdatasync)

// Counted as asked: what was moved is known later, and not to us.
#define ASYNCHRONOUS(name, aiocb, direction)                                                                 \
    LL_EXPORT int name(struct aiocb* block);                                                                 \
    LL_EXPORT int name(struct aiocb* block) {                                                                \
        NEED(name);                                                                                          \
        ll_observed* observed = ll_observed_of(block->aio_fildes);                                           \
        if (observed != NULL)                                                                                \
            ll_note_transfer(observed, direction, (uint64_t)block->aio_offset, (uint64_t)block->aio_nbytes); \
        return calls.name(block);                                                                            \
    }
ASYNCHRONOUS(aio_read, aiocb, LL_READ)
ASYNCHRONOUS(aio_read64, aiocb64, LL_READ)
ASYNCHRONOUS(aio_write, aiocb, LL_WRITE)
ASYNCHRONOUS(aio_write64, aiocb64, LL_WRITE)
