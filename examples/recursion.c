/* A list whose tail is its head, walked by recursion with a big frame down to the guard page.
 * gdb finds the two thousand frames, each of them `??`; whocall tells the functions apart, so that
 * one is seen to call itself, and `whocall bt -6` shows who began.
 *
 * Build: gcc -O2 -o recursion recursion.c
 */
#include <stdio.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))

struct item { const char *text; struct item *next; };

NOINLINE size_t longest_from(const struct item *item) {
    char line[4000]; /* a big frame: not one push, but a subtraction from the stack pointer */
    if (!item)
        return 0;
    snprintf(line, sizeof line, "- %s", item->text);
    size_t rest = longest_from(item->next), mine = strlen(line);
    return rest > mine ? rest : mine;
}

NOINLINE size_t page_width(const struct item *items) { return longest_from(items) + 4; }

NOINLINE int print_page(const struct item *items) { return printf("%zu\n", page_width(items)) > 0; }

int main(void) {
    struct item items[] = {{"milk", items + 1}, {"bread", items + 2}, {"cheese", items}};
    return !print_page(items);
}
