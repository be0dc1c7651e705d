/* A calculator that descends into nested brackets, built like firmware: no unwind tables, no frame
 * pointers. gdb does not know how big a frame is, takes the next word for the caller and ends
 * at a zero, after two true frames; whocall learns each frame's size from the instructions.
 *
 * Build: gcc -Os -fomit-frame-pointer -fno-asynchronous-unwind-tables -o no_tables no_tables.c
 */
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))

static const long *variables[26]; /* nobody has set a value */

static long sum(const char **text);

NOINLINE static long value_of(char name) { return *variables[name - 'a']; /* the crash */ }

NOINLINE static long factor(const char **text) {
    long value;
    if (**text == '(') {
        ++*text;
        value = sum(text);
        ++*text;
    } else if (**text >= 'a') {
        value = value_of(*(*text)++);
    } else {
        char *end;
        value = strtol(*text, &end, 10);
        *text = end;
    }
    return value;
}

NOINLINE static long product(const char **text) {
    long value = factor(text);
    while (**text == '*') {
        ++*text;
        value *= factor(text);
    }
    return value;
}

NOINLINE static long sum(const char **text) {
    long value = product(text);
    while (**text == '+') {
        ++*text;
        value += product(text);
    }
    return value;
}

NOINLINE static long calculate(const char *text) { return sum(&text); }

int main(void) { return printf("%ld\n", calculate("2*(3+4*(5+x))")) < 0; }
