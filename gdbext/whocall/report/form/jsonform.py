"""The JSON forms, each with its schema word. Keys that do not apply are null, never absent;
addresses are hex strings.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from json.encoder import encode_basestring
from typing import TYPE_CHECKING, Any

from whocall.base.model import WrittenThreads
from whocall.base.printable import printable, safe_json

if TYPE_CHECKING:
    from whocall.base.model import Frame, Report, SourceHint

Json = dict[str, Any]


def hexes(value: int | None) -> str | None:
    """An address as JSON holds it."""
    return None if value is None else f"{value:#x}"


def frame_json(frame: Frame) -> Json:
    """One frame."""
    source = None
    if frame.file is not None:
        source = {"file": frame.file, "line": frame.line}
    return {
        "level": frame.level,
        "pc": hexes(frame.pc),
        "cfa": hexes(frame.cfa),
        "function": frame.function,
        "offset": frame.offset,
        "name_source": frame.name_source,
        "inferred": frame.inferred,
        "aliases": list(frame.aliases),
        "module": frame.module,
        "build_id": frame.build_id or None,
        "rva": hexes(frame.rva),
        "trust": frame.trust,
        "rests_on": frame.rests_on,
        "evidence": list(frame.evidence),
        "inlined": frame.inlined,
        "signal_trampoline": frame.signal_trampoline,
        "source": source,
        "source_hints": hints_json(frame.source_hints),
    }


def hints_json(hints: Iterable[SourceHint]) -> list[Json]:
    """Places in the source that a function's code names."""
    return [
        {
            "file": file,
            "line": line,
            "column": column,
            "address": hexes(address),
            "crate": crate,
            "module": module,
            "near": near,
        }
        for file, line, column, address, crate, module, near in hints
    ]


class Items:
    """The items of a list that are made one after the other while it is written."""

    def __init__(self, make: Callable[[Any], Json], of: Iterable[Any]) -> None:
        self.made = map(make, of)


class WithArguments:
    """Backtraces whose frames tell what their functions were handed, and which tell what happened;
    the last words are as in TextForm.
    """

    def __init__(self, threads: WrittenThreads, last_words: str) -> None:
        self.threads = threads
        self.last_words = last_words


def backtrace_text(report: Report, version: int = 2, last_words: str = "") -> Iterator[str]:
    """A report as JSON text in pieces: a stack may have a quarter of a million frames. Schema
    whocall.backtrace/2, or /1, which tells nothing of arguments and of what happened. The last
    words are those of whocall.report.last_words. Raises Error where its backtraces are not of one
    process image.
    """
    from whocall.base.native_backtraces import written  # it loads the native module

    threads = written(report.threads)
    yield from pieces(
        {
            "schema": f"whocall.backtrace/{version}",
            "arch": report.arch,
            "source": {
                "core": report.core or None,
                "exe": report.exe or None,
                "origin": dict(report.origin) if report.origin else None,
            },
            "warnings": list(report.warnings),
            "threads": threads if version == 1 else WithArguments(threads, last_words),
        }
    )
    yield "\n"


def backtrace_json(report: Report, version: int = 2, last_words: str = "") -> Json:
    """The same as values."""
    values: Json = json.loads("".join(backtrace_text(report, version, last_words)))
    return values


def mi_value(value: Any) -> Any:
    """A JSON value as GDB/MI can hold it: tuples, lists and strings alone.

    Numbers become decimal strings, truth "true" or "false" (as in gdb's own -var-update), and a key
    whose value is null is left out, as gdb leaves out the fields that do not apply.
    """
    if isinstance(value, dict):
        return {key: mi_value(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [mi_value(item) for item in value if item is not None]
    if isinstance(value, bool):
        return "true" if value else "false"
    return printable(str(value))  # gdb has no text that is no UTF-8, and a frontend shows it


def text(value: Mapping[str, Any] | Sequence[Any]) -> str:
    """JSON text, one value a line where that helps reading; ends with a newline."""
    return safe_json(json.dumps(value, indent=1, ensure_ascii=False)) + "\n"


def quoted(value: str) -> str:
    """A string as JSON."""
    return safe_json(encode_basestring(value))


def pieces(value: Any, margin: str = "\n") -> Iterator[str]:
    """What text() writes, but for the newline at its end, with the Items of lists, and
    backtraces, as they come."""
    if isinstance(value, dict) and value:
        yield from _enclosed("{}", ((f'"{key}": ', item) for key, item in value.items()), margin)
    elif isinstance(value, Items):
        yield from _enclosed("[]", (("", item) for item in value.made), margin, _dumped)
    elif isinstance(value, WrittenThreads):
        yield from _listed(value, value.json(len(margin), False), margin)
    elif isinstance(value, WithArguments):
        threads = value.threads
        yield from _listed(threads, threads.json(len(margin), True, value.last_words), margin)
    elif isinstance(value, list):
        yield from _enclosed("[]", (("", item) for item in value), margin)
    else:
        yield _dumped(value, margin)


def _listed(threads: WrittenThreads, items: Iterator[str], margin: str) -> Iterator[str]:
    if threads:
        yield "["
        yield from items
    yield margin + "]" if threads else "[]"


def _enclosed(
    brackets: str,
    items: Iterable[tuple[str, Any]],
    margin: str,
    dump: Callable[[Any, str], str] | None = None,
) -> Iterator[str]:
    inner = margin + " "
    before = brackets[0] + inner
    for head, item in items:
        yield before + head
        if dump is None:
            yield from pieces(item, inner)
        else:
            yield dump(item, inner)
        before = "," + inner
    yield margin + brackets[1] if before[0] == "," else brackets


_SCALARS: Mapping[type, Callable[[Any], str]] = {
    str: quoted,
    int: str,
    bool: lambda value: "true" if value else "false",
    type(None): lambda value: "null",
}


def _dumped(value: Any, margin: str) -> str:
    """A value that is small, with its lines indented. Its keys are our own: nothing to escape."""
    write = _SCALARS.get(type(value))
    if write is not None:
        return write(value)
    inner = margin + " "
    if isinstance(value, dict):
        items = [f'"{key}": {_dumped(item, inner)}' for key, item in value.items()]
        return "{" + inner + ("," + inner).join(items) + margin + "}" if items else "{}"
    items = [_dumped(item, inner) for item in value]
    return "[" + inner + ("," + inner).join(items) + margin + "]" if items else "[]"
