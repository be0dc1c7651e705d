/* Variadic functions: register save areas, and on i386 callers that push and pop arguments. */
#include <stdarg.h>

#include "truth.h"

NOINLINE int consume(const char *format, va_list arguments) {
    TRUTH_ENTER(consume);
    int sum = 0;
    for (; *format; format++)
        sum += *format == 'd' ? va_arg(arguments, int) : (int)va_arg(arguments, double);
    *truth_null = sum;
    TRUTH_LEAVE();
    return sum;
}

NOINLINE int collect(const char *format, ...) {
    TRUTH_ENTER(collect);
    va_list arguments;
    va_start(arguments, format);
    int sum = consume(format, arguments);
    va_end(arguments);
    TRUTH_LEAVE();
    return sum;
}

int main(int argc, char **argv) {
    TRUTH_ENTER(main);
    (void)argv;
    int y = collect("ddfdfdddf", argc, 2, 3.0, 4, 5.0, 6, 7, 8, 9.0);
    TRUTH_LEAVE();
    return y;
}
