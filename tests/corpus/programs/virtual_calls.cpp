// Virtual calls through two bases (with a thunk), a template and a lambda.
#include "truth.h"

struct shape {
    virtual int area(int x) = 0;
    virtual ~shape() = default;
};

struct named {
    virtual int name(int x) = 0;
    virtual ~named() = default;
};

struct square final : shape, named {
    NOINLINE int area(int x) override {
        TRUTH_SCOPE(area);
        *truth_null = x;
        return x;
    }
    NOINLINE int name(int x) override {
        TRUTH_SCOPE(name);
        shape *self = this;
        return self->area(x) + 1;
    }
};

static shape *volatile some_shape;
static named *volatile some_named;

template <typename function>
NOINLINE int apply(function callable, int x) {
    TRUTH_SCOPE(apply);
    return callable(x) + 1;
}

int main(int argc, char **) {
    TRUTH_SCOPE(main);
    square one;
    some_shape = &one;
    some_named = &one;
    int offset = argc;
    return apply([offset](int x) __attribute__((noinline)) {
               TRUTH_SCOPE(main);
               return some_named->name(x + offset) + 1;
           }, 2) + 1;
}
