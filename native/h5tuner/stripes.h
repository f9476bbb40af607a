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

#endif
