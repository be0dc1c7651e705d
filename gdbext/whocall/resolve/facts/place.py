"""What a reader finds in a line of a log, and what is known of it in the end: plain data."""

from __future__ import annotations

from whocall.base.records import dataclass, slotted

# What an offset in a module counts from.
LINK = "link"  # it is a link address
FIRST = "first"  # the module's first mapped byte
FILE = "file"  # the file's first byte
VALGRIND = "valgrind"  # there is no offset: the program lies where valgrind loads it
CODE = "code"  # the first byte of the mapping with the code; `extent` is that mapping's size


@slotted
@dataclass(frozen=True)
class Place:
    """An address in a line: where the name goes, and all that the line itself tells.

    `begin` to `end` are the characters of the line that the name replaces, none where they are the
    same; `before` and `after` stand around it.
    """

    begin: int
    end: int
    before: str = ""
    after: str = ""
    address: int | None = None  # at run time
    module: str | None = None  # path, or its last part
    offset: int | None = None
    counted: str = LINK
    extent: int = 0  # bytes
    in_file: int | None = None  # with CODE: the same place counted from the file's first byte
    build_id: str | None = None  # lower-case hex; a Breakpad id has upper-case letters
    symbol: str | None = None  # what the log itself calls the function
    symbol_offset: int | None = None
    caller: bool = True  # the address is where a call returns to
    level: int | None = None
    sourced: bool = False  # the log itself tells the line of source
    stepped: bool = False  # its writer stepped back into the call: a call returns to the next byte
    program: bool = False  # it lies in the program itself, whatever that is called
    title: str = ""  # what the process calls itself, with all that stands before it in the line


@slotted
@dataclass(frozen=True)
class Answer:
    """What stands at a place. Fields are None where nobody knows."""

    module: str | None = None  # as the log names it
    file: str | None = None  # the file that the names are of
    build_id: str | None = None
    verified: bool = False  # the log's build id is that file's
    rva: int | None = None  # link address, as the log tells it: of a caller behind the call
    caller: bool = True  # what stands before it counts
    function: str | None = None
    offset: int | None = None
    name_source: str | None = None
    inferred: bool = False
    lines: tuple[tuple[str, str, int], ...] = ()  # (function, file, line), innermost first
    trampoline: bool = (
        False  # signal handlers return to it: its caller was interrupted, and called nobody
    )


NOTHING = Answer()
