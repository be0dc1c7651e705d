"""The table of forms: what writes such frames, how, and what their addresses are.

Each is as its writer's source has it. What the addresses are is the folklore that counts: some
writers print where a call returns to, others step back into the call before they print, and who
steps back once more, or not at all, names the line, and at times the function, beside the true one.
"""

from __future__ import annotations

import re

from whocall.base.records import dataclass
from whocall.resolve.facts.place import FIRST
from whocall.resolve.grammar.pieces import CALL, FIRST_EXACT, ZERO_EXACT, form

_CLICKHOUSE = (
    r"(?:(?P<line>\S{1,4096}?:[0-9]{1,9}): )?(?P<symbol>\S.{0,4095}?) @ {offset}(?: in {path})?\s*$"
)

FORMS = (
    # libwhocall, where a program asks who called it: two frames in a line. Stands first, as the
    # words between them are its own.
    form(
        "libwhocall", "? in ./prog(+0x1234) called f+0x13 in ./prog(+0x1251)",
        ") called ", r"(?:^|(?<=\s))(?=\S+ in \S.{0,4096}\(\+0x[0-9a-f]{1,16}\) called )",
        r"(?:{name}(?:\+{in})?) in {path}\(\+{offset}\)(?: called |\s*$)", again=True,
    ),
    form(
        "libwhocall", "I am ? in ./prog(+0x1234)",
        "I am ", r"(?:^|(?<=\s))I am ", r"(?:{name}(?:\+{in})?) in {path}\(\+{offset}\)\s*$",
    ),
    form(
        "libwhocall", "who called ? in ./prog(+0x1234) is not known: no unwind table covers it",
        "who called ", r"(?:^|(?<=\s))who called ",
        r"(?:{name}(?:\+{in})?) in {path}\(\+{offset}\)(?= is not known: )",
    ),
    # backward-cpp steps back itself, but for the frame that a signal interrupted.
    form(
        "backward", '#3    Object "./prog", at 0x55d3c758cc04, in ',
        'Object "', r'#(?P<level>[0-9]{1,6}) {1,8}Object "',
        r'{module}", at {address}, in (?:{symbol})?\s*$', side=CALL,
    ),
    # lldb: the first frame is where the thread stopped. The program's place tells `image list`.
    form(
        "lldb", "  * frame #0: 0x000055555555512f prog`___lldb_unnamed_symbol9 + 6",
        "frame #", r"(?:^|(?<=\s))frame #(?P<level>[0-9]{1,6}): ",
        r"{address} {module}(?:`(?P<shown>{symbol}(?: \+ [0-9]{1,12})?))?\s*$",
        side=ZERO_EXACT,
    ),
    # Boost.Stacktrace; where it has a name it tells no address.
    form(
        "boost", " 1# 0x000055D0C8A01139 in ./prog",
        "# 0x", r"^.{0,256}?\b(?P<level>[0-9]{1,6})# ", r"{address}(?: in {path})?\s*$",
    ),
    # folly's handler of fatal signals steps back itself.
    form(
        "folly", "    @ 000000000040113a (unknown)",
        " @ ", r"(?:^|(?<=\s))@ (?=[0-9a-f]{16} )",
        r"{bare} (?P<symbol>\((?:unknown|not found)\)|\S.{0,4095})$", side=CALL,
    ),
    # Envoy begins with what its handler of signals returns to, so that the next was interrupted.
    form(
        "envoy", "[critical][backtrace] [./source/server/backtrace.h:104] #1: [0x55d0c8a01139]",
        "#", r"(?:^|(?<=\s))#(?P<level>[0-9]{1,6}): ", r"(?:{symbol} )?\[{address}\]\s*$",
    ),
    # ClickHouse tells link addresses, of late with the file. Of a fatal signal the first line is of
    # the instruction, whatever its number is; of an exception all are where calls return to.
    form(
        "clickhouse", "<Fatal> BaseDaemon: 5. DB::f(int) @ 0x0000000012345678 in /bin/clickhouse",
        " @ 0x", r"<Fatal> \S{1,256}: (?P<level>[0-9]{1,6})\. (?=\S)", _CLICKHOUSE,
        side=FIRST_EXACT, block="clickhouse", program=True,
    ),
    form(
        "clickhouse", "5. DB::f(int) @ 0x0000000012345678",
        " @ 0x", r"(?:^|(?<=\s))(?P<level>[0-9]{1,6})\. (?=\S)", _CLICKHOUSE, program=True,
    ),
    # FRR with libunwind: name, pc, sp, and where the file's first byte lies.
    form(
        "frr", "zlog_backtrace+0x5c    7f12a3b4c5d6  7ffd12345678 /usr/lib/libfrr.so.0 (mapped at "
        "0x7f12a3a00000)",
        " (mapped at 0x",
        r"(?:^|(?<=\s))(?=\S{1,512}\s{1,40}[0-9a-f]{4,16}\s{1,20}[0-9a-f]{4,16} )",
        r"(?:\?|{name}(?:\+{in})?)\s{1,40}{bare}\s{1,20}[0-9a-f]{4,16} {path} \(mapped at {base}\)",
        counted=FIRST,
    ),
    # Python's faulthandler, of the C stack: the offset counts from the nearest name that the
    # dynamic linker knows, and without one from the file's first byte.
    form(
        "faulthandler", '  Binary file "/usr/bin/python3", at _start+0x21 [0x55d0c8a01139]',
        'Binary file "', r'Binary file "', r'{module}", at (?:{name})?\+{in} \[{address}\]\s*$',
    ),
    # g3log cuts what backtrace_symbols() gave, so that names stick to paths.
    form(
        "g3log", "\tstack dump [3]  /lib/x86_64-linux-gnu/libc.so.6+0x29d90 [0x718bcc629d90]",
        "stack dump [", r"stack dump \[(?P<level>[0-9]{1,6})\]\s{1,8}",
        r"{path}(?: : {symbol})?\+{in} \[{address}\]\s*$",
    ),
    # uftrace of a crash: pairs of a function and its caller; the first is where its own call to
    # uftrace returns to.
    form(
        "uftrace", "WARN: [2] (<55f3fffbc1c3>[55f3fffbc1c3] <= <55f3fffbc1dc>[55f3fffbc1dc])",
        "] <= ", r"\[(?P<level>[0-9]{1,6})\] \((?=\S)",
        r"(?P<symbol>[^\s\[\]]{1,4096})\[{bare}\](?: <= |\)\s*$)", again=True,
    ),
    # Julia steps back before it prints; of late it tells the file.
    form(
        "julia", "unknown function (ip: 0x7f48deb04a30) at /usr/lib/libfoo.so",
        "unknown function (ip: ", r"(?P<symbol>unknown function) \(ip: ",
        r"{address}\)(?: at (?:\(unknown file\)|{path}))?\s*$", side=CALL,
    ),
    # Erlang names its functions itself; they lie in no file.
    form(
        "erlang", "0x00007f473004f318:SReturn addr 0x31673864 (erlang:halt/1 + 140)",
        " 0x", r"(?:Program counter: |\bCP: |Return addr )",
        r"{address} \((?P<symbol>[^()]{1,4096})\)\s*$", native=False,
    ),
    # Seastar: what tells no file lies in the program; the addresses are link addresses of calls.
    form(
        "seastar", "   /lib64/libc.so.6+0x2724a",
        "0x", r"^(?:.{0,256}?\]|.{0,256}?:)?\s{1,8}", r"(?:{path}\+)?{offset}\s*$",
        side=CALL, block="backtrace", program=True,
    ),
    form(
        "seastar", "Backtrace: 0x44b1ba /lib64/libc.so.6+0x2724a",
        "acktrace: ", r"\b[Bb]acktrace: {1,8}(?=\S)",
        r"(?:{word}\+)?{offset}{here}(?:\s+|$)", side=CALL, again=True, program=True,
    ),
    form(
        "clickhouse", "Stack trace: 0x000055d0c8a01139 0x000055d0c8a011c8",
        "Stack trace: ", r"\bStack trace: {1,8}", r"{address}{here}(?:\s+|$)", again=True,
        side=FIRST_EXACT,
    ),
    # bpftrace's stacks of users: the first is where the probe is.
    form(
        "bpftrace", "    0x55d0c8a01139 ([unknown])",
        "0x", r"^\s{1,40}", r"{address}(?: \(\[unknown\]\))?\s*$",
        side=FIRST_EXACT, block="bpftrace",
    ),
    form(
        "bpftrace", "\t55d0c8a01139 0x55d0c8a01139 ([unknown])",
        "", r"^\s{1,40}",
        r"{bare}(?: (?P<symbol>0x[0-9a-f]{1,16}|\[unknown\]))?(?: \((?:\[unknown\]|{path})\))?\s*$",
        side=FIRST_EXACT, block="bpftrace",
    ),
)  # fmt: skip

