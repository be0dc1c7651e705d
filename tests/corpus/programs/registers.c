/* Many arguments and many live values: callee-saved registers, pushed arguments, cleanups after the call. */
#include "truth.h"

typedef long number;

NOINLINE number many(number a, number b, number c, number d, number e, number f, number g, number h, number i) {
    TRUTH_ENTER(many);
    number sum = a + b * 2 + c * 3 + d * 4 + e * 5 + f * 6 + g * 7 + h * 8 + i * 9;
    *truth_null = (int)sum;
    TRUTH_LEAVE();
    return sum;
}

NOINLINE number source(number x) {
    TRUTH_ENTER(source);
    number y = x * 3 + truth_zero;
    TRUTH_LEAVE();
    return y;
}

NOINLINE number pressure(number x) {
    TRUTH_ENTER(pressure);
    number a = source(x), b = source(a + 1), c = source(b + 2), d = source(c + 3), e = source(d + 4);
    number f = source(e + 5), g = source(f + 6), h = source(g + 7);
    number y = many(a, b, c, d, e, f, g, h, a + h) + a * b + c * d + e * f + g * h;
    TRUTH_LEAVE();
    return y;
}

int main(int argc, char **argv) {
    TRUTH_ENTER(main);
    (void)argv;
    number y = pressure(argc) + source(argc);
    TRUTH_LEAVE();
    return (int)y;
}
