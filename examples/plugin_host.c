/* A host calls into a plugin, the plugin calls the host back, and there it crashes: three changes
 * between stripped modules in one chain. gdb has the frames but names only the exported function;
 * whocall names or numbers each frame and says in which module it lies.
 *
 * Build: gcc -O2 -shared -fPIC -o plugin.so plugin.c
 * Build: gcc -O2 -o plugin_host plugin_host.c -ldl
 */
#include <dlfcn.h>
#include <stdio.h>

#include "plugin.h"

#define NOINLINE __attribute__((noinline))

static double *volatile samples; /* not recorded yet */

NOINLINE static double sample(int at) { return samples[at]; /* the crash */ }

NOINLINE static double smoothed(int at) { return (sample(at) + sample(at + 1)) / 2; }

NOINLINE static double run(filter_function *filter) { return filter(smoothed, 100) + 1; }

int main(void) {
    void *plugin = dlopen("./plugin.so", RTLD_NOW);
    if (!plugin) {
        fprintf(stderr, "%s\n", dlerror());
        return 0;
    }
    filter_function *filter = (filter_function *)dlsym(plugin, "plugin_filter");
    return filter && run(filter) > 0;
}
