/* Recursion through qsort and a table of pointers; text and sums at the bottom. It never ends. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int down(int n);
static int wanted;
static int leaf(int n) {
    char text[400] = "";
    for (int i = 0; i < 30; i++) {
        char word[24];
        snprintf(word, sizeof word, "%d.%g ", i * n, i / 7.0);
        strcat(text, word);
    }
    return (int)strlen(text);
}
static int compare(const void *a, const void *b) {
    int below = wanted ? down(wanted - 1) : 0;
    wanted = 0;
    return *(const int *)a - *(const int *)b + (below & 0);
}
static int through(int (*f)(int), int n) { return f(n) + 1; }
static int down(int n) {
    if (n == 0)
        return leaf(7);
    if (n % 2)
        return through(down, n - 1);
    int list[] = {3, 1, 2};
    wanted = n;
    qsort(list, 3, sizeof *list, compare);
    return list[0];
}
int main(void) {
    for (;;)
        down(60);
}
