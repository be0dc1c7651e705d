/* A crash in a comparison function called by the C library's qsort. */
#include <stdlib.h>

#include "truth.h"

static int numbers[40];

NOINLINE static int compare(const void *left, const void *right) {
    TRUTH_ENTER(compare);
    int x = *(const int *)left, y = *(const int *)right;
    if (x == 7 || y == 7)
        *truth_null = x;
    TRUTH_LEAVE();
    return (x > y) - (x < y);
}

NOINLINE static void sort(int *array, size_t count) {
    TRUTH_ENTER(sort);
    qsort(array, count, sizeof *array, compare);
    TRUTH_LEAVE();
}

int main(void) {
    TRUTH_ENTER(main);
    for (int i = 0; i < 40; i++)
        numbers[i] = (i * 17) % 40;
    sort(numbers, 40);
    TRUTH_LEAVE();
    return numbers[3];
}
