#include "stripes.h"

#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <sys/xattr.h>

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

bool ll_read_stripes(const char* path, ll_stripes* stripes) {
    char attribute[1024];
    ssize_t size = getxattr(path, "lustre.lov", attribute, sizeof attribute - 1);
    if (size > 0) return ll_lustre_stripes((const unsigned char*)attribute, (size_t)size, stripes);
    size = getxattr(path, "ceph.file.layout", attribute, sizeof attribute - 1);
    if (size <= 0) return false;
    attribute[size] = '\0';
    return ll_ceph_stripes(attribute, stripes);
}
