// HDF5's functions as the program finds them. Each finds the real one for its caller and hands the call over.
#include <errno.h>

#include "inject.h"
#include "log.h"
#include "real.h"

// A program that calls a function which no library has would not have started: this cannot come but by a weak
// name.
#define REAL(name)                                         \
    int error = errno;                                     \
    void* real = ll_real(#name, LL_CALLER);                \
    if (real == NULL) {                                    \
        ll_say("no library that is loaded has %s", #name); \
        return -1;                                         \
    }

static ll_hid create(const ll_opening* o, unsigned flags, ll_hid create_list, ll_hid access_list) {
    return ((ll_hid(*)(const char*, unsigned, ll_hid, ll_hid))o->real)(o->name, flags, create_list,
                                                                       access_list);
}

LL_EXPORT ll_hid H5Fcreate(const char* name, unsigned flags, ll_hid create_list, ll_hid access_list) {
    REAL(H5Fcreate)
    return ll_open_file(&(ll_opening){.call = "H5Fcreate",
                                      .name = name,
                                      .flags = flags,
                                      .create_list = create_list,
                                      .access_list = access_list,
                                      .creates = true,
                                      .real = real,
                                      .error = &error,
                                      .invoke = create});
}

static ll_hid open_it(const ll_opening* o, unsigned flags, ll_hid create_list, ll_hid access_list) {
    (void)create_list;
    return ((ll_hid(*)(const char*, unsigned, ll_hid))o->real)(o->name, flags, access_list);
}

LL_EXPORT ll_hid H5Fopen(const char* name, unsigned flags, ll_hid access_list) {
    REAL(H5Fopen)
    return ll_open_file(&(ll_opening){.call = "H5Fopen",
                                      .name = name,
                                      .flags = flags,
                                      .access_list = access_list,
                                      .real = real,
                                      .error = &error,
                                      .invoke = open_it});
}

static ll_hid create_async(const ll_opening* o, unsigned flags, ll_hid create_list, ll_hid access_list) {
    return ((ll_hid(*)(const char*, const char*, unsigned, const char*, unsigned, ll_hid, ll_hid,
                       ll_hid))o->real)(o->source, o->function, o->line, o->name, flags, create_list,
                                        access_list, o->events);
}

LL_EXPORT ll_hid H5Fcreate_async(const char* source, const char* function, unsigned line, const char* name,
                                 unsigned flags, ll_hid create_list, ll_hid access_list, ll_hid events) {
    REAL(H5Fcreate_async)
    return ll_open_file(&(ll_opening){.call = "H5Fcreate_async",
                                      .name = name,
                                      .flags = flags,
                                      .create_list = create_list,
                                      .access_list = access_list,
                                      .creates = true,
                                      .real = real,
                                      .error = &error,
                                      .invoke = create_async,
                                      .source = source,
                                      .function = function,
                                      .line = line,
                                      .events = events});
}

static ll_hid open_async(const ll_opening* o, unsigned flags, ll_hid create_list, ll_hid access_list) {
    (void)create_list;
    return ((ll_hid(*)(const char*, const char*, unsigned, const char*, unsigned, ll_hid, ll_hid))o->real)(
        o->source, o->function, o->line, o->name, flags, access_list, o->events);
}

LL_EXPORT ll_hid H5Fopen_async(const char* source, const char* function, unsigned line, const char* name,
                               unsigned flags, ll_hid access_list, ll_hid events) {
    REAL(H5Fopen_async)
    return ll_open_file(&(ll_opening){.call = "H5Fopen_async",
                                      .name = name,
                                      .flags = flags,
                                      .access_list = access_list,
                                      .real = real,
                                      .error = &error,
                                      .invoke = open_async,
                                      .source = source,
                                      .function = function,
                                      .line = line,
                                      .events = events});
}

static ll_hid dataset1(const ll_dataset* d, ll_hid create_list, ll_hid access_list) {
    (void)access_list;
    return ((ll_hid(*)(ll_hid, const char*, ll_hid, ll_hid, ll_hid))d->real)(d->place, d->name, d->type,
                                                                             d->space, create_list);
}

LL_EXPORT ll_hid H5Dcreate1(ll_hid place, const char* name, ll_hid type, ll_hid space, ll_hid create_list) {
    REAL(H5Dcreate1)
    return ll_create_dataset(&(ll_dataset){.place = place,
                                           .name = name,
                                           .type = type,
                                           .space = space,
                                           .create_list = create_list,
                                           .real = real,
                                           .error = &error,
                                           .invoke = dataset1});
}

static ll_hid dataset2(const ll_dataset* d, ll_hid create_list, ll_hid access_list) {
    return ((ll_hid(*)(ll_hid, const char*, ll_hid, ll_hid, ll_hid, ll_hid, ll_hid))d->real)(
        d->place, d->name, d->type, d->space, d->link_list, create_list, access_list);
}

LL_EXPORT ll_hid H5Dcreate2(ll_hid place, const char* name, ll_hid type, ll_hid space, ll_hid link_list,
                            ll_hid create_list, ll_hid access_list) {
    REAL(H5Dcreate2)
    return ll_create_dataset(&(ll_dataset){.place = place,
                                           .name = name,
                                           .type = type,
                                           .space = space,
                                           .link_list = link_list,
                                           .create_list = create_list,
                                           .access_list = access_list,
                                           .real = real,
                                           .error = &error,
                                           .invoke = dataset2});
}

// Without a name, which it may be given later: only settings for all datasets hold.
static ll_hid dataset_anon(const ll_dataset* d, ll_hid create_list, ll_hid access_list) {
    return ((ll_hid(*)(ll_hid, ll_hid, ll_hid, ll_hid, ll_hid))d->real)(d->place, d->type, d->space,
                                                                        create_list, access_list);
}

LL_EXPORT ll_hid H5Dcreate_anon(ll_hid place, ll_hid type, ll_hid space, ll_hid create_list,
                                ll_hid access_list) {
    REAL(H5Dcreate_anon)
    return ll_create_dataset(&(ll_dataset){.place = place,
                                           .name = "",
                                           .type = type,
                                           .space = space,
                                           .create_list = create_list,
                                           .access_list = access_list,
                                           .real = real,
                                           .error = &error,
                                           .invoke = dataset_anon});
}

static ll_hid dataset_async(const ll_dataset* d, ll_hid create_list, ll_hid access_list) {
    return ((ll_hid(*)(const char*, const char*, unsigned, ll_hid, const char*, ll_hid, ll_hid, ll_hid,
                       ll_hid, ll_hid, ll_hid))d->real)(d->source, d->function, d->line, d->place, d->name,
                                                        d->type, d->space, d->link_list, create_list,
                                                        access_list, d->events);
}

LL_EXPORT ll_hid H5Dcreate_async(const char* source, const char* function, unsigned line, ll_hid place,
                                 const char* name, ll_hid type, ll_hid space, ll_hid link_list,
                                 ll_hid create_list, ll_hid access_list, ll_hid events) {
    REAL(H5Dcreate_async)
    return ll_create_dataset(&(ll_dataset){.place = place,
                                           .name = name,
                                           .type = type,
                                           .space = space,
                                           .link_list = link_list,
                                           .create_list = create_list,
                                           .access_list = access_list,
                                           .real = real,
                                           .error = &error,
                                           .invoke = dataset_async,
                                           .source = source,
                                           .function = function,
                                           .line = line,
                                           .events = events});
}

// A function with this argument list, and the real one called with `used` for its transfer list.
#define TRANSFER(name, parameters, types, count, datasets, arguments)       \
    LL_EXPORT ll_herr name parameters {                                     \
        REAL(name)                                                          \
        const ll_hid used = ll_begin_transfer(real, count, datasets, list); \
        errno = error;                                                      \
        const ll_herr result = ((ll_herr(*) types)real)arguments;           \
        ll_end_transfer(real, list, used);                                  \
        return result;                                                      \
    }

#define ONE(name, buffer)                                                                               \
    TRANSFER(name, (ll_hid dataset, ll_hid type, ll_hid memory, ll_hid file, ll_hid list, buffer data), \
             (ll_hid, ll_hid, ll_hid, ll_hid, ll_hid, buffer), 1, &dataset,                             \
             (dataset, type, memory, file, used, data))
ONE(H5Dwrite, const void*)
ONE(H5Dread, void*)

#define ONE_ASYNC(name, buffer)                                                                            \
    TRANSFER(name,                                                                                         \
             (const char* source, const char* function, unsigned line, ll_hid dataset, ll_hid type,        \
              ll_hid memory, ll_hid file, ll_hid list, buffer data, ll_hid events),                        \
             (const char*, const char*, unsigned, ll_hid, ll_hid, ll_hid, ll_hid, ll_hid, buffer, ll_hid), \
             1, &dataset, (source, function, line, dataset, type, memory, file, used, data, events))
ONE_ASYNC(H5Dwrite_async, const void*)
ONE_ASYNC(H5Dread_async, void*)

// Several datasets in one call (HDF5 1.14).
#define SEVERAL(name, buffers)                                                                               \
    TRANSFER(name,                                                                                           \
             (size_t count, ll_hid * datasets, ll_hid * types, ll_hid * memory, ll_hid * files, ll_hid list, \
              buffers data),                                                                                 \
             (size_t, ll_hid*, ll_hid*, ll_hid*, ll_hid*, ll_hid, buffers), count, datasets,                 \
             (count, datasets, types, memory, files, used, data))
SEVERAL(H5Dwrite_multi, const void**)
SEVERAL(H5Dread_multi, void**)

#define SEVERAL_ASYNC(name, buffers)                                                                   \
    TRANSFER(name,                                                                                     \
             (const char* source, const char* function, unsigned line, size_t count, ll_hid* datasets, \
              ll_hid* types, ll_hid* memory, ll_hid* files, ll_hid list, buffers data, ll_hid events), \
             (const char*, const char*, unsigned, size_t, ll_hid*, ll_hid*, ll_hid*, ll_hid*, ll_hid,  \
              buffers, ll_hid),                                                                        \
             count, datasets,                                                                          \
             (source, function, line, count, datasets, types, memory, files, used, data, events))
SEVERAL_ASYNC(H5Dwrite_multi_async, const void**)
SEVERAL_ASYNC(H5Dread_multi_async, void**)
