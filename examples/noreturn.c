/* `refuse` ends with a call that never returns, so its return address is the first byte of the
 * next function. gdb finds the right addresses, but no names; who looks up such an address as it
 * stands gets `unused`, which was never called. whocall gives the function that did call.
 *
 * Build: gcc -O2 -fno-reorder-functions -falign-functions=1 -o noreturn noreturn.c
 */
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))

volatile int failures;

NOINLINE __attribute__((noreturn)) void give_up(const char *why) {
    fprintf(stderr, "giving up: %s\n", why);
    failures++;
    abort();
}

NOINLINE __attribute__((noreturn)) void refuse(int line) {
    failures += line;
    give_up("unknown key"); /* nothing follows this call but the next function */
}

NOINLINE int unused(int line) {
    failures -= line;
    return failures;
}

NOINLINE int parse_line(int line, char key) {
    if (key != 'k')
        refuse(line);
    return unused(line) + 1;
}

NOINLINE int parse(const char *keys) {
    int sum = 0;
    for (int line = 0; keys[line]; line++)
        sum += parse_line(line, keys[line]);
    return sum;
}

int main(void) { return parse("kkkx"); }
