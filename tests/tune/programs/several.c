// Writes and reads two datasets in one call each. Of HDF5 1.14 and 2, whose headers may not be here.
#include <stdint.h>
#include <stdio.h>

typedef int64_t hid;
extern hid H5T_NATIVE_INT_g;
int H5open(void);
hid H5Fcreate(const char*, unsigned, hid, hid);
hid H5Screate_simple(int, const unsigned long long*, const unsigned long long*);
hid H5Dcreate2(hid, const char*, hid, hid, hid, hid, hid);
int H5Dwrite_multi(size_t, hid*, hid*, hid*, hid*, hid, const void**);
int H5Dread_multi(size_t, hid*, hid*, hid*, hid*, hid, void**);
int H5Fclose(hid);

int main(int count, char** argument) {
    const unsigned long long length = 2;
    int one[2] = {1, 2}, two[2] = {3, 4}, back[2][2] = {{0}};
    const void* from[2] = {one, two};
    void* into[2] = {back[0], back[1]};
    if (count != 2 || H5open() < 0) return 2;
    hid file = H5Fcreate(argument[1], 2, 0, 0), space = H5Screate_simple(1, &length, NULL);
    hid type[2] = {H5T_NATIVE_INT_g, H5T_NATIVE_INT_g}, all[2] = {0, 0};
    hid set[2] = {H5Dcreate2(file, "a", type[0], space, 0, 0, 0), H5Dcreate2(file, "b", type[0], space, 0, 0, 0)};
    int wrote = H5Dwrite_multi(2, set, type, all, all, 0, from), read = H5Dread_multi(2, set, type, all, all, 0, into);
    printf("%d %d %d %d %d %d\n", wrote, read, back[0][0], back[0][1], back[1][0], back[1][1]);
    return H5Fclose(file) < 0;
}
