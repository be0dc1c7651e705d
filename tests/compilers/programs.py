"""The programs: functions of many shapes that report their failures, and those of other tests.

Nothing of it runs: all objects become one file, whose other functions are nowhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]

HEAD = r"""
#include <alloca.h>
#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#define KEEP __attribute__((noinline))
#define COLD __attribute__((cold))
#define INLINE static inline __attribute__((always_inline))
#ifdef COLD_ASSERT /* as glibc declares it from 2.38 on */
extern void __assert_fail(const char *, const char *, unsigned, const char *) COLD;
#endif
extern void __assert_perror_fail(int, const char *, unsigned, const char *)
    __attribute__((noreturn));
extern void g_return_if_fail_warning(const char *, const char *, const char *) COLD;
extern void g_assertion_message_expr(const char *, const char *, int, const char *, const char *)
    __attribute__((noreturn));
extern void log_at(int level, const char *file, int line, const char *name, const char *text, ...);
extern void complain(const char *file, int line, const char *name, int code) COLD;
extern void bug_at(const char *file, int line, const char *name) __attribute__((noreturn));
extern int outside(int), outside_p(const void *), outside_2(int, int);
extern double outside_d(double);
struct wide { long a[6]; };
"""

OUTSIDE = ("outside", "outside_p", "outside_2", "outside_d", "g_return_if_fail_warning",
           "g_assertion_message_expr")  # fmt: skip

# A function and a call of it. `@` stands for its name, `#` for its number, `^` for an earlier one.
SHAPES = (
    ("KEEP int @(int x) { assert(x != #); return outside(x) + #; }",
     "@(s)"),
    ("KEEP int @(int *p) { assert(p); assert(*p > #); *p = outside(*p); return #; }",
     "@(&s)"),
    ("KEEP int @(int x, int *p) { if (x == #) return #; assert(p); return outside(*p) * #; }",
     "@(s, &s)"),
    ("""KEEP int @(const int *p, int n) { int sum = #; assert(n > #);
       for (int i = 0; i < n; ++i) { assert(p[i] != #); sum += outside(p[i]); } return sum; }""",
     "@(&s, s)"),
    ("KEEP int @(int x) { assert(x < #); return x * # + 1; }",
     "@(s)"),
    ("""KEEP int @(int a, int b, int c, int d) { assert(a != #); int s = outside(a), t = outside(b);
       int u = outside_2(c, s), v = outside_2(d, t); return s + t * u - v * outside(s + #); }""",
     "@(s, s + 1, 2, s)"),
    ("""KEEP int @(int x) { assert(x >= 0); switch (x) { case 0: return outside(#); case 1:
       return outside_2(#, x); case 2: return outside(x - #); case 3: return outside(x * #);
       case 4: return outside(-x); case 5: return # + outside(9); default: assert(x > #); }
       return x; }""",
     "@(s)"),
    ("""KEEP int @(int x, const char *s) { if (x > #) log_at(x, __FILE__, __LINE__, __func__, "%d",
       x); else outside_p(s); return outside(x) - #; }""",
     '@(s, "t")'),
    ("""KEEP int @(int x) { if (x == #) { complain(__FILE__, __LINE__, __func__, x); return -#; }
       return outside(x) + 2 * #; }""",
     "@(s)"),
    ("KEEP int @(int *p) { if (!p) bug_at(__FILE__, __LINE__, __func__); return outside(*p + #); }",
     "@(&s)"),
    ("""INLINE int @_inner(int x) { assert(x != #); return outside(x); }
       KEEP int @(int x) { return @_inner(x) + #; }
       KEEP int @_too(int x) { return @_inner(x + 1) * #; }""",
     "@(s) + @_too(s)"),
    ("KEEP int @(int x) { assert(x > #); return outside(x + #); }",
     "@(s)"),
    ("""KEEP int @(int n) { assert(n < 999); char *text = alloca(n); memset(text, #, n);
       return outside_p(text) + #; }""",
     "@(s)"),
    ("""KEEP double @(double d, int x) { assert(x != #); return outside_d(d * #) + x; }""",
     "(int)@(s, s)"),
    ("""KEEP int @(int e) { if (e) __assert_perror_fail(e, __FILE__, __LINE__, __func__);
       return outside(#); }""",
     "@(s)"),
    ("""KEEP int @(const char *s) { if (!s) { g_return_if_fail_warning("demo", __func__, "s");
       return #; } return outside_p(s) + #; }""",
     '@("t" + (s & 1))'),
    ("""KEEP int @(int x) { if (x < #) g_assertion_message_expr("demo", __FILE__, __LINE__,
       __func__, "x"); return outside(x * #); }""",
     "@(s)"),
    ("""KEEP long @(struct wide w, int x) { assert(w.a[2] != #);
       return w.a[x & 3] + outside(x); }""",
     "(int)@((struct wide){{s}}, s)"),
    ("""KEEP int @(int n, ...) { assert(n < 77); va_list all; int sum = #; va_start(all, n);
       while (n--) sum += va_arg(all, int); va_end(all); return outside(sum); }""",
     "@(s, s, 2)"),
    ("""KEEP int @(int x) { if (outside(x) == #) return 1; if (outside(x + 1) == #) return 2;
       assert(x != 5); return outside(x + #); }""",
     "@(s)"),
    ("""KEEP int @(int x) { int s = outside(x); assert(s != #); return s + ^(0); }""",
     "@(s)"),
    ("""KEEP void @(int *p, int n) { assert(p && n); while (n-- > #) p[n] = outside(p[n]); }""",
     "(@(&s, s), 1)"),
    ("KEEP int @(unsigned x) { return x < # ? @(x + 1) + outside(#) : outside(x) - 1; }",
     "@(s)"),
)  # fmt: skip

CALLED = "KEEP int {0}_base(int x) {{ return outside(x) ^ {1}; }}"

CLASSES = r"""
#include <assert.h>
extern int outside(int);
#define KEEP __attribute__((noinline))
namespace shapes_% {
struct Shape {
  KEEP explicit Shape(int v);
  KEEP virtual ~Shape();
  KEEP virtual int area(int x) const;
  KEEP static int make(int x, const char *text);
  KEEP bool operator==(int x) const;
  KEEP int &at(int *p, int x);
  int value;
};
Shape::Shape(int v) : value(v) { assert(v != 3); value += outside(1); }
Shape::~Shape() { assert(value != 4); value += outside(2); }
int Shape::area(int x) const { assert(x != 5); return outside(3) + value; }
int Shape::make(int x, const char *text) { assert(x != 6); return outside(*text); }
bool Shape::operator==(int x) const { assert(x != 7); return outside(4) == x; }
int &Shape::at(int *p, int x) { assert(p); value = outside(p[x]); return p[x]; }
namespace { KEEP int hidden_%(int *x) { assert(*x != 8); return *x + outside(5); } }
template <typename T> KEEP T larger(T a, T b) { assert(a != b); return a > b ? a : b + outside(6); }
KEEP int calls(int c) {
  auto lambda = [](int x) KEEP { assert(x != 9); return x + outside(7); };
  return lambda(c) + lambda(c + 1);
}
KEEP int caught(int c) {
  try { Shape shape(c); return shape.area(c); } catch (int code) { return outside(code); }
}
int use_%(int c, char **v) {
  Shape shape(c);
  return shape.area(c) + Shape::make(c, v[0]) + (shape == c) + hidden_%(&c) + caught(c) +
         larger(c, 7) + static_cast<int>(larger(2L, long(c))) + calls(c) + shape.at(&c, 0);
}
}
"""

REPORTS = (
    HEAD
    + r"""
KEEP void log_at(int level, const char *file, int line, const char *name, const char *text, ...) {
  va_list all; va_start(all, text); outside_2(level, line);
  outside_p(file); outside_p(name); outside_p(all); va_end(all);
}
KEEP void complain(const char *file, int line, const char *name, int code) {
  outside_p(file); outside_2(line, code); outside_p(name);
}
KEEP void bug_at(const char *file, int line, const char *name) {
  outside_p(file); outside(line); outside_p(name); abort();
}
int main(int c, char **v) { (void)v; return outside(c); }
"""
)


def unit(number: int, rounds: int) -> str:
    """One source with every shape so many times, a table of half of them and calls of the rest."""
    words = [HEAD, CALLED.format(f"static_{number}", number).replace("KEEP", "static KEEP")]
    earlier = f"static_{number}_base"
    pointed, calls = [], []
    for each in range(rounds * len(SHAPES)):
        text, call = SHAPES[(each * 7 + number) % len(SHAPES)]
        name = f"work_{number}_{each}"
        text = text.replace("@", name).replace("#", str(10 + each % 90)).replace("^", earlier)
        words.append(text.replace("KEEP", "static KEEP" if each % 3 else "KEEP"))
        if each % 2:
            names = [name, f"{name}_too"] if "@_too" in call else [name]
            pointed += [f"(work)(void *){one}" for one in names]
        else:
            calls.append(f"s += {call.replace('@', name)};")
    words.append(f"typedef void (*work)(void);\nwork table_{number}[] = {{{', '.join(pointed)}}};\n"
                 f"int use_all_{number}(int s) {{ {' '.join(calls)} return s; }}\n")  # fmt: skip
    return "\n".join(words)


def sources(units: int, rounds: int) -> Iterator[tuple[str, str]]:
    """File names with their texts."""
    yield "reports.c", REPORTS
    for number in range(units):
        yield f"work_{number}.c", unit(number, rounds)
        yield f"shapes_{number}.cc", CLASSES.replace("%", str(number))


def of_other_tests() -> list[Path]:
    """Sources in C that any compiler for x86 takes as they are."""
    folders = ("triage/programs", "stock", "../examples")
    return [path.resolve() for folder in folders for path in sorted((TESTS / folder).glob("*.c"))]
