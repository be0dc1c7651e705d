"""Panics of Go programs.

[signal SIGSEGV: segmentation violation code=0x1 addr=0x0 pc=0x457c60]
main.crash(0x45be40?)
        /src/m.go:4 fp=0xc000038760 sp=0xc000038758 pc=0x457c60
main.main()
        /src/m.go:6 +0x1b fp=0xc000038780 sp=0xc000038760 pc=0x457c9b

Go programs know the names of their functions and their lines, and say them. The addresses stand
there with GOTRACEBACK=system, and in the signal's line always; those below runtime.sigpanic and its
like, and the first ones below "PC=0x457c60 m=0 sigcode=0", are of instructions, others are what
calls return to.
"""

from __future__ import annotations

import re

from whocall.resolve.facts.context import Context
from whocall.resolve.facts.place import Place

NAME = "go"
# The runtime makes it look as if the function that a signal interrupted had called these.
_INJECTED = frozenset(("runtime.sigpanic", "runtime.asyncPreempt", "runtime.debugCallV2"))
_SIGNAL = re.compile(r"^\[signal SIG\w{2,12}: .{0,200} pc=0x(?P<address>[0-9a-f]{1,16})\]")
_FRAME = re.compile(
    r"^\t(?P<file>\S.{0,4096}):[0-9]{1,9}(?: \+0x(?P<offset>[0-9a-f]{1,12}))? fp=0x[0-9a-f]{1,16} "
    r"sp=0x[0-9a-f]{1,16} pc=0x(?P<address>[0-9a-f]{1,16})$"
)
_FUNCTION = re.compile(
    r"^(?:created by )?(?P<name>[^\s(][^\s]{0,4096}?)\((?:[^()]|\(\)){0,4096}\)$"
)


def places(line: str, context: Context) -> list[Place]:
    """The address that a line tells of."""
    if line.startswith("[signal "):
        found = _SIGNAL.match(line)
        if found is None:
            return []
        end = found.end()
        address = int(found["address"], 16)
        return [Place(end, end, before=" ", address=address, caller=False, level=0)]
    if line.startswith("PC=0x"):
        context.begins.add(NAME)  # a fatal signal interrupted the first frame
        return []
    if line.startswith("goroutine "):
        context.function = ""
        return []
    found = _FRAME.match(line) if line.startswith("\t") else None
    if found is None:
        named = _FUNCTION.match(line) if line.endswith(")") else None
        context.function = named["name"] if named else ""
        return []
    exact = NAME in context.begins
    context.begins.discard(NAME)
    if context.function in _INJECTED:
        context.begins.add(NAME)
    end = len(line)
    return [
        Place(
            end,
            end,
            before=" ",
            address=int(found["address"], 16),
            symbol=context.function or None,
            symbol_offset=int(found["offset"], 16) if found["offset"] else None,
            caller=not exact,
            sourced=True,
        )
    ]
