/* A table of message handlers with a hole: the call goes to address 0.
 * No code lies there. gdb guesses the first caller, but then moves word by word up the stack,
 * although the frame pointers are a perfect chain. whocall starts from the return address that
 * the call has just pushed; from there on the functions' instructions tell where the frames lie
 * (analysis), and `whocall bt -without analysis` finds the same frames by the frame pointers.
 *
 * Build: gcc -O2 -fno-omit-frame-pointer -fno-asynchronous-unwind-tables -o null_call null_call.c
 */
#include <stdio.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))

typedef int handler(const char *text);

static int on_hello(const char *text) { return printf("hello, %s\n", text); }
static int on_count(const char *text) { return printf("%zu letters\n", strlen(text)); }

/* The volatile pointers keep the compiler from seeing the hole. */
static const struct { const char *verb; handler *volatile handle; } handlers[] = {
    {"hello", on_hello}, {"count", on_count}, {"leave", NULL},
};

NOINLINE int dispatch(const char *verb, const char *text) {
    for (size_t i = 0; i < sizeof handlers / sizeof *handlers; i++)
        if (strcmp(handlers[i].verb, verb) == 0)
            return handlers[i].handle(text) + 1;
    return -1;
}

NOINLINE int read_message(const char *line) {
    char verb[16];
    size_t length = strcspn(line, " ");
    snprintf(verb, sizeof verb, "%.*s", (int)length, line);
    return dispatch(verb, line + length + 1) + 1;
}

NOINLINE int serve(const char *const *lines) {
    int done = 0;
    for (; *lines; lines++)
        done += read_message(*lines);
    return done;
}

int main(void) {
    static const char *const lines[] = {"hello world", "count sheep", "leave now", NULL};
    return serve(lines) == 0;
}
