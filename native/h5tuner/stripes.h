// How a file lies on its targets, as the file system itself tells.
#ifndef LEADLINE_H5TUNER_STRIPES_H
#define LEADLINE_H5TUNER_STRIPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {           // NOLINT(modernize-use-using): this is C, which tests in C++ read too
    uint64_t count, size;  // targets; bytes of a stripe
} ll_stripes;

bool ll_is_lustre(const char* path);

// From the attribute that Lustre or CephFS has; false on any other file system.
bool ll_read_stripes(const char* path, ll_stripes* stripes);

// The attributes by themselves: the first is binary, the second text.
bool ll_lustre_stripes(const unsigned char* attribute, size_t size, ll_stripes* stripes);
bool ll_ceph_stripes(const char* attribute, ll_stripes* stripes);

// What CephFS has of a file, by its path; false on any other file system.
bool ll_read_ceph(const char* path, ll_stripes* stripes);

// Gives an empty file on CephFS these stripes; what is 0 of them stays. Anything else is left as it is, and
// what came of it is seen by reading.
void ll_write_ceph(int descriptor, const ll_stripes* wanted);

// The layout `wanted` in the attribute's words, where the file has the layout `attribute`; false where it
// does not fit.
bool ll_ceph_layout(const char* attribute, const ll_stripes* wanted, char* layout, size_t size);

#endif
