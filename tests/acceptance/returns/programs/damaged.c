/* Return addresses are overwritten: that of leaf, and of deep at the depths that DISTURBED names. */
#include "disturb.h"

#ifndef VALUE
#define VALUE 0x4141414141414141
#endif
long volatile *slots[10];

NOINLINE int leaf(int n) {
    if (n == 3) {
        const char *depths = disturbed();
        if (depths)
            *RETURN_SLOT = (long)VALUE;
        for (; depths && *depths; ++depths)
            *slots[*depths - '0'] = (long)VALUE;
        abort();
    }
    return n;
}
NOINLINE int compare(const void *a, const void *b) { return leaf(*(const int *)a) - *(const int *)b; }
NOINLINE int sorted(int n) {
    int values[4] = {4, 3, n, 1};
    qsort(values, 4, 4, compare);
    return values[0];
}
NOINLINE int deep(int n) {
    volatile char room[100];
    room[1] = n;
    slots[n] = RETURN_SLOT;
    return n ? deep(n - 1) + room[1] : sorted(8) + room[1];
}
int main(void) { return deep(8); }
