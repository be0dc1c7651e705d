"""The audit of a file as text and as JSON, schema whocall.audit/1: the analysis of instructions
held against the file's own unwind tables.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from whocall.base.counted import counted
from whocall.base.native_errors import native_errors
from whocall.report.form.jsonform import Json, hexes
from whocall.report.form.sentences import broken
from whocall.report.form.style import Style

if TYPE_CHECKING:
    import whocall._native as native

DIFFERENCES = 5
"""So many are shown unless the user says otherwise."""

OUTCOMES = (
    "agrees",
    "registers-differ",
    "return-address-differs",
    "cfa-differs",
    "cfa-unknown",
    "unreached",
)

CLASSES = {
    "plt": "stubs of a procedure linkage table",
    "unknown-instruction": "behind an instruction that the decoder does not know",
    "entered-by-jump": "part of a function that other functions jump into",
    "landing-pad": "nothing but the tables of exceptions leads there",
    "jump-table": "entered by an indirect jump",
    "called-inside": "part of a function that the function itself calls",
    "computed-stack-pointer": "the stack pointer is computed or loaded",
    "joined-paths": "paths of different depth meet",
    "kept-over-call": "the frame is kept in a register that calls may change",
    "call-without-return": "behind a call, the table tells of another path",
    "another-stack": "the table tells of a frame on another stack",
    "table-late": "the table follows an instruction late",
    "table-early": "the table moves on before the instructions do",
    "table-incomplete": "the table does not tell what the instructions do",
    "saved-register": "only where a register was saved differs",
    "unreached": "the analysis did not get there",
}
"""Why a place differs, and what that means in a few words."""


@dataclass(frozen=True)
class Count:
    """Places that an unwind table covers, and at how many of them the analysis agrees with it."""

    places: int
    cfa: int
    return_address: int  # the CFA and the return address agree
    registers: int  # and the saved registers
    outcomes: dict[str, int]
    classes: dict[str, int]  # of the places that do not agree


@dataclass(frozen=True)
class Difference:
    """One place; addresses are link addresses."""

    address: int
    function: int  # the function's start
    name: str | None  # of the function
    is_call: bool
    outcome: str
    class_name: str
    table: str  # the rules, in readelf's notation
    analysis: str | None
    code: tuple[tuple[int, str], ...]  # the instructions around: address, text


@dataclass(frozen=True)
class Audit:
    """What the audit of a file found."""

    file: str
    build_id: str
    arch: str
    functions: int
    calls: Count
    instructions: Count
    differences: tuple[Difference, ...]


def _count(count: native.AuditCount) -> Count:
    return Count(
        count.places,
        count.cfa,
        count.return_address,
        count.registers,
        dict(count.outcomes),
        dict(count.classes),
    )


def audit_file(path: str, differences: int = DIFFERENCES, demangle: bool = True) -> Audit:
    """Audits an ELF file. Raises Error when it cannot be read or has no unwind tables."""
    from whocall.base.native_module import native
    from whocall.base.process_image import open_symbols

    with native_errors():
        audit = native.audit(os.fsencode(path), differences)
    table = open_symbols(path)

    def name(address: int) -> str | None:
        at = table.find(address)
        if at is None:
            return None
        symbol = table[at].name
        return native.demangle(symbol) if demangle else symbol

    return Audit(
        path,
        table.build_id,
        audit.arch,
        audit.functions,
        _count(audit.calls),
        _count(audit.instructions),
        tuple(
            Difference(
                found.address,
                found.function,
                name(found.address),
                found.is_call,
                found.outcome,
                found.class_name,
                found.table,
                found.analysis or None,
                tuple(found.code),
            )
            for found in audit.differences
        ),
    )


def percent(part: int, whole: int) -> str:
    """`99.97 %`, cut and not rounded: 100.00 % means all of them."""
    return f"{10000 * part // whole / 100:.2f} %" if whole else "-"


def _table(rows: Sequence[Sequence[str]], style: Style) -> Iterator[str]:
    """Rows below a head; the first column stands left, numbers stand right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for at, row in enumerate(rows):
        cells = [row[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])]
        line = "  ".join(cells)
        yield style.paint("title", line) if at == 0 else line


