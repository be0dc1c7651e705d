/* A name that is too long runs over the return address of the function that copies it.
 * gdb takes the letters for callers (0x4141414141414141) until it chances on an address of code;
 * whocall says that no rule leads on and how much of the stack it searched, and goes on at a frame
 * from which the chain holds together (scan). `whocall bt -explain` tells what it refused, and why.
 *
 * Build: gcc -O2 -fno-stack-protector -U_FORTIFY_SOURCE -o smashed smashed.c
 */
#include <stdio.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))

#define A10 "AAAAAAAAAA"

static int greetings;

NOINLINE int greet(const char *name) {
    char line[16];
    char *volatile end = line; /* keeps the compiler from noticing */
    strcpy(end, name);
    greetings++;
    return (int)strlen(line);
} /* the crash: this returns to nowhere */

NOINLINE int greet_guest(const char *const *guests, int number) {
    return greet(guests[number]) + number;
}

NOINLINE int greet_all(const char *const *guests) {
    int letters = 0;
    for (int number = 0; guests[number]; number++)
        letters += greet_guest(guests, number);
    return letters;
}

NOINLINE int party(void) {
    static const char *const guests[] = {"Anna", "Bela", A10 A10 A10 A10 A10 A10 A10, NULL};
    return printf("%d letters\n", greet_all(guests));
}

int main(void) { return party() == 0; }
