// Loads one plug-in, lets it use its HDF5, unloads it, and loads the other: whichever lies where the first one
// lay, each must use its own. Arguments: the plug-ins.
#include <dlfcn.h>
#include <stdio.h>

int main(int count, char** argument) {
    for (int round = 0; round < 6; ++round)
        for (int i = 1; i < count; ++i) {
            void* library = dlopen(argument[i], RTLD_NOW | RTLD_LOCAL);
            int (*use)(void) = library != NULL ? (int (*)(void))dlsym(library, "use") : NULL;
            if (use == NULL) return puts(dlerror()), 1;
            printf("%s: %d\n", i == 1 ? "first" : "second", use());
            dlclose(library);
        }
    return 0;
}