def _agreement(audit: Audit) -> list[list[str]]:
    rows = [["", "places", "CFA agrees", "+ return address", "+ saved registers"]]
    for title, count in (("calls", audit.calls), ("all instructions", audit.instructions)):
        shares = (count.cfa, count.return_address, count.registers)
        rows.append([title, f"{count.places:,}", *(percent(n, count.places) for n in shares)])
    return rows


def _by_outcome(audit: Audit) -> list[list[str]]:
    rows = [["outcome", "calls", "instructions"]]
    for outcome, number in audit.instructions.outcomes.items():
        if number or outcome == "agrees":
            rows.append([outcome, f"{audit.calls.outcomes[outcome]:,}", f"{number:,}"])
    return rows


def _by_class(audit: Audit, style: Style) -> Iterator[str]:
    found = {name: number for name, number in audit.instructions.classes.items() if number}
    rows = [["class", "calls", "instructions"]]
    for name, number in found.items():
        rows.append([name, f"{audit.calls.classes[name]:,}", f"{number:,}"])
    lines = _table(rows, style)
    yield next(lines)
    for name, line in zip(found, lines):
        yield f"{line}  {style.paint('metadata', CLASSES[name])}"


def _difference_lines(found: Difference, style: Style) -> Iterator[str]:
    where = f" in {style.paint('function', found.name)}" if found.name else ""
    offset = found.address - found.function
    call = ", a call" if found.is_call else ""
    address = style.paint("address", f"{found.address:#x}")
    yield f"{address}{where} (+{offset}): {found.class_name}, {found.outcome}{call}"
    yield f"    table     {found.table}"
    yield f"    analysis  {found.analysis or 'nothing'}"
    for at, text in found.code:
        mark = "=>" if at == found.address else "  "
        yield f"  {mark} {style.paint('address', f'{at:#x}')}  {text or '(bad)'}"


def _meaning(audit: Audit) -> str:
    """What the user may conclude."""
    calls = audit.calls
    if not calls.places:
        return "The tables cover no call, so nothing is said about chains of callers."
    missed = calls.places - calls.return_address
    if missed:
        result = f"{calls.return_address:,}, all but one in {round(calls.places / missed):,}"
    else:
        result = "every one"
    return (
        f"Of {calls.places:,} calls, where callers stand on a stack, the analysis finds the caller"
        f" as the tables do at {result}: so far can frames in this file be trusted that"
        " bt without cfi marks [analysis]. Code that has no tables is harder: where its functions"
        " begin must be found out as well."
    )


def audit_lines(audit: Audit, style: Style, columns: int = 0) -> Iterator[str]:
    """The whole report; its sentence is broken where the columns have no room for it, 0: never."""
    yield (
        f"{style.paint('filename', audit.file)}: {counted(audit.functions, 'function')} with"
        f" unwind tables,"
        f" {audit.arch}"
    )
    yield ""
    yield from _table(_agreement(audit), style)
    yield ""
    yield from _table(_by_outcome(audit), style)
    if audit.instructions.registers != audit.instructions.places:
        yield ""
        yield from _by_class(audit, style)
    for at, found in enumerate(audit.differences):
        yield ""
        if at == 0:
            yield style.paint("title", "First differences, one of a function:")
        yield from _difference_lines(found, style)
    yield ""
    yield from broken(_meaning(audit), columns)


def _count_json(count: Count) -> Json:
    return {
        "places": count.places,
        "cfa": count.cfa,
        "return_address": count.return_address,
        "registers": count.registers,
        "outcomes": count.outcomes,
        "classes": count.classes,
    }


def _code_json(code: Iterable[tuple[int, str]]) -> list[Json]:
    return [{"address": hexes(address), "text": text or None} for address, text in code]


def audit_json(audit: Audit) -> Json:
    """The same as JSON."""
    return {
        "schema": "whocall.audit/1",
        "file": audit.file,
        "build_id": audit.build_id or None,
        "arch": audit.arch,
        "functions": audit.functions,
        "calls": _count_json(audit.calls),
        "instructions": _count_json(audit.instructions),
        "differences": [
            {
                "address": hexes(found.address),
                "function": hexes(found.function),
                "name": found.name,
                "is_call": found.is_call,
                "outcome": found.outcome,
                "class": found.class_name,
                "table": found.table,
                "analysis": found.analysis,
                "code": _code_json(found.code),
            }
            for found in audit.differences
        ],
    }