UNKNOWN = re.compile(
    r"\?+|<unknown>|\(?(?:unknown|not found)\)?|\[unknown\]|unknown function"
    r"|<?(?:0x)?[0-9a-f]{4,16}>?|___lldb_unnamed_symbol\S*"
)


@dataclass(frozen=True)
class Block:
    """Lines that are frames only for what stands above them."""

    needs: str  # what stands in the line that opens it
    opens: re.Pattern[str]
    within: re.Pattern[str]  # lines that do not end it, besides frames


BLOCKS = {
    "backtrace": Block(
        "acktrace:", re.compile(r"(?:^|\s)[Bb]acktrace:\s*$"),
        re.compile(r"\s*(?:-{8}\s*$|seastar::)"),
    ),
    "clickhouse": Block(
        "<Fatal> ", re.compile(r"<Fatal> .{0,512}Stack trace:"), re.compile(r".{0,512}<Fatal> ")
    ),
    "bpftrace": Block("[", re.compile(r"@\w{0,256}\[\s*$"), re.compile(r"\s{2,40}\S")),
}  # fmt: skip
# Lines that say of so many frames below them that no call returns to their addresses: Redis tells
# where it was interrupted; FRR the code that a signal handler returns to, and what that led to.
MARKS = {"EIP:": 1, "---- signal ----": 2}
FRAME_KINDS = frozenset(each.kind for each in FORMS)
