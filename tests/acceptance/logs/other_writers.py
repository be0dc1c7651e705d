"""Stacks in the forms in which servers, libraries and tools write them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from acceptance.logs.addresses import Stack
from acceptance.logs.log_programs import FUNCTIONS


def _lines(stack: Stack, line: Callable[[int, int], str], step: int = 0) -> str:
    """One for each address of the stack, which may be stepped back."""
    return "".join(line(at, address - step) + "\n" for at, address in enumerate(stack.addresses))


def _link_lines(stack: Stack, line: Callable[[int, int], str], step: int = 0) -> str:
    return "".join(line(at, address - step) + "\n" for at, address in enumerate(stack.links()))


def _redis(stack: Stack) -> str:
    base = stack.base
    frames = _lines(stack, lambda _, pc: f"redis-server *:7391(+{pc - base:#x})[{pc:#x}]")
    return f"------ STACK TRACE ------\n\nBacktrace:\n{frames}\n------ INFO OUTPUT ------\n"


def _redis_eip(stack: Stack) -> str:
    pc = stack.addresses[0] - 1
    rest = _lines(stack, lambda _, pc: f"redis-server *:7391(+{pc - stack.base:#x})[{pc:#x}]")
    first = f"EIP:\nredis-server *:7391(+{pc - stack.base:#x})[{pc:#x}]\n\nBacktrace:\n"
    return first + rest.partition("\n")[2]


def _postgres(stack: Stack) -> str:
    title = "postgres: bob shop [local] SELECT"
    return "2026-11-24 07:08:53.000 UTC [98] BACKTRACE:  \n" + _lines(
        stack, lambda _, pc: f"\t{title}(+{pc - stack.base:#x}) [{pc:#x}]"
    )


def _parameters(stack: Stack) -> str:
    """As c++filt leaves it; that the second names none tells where the program lies."""

    def line(at: int, pc: int) -> str:
        name = f"Tree::at(int, std::vector<int>) const+{pc & 0xFF:#x}" if at != 1 else ""
        return f"{stack.path}({name or f'+{pc - stack.base:#x}'}) [{pc:#x}]"

    return _lines(stack, line)


def boost(stack: Stack) -> str:
    return _lines(stack, lambda at, pc: f" {at}# 0x{pc:016X} in ./prog")


def _folly(stack: Stack) -> str:
    return "*** Signal 11 (SIGSEGV) (0x0) received by PID 98 ***\n" + _lines(
        stack, lambda _, pc: f"    @ {pc:016x} (unknown)", step=1
    )


def _envoy(stack: Stack) -> str:
    log = "[2026-11-24 07:08:53.000][98][critical][backtrace] [./source/server/backtrace.h:"
    begin, end, _ = stack.code
    return f"{log}127] Address mapping: {begin:x}-{end:x} {stack.path}\n" + _lines(
        stack, lambda at, pc: f"{log}104] #{at}: [{pc:#x}]"
    )


def _seastar(stack: Stack) -> str:
    return "Segmentation fault on shard 0.\nBacktrace:\n" + _link_lines(
        stack, lambda _, pc: f"  {pc:#x}", step=1
    )


def _seastar_in_syslog(stack: Stack) -> str:
    log = "Nov 24 07:08:53 host scylla[98]: "
    return f"{log}Backtrace:\n" + _link_lines(stack, lambda _, pc: f"{log}  {pc:#x}", step=1)


def _seastar_in_a_line(stack: Stack) -> str:
    words = " ".join(f"{link - 1:#x}" for link in stack.links())
    return f"WARN  seastar - Exceptional future ignored: x, backtrace: {words}\n"


def _clickhouse(stack: Stack) -> str:
    log = "2026.11.24 07:08:53.000000 [ 98 ] {} <Fatal> BaseDaemon: "
    exact = [stack.links()[0] - 1, *stack.links()[1:]]
    return f"{log}Stack trace: 0x1 0x2\n" + "".join(
        f"{log}{at + 3}. ? @ 0x{link:016x} in {stack.path}\n" for at, link in enumerate(exact)
    )


def _clickhouse_exception(stack: Stack) -> str:
    return "0. DB::Exception::Exception() @ 0x0000000000000001\n" + _link_lines(
        stack, lambda at, link: f"{at + 1}. ? @ 0x{link:016x}"
    )


def _frr(stack: Stack) -> str:
    return "ZEBRA: Backtrace:\n" + _lines(
        stack,
        lambda _, pc: f"ZEBRA: {'?':30} {pc:16x}     7ffd12345678 {stack.path} (mapped at "
        f"{stack.base:#x})",
    )


def _frr_signal(stack: Stack) -> str:
    """The line says so of what a signal handler returns to, and so of what that interrupted."""

    def line(name: str, pc: int) -> str:
        return f"ZEBRA: {name:30} {pc:16x} 7ffd12345678 {stack.path} (mapped at {stack.base:#x})"

    first, *rest = stack.addresses
    told = [line("?", first - 1), *(line("?", pc) for pc in rest)]
    return "\n".join(["ZEBRA:     ---- signal ----", line("?", stack.base + 1), *told]) + "\n"


def _faulthandler(stack: Stack) -> str:
    return "Current thread's C stack trace (most recent call first):\n" + _lines(
        stack, lambda _, pc: f'  Binary file "{stack.path}", at +{pc - stack.base:#x} [{pc:#x}]'
    )


def _g3log(stack: Stack) -> str:
    return "******* STACKDUMP *******\n" + _lines(
        stack, lambda at, pc: f"\tstack dump [{at}]  {stack.path}+{pc - stack.base:#x} [{pc:#x}]"
    )


def _backward(stack: Stack) -> str:
    """The outermost first."""
    frames = _lines(stack, lambda at, pc: f'#{at}    Object "{stack.path}", at {pc:#x}, in ', 1)
    return "Stack trace (most recent call last):\n" + "\n".join(frames.splitlines()[::-1]) + "\n"


def _julia(stack: Stack) -> str:
    return "signal (11.1): Segmentation fault\nin expression starting at none:0\n" + _lines(
        stack, lambda _, pc: f"unknown function (ip: {pc:#x}) at {stack.path}", step=1
    )


def uftrace(stack: Stack) -> str:
    """What each function calls of uftrace lies a little before its call."""
    pairs = list(zip(stack.addresses, stack.addresses[1:]))
    return "WARN: Backtrace from uftrace v0.13 ( x86_64 dwarf )\n" + "".join(
        f"WARN: [{len(pairs) - at}] (<{own:x}>[{own:x}] <= <{parent:x}>[{parent:x}])\n"
        for at, (own, parent) in enumerate(pairs)
    )


def _bpftrace(stack: Stack) -> str:
    exact = [stack.addresses[0] - 1, *stack.addresses[1:]]
    return "@[\n" + "".join(f"    {pc:#x}\n" for pc in exact) + "]: 3\n"


def _bpftrace_perf(stack: Stack) -> str:
    exact = [stack.addresses[0] - 1, *stack.addresses[1:]]
    return "@u[\n" + "".join(f"\t{pc:x} {pc:#x} ([unknown])\n" for pc in exact) + "]: 3\n"


def who_calls(stack: Stack) -> str:
    """libwhocall: a program asks."""

    def told(pc: int) -> str:
        return f"? in {stack.path}(+{pc - stack.base:#x})"

    calls = list(zip(stack.addresses, stack.addresses[1:]))[::2]
    return "".join(f"{told(caller)} called {told(own)}\n" for own, caller in calls)


def _mappings_behind(stack: Stack) -> str:
    frames = _lines(stack, lambda at, pc: f" {at}: {pc:#x} ??")
    return f"terminate called\n{frames}\nMAPPED_LIBRARIES:\n{stack.maps}\nAborted\n"


def _numbers_and_mappings_behind(stack: Stack) -> str:
    return _lines(stack, lambda _, pc: f"came from {pc:#x}, it seems") + stack.maps + "end\n"


def _two_lines_of_the_kernel(stack: Stack) -> str:
    begin, end, _ = stack.code
    return (
        f"[   12.1] prog[98]: segfault at 0 ip {stack.addresses[0] - 1:016x} sp 00007fff4cb1ee90 "
        f"error 4\n[   12.1]  in prog[{begin:x}+{end - begin:x}]\n[   12.1] Code: f8 e8\n"
    )


def _lldb(stack: Stack) -> str:
    build = stack.build_id.upper()
    parts = [build[:8], *(build[at : at + 4] for at in (8, 12, 16)), build[20:32], build[32:]]
    exact = [stack.addresses[0] - 1, *stack.addresses[1:]]
    return (
        "* thread #1, name = 'prog', stop reason = signal SIGSEGV\n"
        + "".join(
            f"  {' *'[at == 0]} frame #{at}: {pc:#018x} prog`___lldb_unnamed_symbol{at} + 9\n"
            for at, pc in enumerate(exact)
        )
        + f"(lldb) image list\n[  0] {'-'.join(parts)} {stack.base:#018x} {stack.path} \n(lldb) \n"
    )


@dataclass(frozen=True)
class Case:
    """A log, and what the user gives with it."""

    write: Callable[[Stack], str]
    kind: str
    exe: bool = False  # nothing tells the program
    code: bool = False  # where it lay its code tells
    told: bool = False  # the log tells builds
    count: int = len(FUNCTIONS)


CASES = {
    "redis": Case(_redis, "glibc", exe=True),
    "redis, its first address": Case(_redis_eip, "glibc", exe=True),
    "postgres": Case(_postgres, "glibc", exe=True),
    "names with parameters": Case(_parameters, "glibc"),
    "boost": Case(boost, "boost", code=True),
    "folly": Case(_folly, "folly", code=True),
    "envoy": Case(_envoy, "envoy"),
    "seastar": Case(_seastar, "seastar", exe=True),
    "seastar, in syslog": Case(_seastar_in_syslog, "seastar", exe=True),
    "seastar, in a line": Case(_seastar_in_a_line, "seastar", code=True),
    "clickhouse": Case(_clickhouse, "clickhouse"),
    "clickhouse, of an exception": Case(_clickhouse_exception, "clickhouse", exe=True),
    "frr": Case(_frr, "frr"),
    "frr, of a signal": Case(_frr_signal, "frr"),
    "faulthandler": Case(_faulthandler, "faulthandler"),
    "g3log": Case(_g3log, "g3log"),
    "backward": Case(_backward, "backward", code=True),
    "julia": Case(_julia, "julia", code=True),
    "bpftrace": Case(_bpftrace, "bpftrace", code=True),
    "bpftrace, as perf": Case(_bpftrace_perf, "bpftrace", code=True),
    "mappings behind": Case(_mappings_behind, "raw"),
    "numbers, and mappings behind": Case(_numbers_and_mappings_behind, "raw"),
    "two lines of the kernel": Case(_two_lines_of_the_kernel, "kernel", count=2),
    "lldb": Case(_lldb, "lldb", told=True),
}
