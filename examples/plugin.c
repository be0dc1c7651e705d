/* The plugin of plugin_host.c: it exports one function and hides two. */
#include "plugin.h"

#define NOINLINE __attribute__((noinline))

NOINLINE static double distance(source_function *source, int at, double mean) {
    double difference = source(at) - mean;
    return difference * difference;
}

NOINLINE static double variance(source_function *source, int count, double mean) {
    double sum = 0;
    for (int at = 0; at < count; at++)
        sum += distance(source, at, mean);
    return sum / count;
}

double plugin_filter(source_function *source, int count) {
    return variance(source, count, 0.5) + 1;
}
