#include "stripes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/xattr.h>

enum { ATTRIBUTE = 1024 };
static const char ceph_layout[] = "ceph.file.layout";

bool ll_is_lustre(const char* path) {
    enum { LUSTRE = 0x0BD00BD0 };  // LL_SUPER_MAGIC of lustre_user.h
    struct statfs status;
    return statfs(path, &status) == 0 && status.f_type == LUSTRE;
}

// struct lov_user_md_v1 and _v3 of lustre_user.h: magic, pattern, 16 bytes of an object's name, then the size
// of a stripe (32 bits) and their count (16 bits); little-endian. A file of several components has another
// magic: no single stripe is true of it.
bool ll_lustre_stripes(const unsigned char* attribute, size_t size, ll_stripes* stripes) {
    enum { V1 = 0x0BD10BD0, V3 = 0x0BD30BD0, SIZE_AT = 24, COUNT_AT = 28, LEAST = 32 };
    if (size < LEAST) return false;
    uint32_t number[8];
    for (size_t i = 0; i < 8; ++i)
        number[i] = (uint32_t)attribute[4 * i] | (uint32_t)attribute[4 * i + 1] << 8 |
                    (uint32_t)attribute[4 * i + 2] << 16 | (uint32_t)attribute[4 * i + 3] << 24;
    if (number[0] != V1 && number[0] != V3) return false;
    stripes->size = number[SIZE_AT / 4];
    stripes->count = number[COUNT_AT / 4] & 0xffff;
    return true;
}

// "stripe_unit=4194304 stripe_count=1 object_size=4194304 pool=..." (CephFS, file layouts).
bool ll_ceph_stripes(const char* attribute, ll_stripes* stripes) {
    const char* unit = strstr(attribute, "stripe_unit=");
    const char* count = strstr(attribute, "stripe_count=");
    if (unit == NULL || count == NULL) return false;
    stripes->size = strtoull(unit + strlen("stripe_unit="), NULL, 10);
    stripes->count = strtoull(count + strlen("stripe_count="), NULL, 10);
    return true;
}

// Objects stay as large as the file's folder has them, unless they are no whole stripes: how far a count of
// stripes reaches before the next objects begin is what the folder says.
bool ll_ceph_layout(const char* attribute, const ll_stripes* wanted, char* layout, size_t size) {
    ll_stripes now;
    const char* object = strstr(attribute, "object_size=");
    if (object == NULL || !ll_ceph_stripes(attribute, &now)) return false;
    const uint64_t count = wanted->count != 0 ? wanted->count : now.count;
    const uint64_t unit = wanted->size != 0 ? wanted->size : now.size;
    const uint64_t bytes = strtoull(object + strlen("object_size="), NULL, 10);
    if (unit == 0 || bytes > INT64_MAX || unit > INT64_MAX) return false;
    const uint64_t whole = (bytes + unit - 1) / unit * unit;
    const int written =
        snprintf(layout, size, "stripe_unit=%llu stripe_count=%llu object_size=%llu",
                 (unsigned long long)unit, (unsigned long long)count, (unsigned long long)whole);
    return written > 0 && (size_t)written < size;
}

void ll_write_ceph(int descriptor, const ll_stripes* wanted) {
    char attribute[ATTRIBUTE], layout[ATTRIBUTE];
    struct stat status;
    const ssize_t size = fgetxattr(descriptor, ceph_layout, attribute, sizeof attribute - 1);
    if (size <= 0 || fstat(descriptor, &status) != 0 || status.st_size != 0) return;
    attribute[size] = '\0';
    if (ll_ceph_layout(attribute, wanted, layout, sizeof layout))
        (void)fsetxattr(descriptor, ceph_layout, layout, strlen(layout), 0);
}

bool ll_read_ceph(const char* path, ll_stripes* stripes) {
    char attribute[ATTRIBUTE];
    const ssize_t size = getxattr(path, ceph_layout, attribute, sizeof attribute - 1);
    if (size <= 0) return false;
    attribute[size] = '\0';
    return ll_ceph_stripes(attribute, stripes);
}

bool ll_read_stripes(const char* path, ll_stripes* stripes) {
    unsigned char attribute[ATTRIBUTE];
    const ssize_t size = getxattr(path, "lustre.lov", attribute, sizeof attribute);
    if (size > 0) return ll_lustre_stripes(attribute, (size_t)size, stripes);
    return ll_read_ceph(path, stripes);
}
