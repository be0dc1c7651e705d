// C++ exceptions.  MODE 0: nobody catches; 1: crash in the catch block; 2: crash in a destructor during unwinding;
// 3: a throw runs into noexcept.
#include "truth.h"

struct guard {
    explicit guard(int level) : level(level) {}
    NOINLINE ~guard();
    int level;
};

guard::~guard() {
    TRUTH_SCOPE(guard);
    if (MODE == 2 && level == 1)
        *truth_null = level;
    truth_zero = level;
}

NOINLINE int thrower(int x) {
    TRUTH_SCOPE(thrower);
    if (x != truth_zero)
        throw x;
    return x;
}

NOINLINE int inner(int x) {
    TRUTH_SCOPE(inner);
    guard first(0);
    return thrower(x) + first.level;
}

NOINLINE int middle(int x) noexcept(MODE == 3) {
    TRUTH_SCOPE(middle);
    guard second(1);
    return inner(x + 1) + second.level;
}

NOINLINE int recover(int x) {
    TRUTH_SCOPE(recover);
    *truth_null = x;
    return x;
}

NOINLINE int outer(int x) {
    TRUTH_SCOPE(outer);
    if (MODE == 0)
        return middle(x) + 1;
    try {
        return middle(x) + 1;
    } catch (int value) {
        return recover(value) + 2;
    }
}

int main(int argc, char **) {
    TRUTH_SCOPE(main);
    truth_zero = -1;
    return outer(argc) + 1;
}
