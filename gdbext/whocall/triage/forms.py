"""What was found, as JSON (schema whocall.triage/1), SARIF 2.1.0 or text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from whocall.base.printable import printable
from whocall.base.version import __version__
from whocall.report.form.jsonform import Items, pieces
from whocall.report.form.sentences import (
    FURTHER,
    Piece,
    broken,
    broken_pieces,
    painted,
    words_alone,
)
from whocall.report.form.short_names import ShortNames
from whocall.report.form.style import Style
from whocall.triage.severity import CLASSES, EXPLOITABLE, PROBABLY
from whocall.triage.summary import frame_text, instant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whocall.triage.run import Findings

Json = dict[str, Any]

SCHEMA = "whocall.triage/1"
_BUCKETS = 10  # values of a count that text shows of each bucket
_REASONS = 20  # rows without a stack that text shows
_LABEL = 13  # columns before what a line of a bucket tells


def core_json(row: Json, findings: Findings) -> Json:
    """One core."""
    number = findings.numbers.get(row["signature"])
    return {
        "path": row["path"],
        "bucket": None if number is None else findings.buckets[number]["id"],
        "signature": row["signature"],
        "reason": row["reason"] or None,
        "program": row["program"] or None,
        "build_id": row["build_id"],
        "module": row["module"],
        "signal": row["signal"],
        "kind": row["kind"],
        "severity": CLASSES[row["kind"]][0] if row["kind"] else None,
        "host": row["host"],
        "time": None if row["time"] is None else instant(row["time"]),
        "cost_us": row["cost"],
    }


def json_text(findings: Findings) -> Iterator[str]:
    """In pieces: there may be very many cores."""
    yield from pieces(
        {
            "schema": SCHEMA,
            "store": findings.store.path or None,
            "compared_with": findings.compared_with,
            "cores": findings.total,
            "failed": findings.failed,
            "buckets": findings.buckets,
            "results": Items(lambda row: core_json(row, findings), findings.store.rows()),
        }
    )
    yield "\n"


def sarif_text(findings: Findings) -> Iterator[str]:
    """A result for each bucket, and a notification for each core that could not be read.

    Source: OASIS, Static Analysis Results Interchange Format (SARIF) 2.1.0.
    """
    kinds = sorted({bucket["kind"] for bucket in findings.buckets})
    failed = (row for row in findings.store.rows() if row["reason"] is not None)
    run = {
        "tool": {
            "driver": {
                "name": "whocall",
                "version": __version__,
                "informationUri": "https://sarifweb.azurewebsites.net",
                "rules": [
                    {"id": kind, "shortDescription": {"text": CLASSES[kind][1]}} for kind in kinds
                ],
            }
        },
        "invocations": Items(
            lambda rows: {
                "executionSuccessful": True,
                "toolExecutionNotifications": [
                    {
                        "level": "warning",
                        "message": {"text": printable(row["reason"])},
                        "locations": [_file(row["path"])],
                    }
                    for row in rows
                ],
            },
            [failed],
        ),
        "results": [_sarif_result(bucket, kinds) for bucket in findings.buckets],
    }
    yield from pieces(
        {
            "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
            "version": "2.1.0",
            "runs": [run],
        }
    )
    yield "\n"


def _file(path: str) -> Json:
    from pathlib import PurePosixPath
    from urllib.parse import quote

    whole = PurePosixPath(path)
    uri = whole.as_uri() if whole.is_absolute() else quote(path, errors="surrogateescape")
    return {"physicalLocation": {"artifactLocation": {"uri": uri}}}


def _sarif_result(bucket: Json, kinds: list[str]) -> Json:
    title = printable(bucket["title"])
    levels = {EXPLOITABLE: "error", PROBABLY: "warning"}
    frames: list[Json] = [
        {
            "module": printable(frame["module"] or ""),
            "location": {
                "logicalLocations": [
                    {"fullyQualifiedName": printable(f"{frame['module']}!{frame_text(frame)}")}
                ]
            },
        }
        for frame in bucket["frames"]
    ]
    location = _file(bucket["representative"]["path"])
    if bucket["frames"]:
        location["logicalLocations"] = frames[0]["location"]["logicalLocations"]
    result: Json = {
        "ruleId": bucket["kind"],
        "ruleIndex": kinds.index(bucket["kind"]),
        "level": levels.get(bucket["severity"], "note"),
        "message": {"text": f"{title} ({bucket['count']} cores): {bucket['description']}"},
        "locations": [location],
        "partialFingerprints": {"whocallBucket/1": bucket["id"]},
        "occurrenceCount": bucket["count"],
        "stacks": [{"message": {"text": title}, "frames": frames}],
        "properties": {
            "severity": bucket["severity"],
            "firstSeen": bucket["first_seen"],
            "lastSeen": bucket["last_seen"],
        },
    }
    if bucket["new"] is not None:
        result["baselineState"] = "new" if bucket["new"] else "unchanged"
    return result


def text_lines(findings: Findings, style: Style, columns: int = 0) -> Iterator[str]:
    """A bucket in some lines, worst first; then the cores without a stack. Sentences and stacks are
    broken where the screen has fewer columns; 0: never.
    """
    new = sum(1 for bucket in findings.buckets if bucket["new"])
    compared = f", {new} of them new" if findings.compared_with is not None else ""
    yield from broken(
        f"{_number(findings.total, 'core')}: {_number(len(findings.buckets), 'bucket')}{compared};"
        f" {findings.failed} could not be read",
        columns,
    )
    for bucket in findings.buckets:
        yield ""
        yield from _bucket_lines(bucket, style, columns)
    if findings.failed:
        yield ""
        yield from _failed_lines(findings, columns)


def _number(count: int, of: str) -> str:
    return f"{count} {of}{'' if count == 1 else 's'}"


def _title(bucket: Json, style: Style, columns: int) -> Iterator[str]:
    """What it is called begins a line where it does not fit on the first one."""
    count = _number(bucket["count"], "core")
    head = [
        ("", "NEW " if bucket["new"] else ""),
        ("address", bucket["id"]),
        ("", f"  {count}  {bucket['severity']}, {bucket['kind']}  "),
    ]
    title = printable(bucket["title"])
    if not columns or len(words_alone(head)) + len(title) < columns:
        yield painted([*head, ("function", title)], style)
        return
    yield painted(head, style).rstrip()
    yield from (style.paint("function", line) for line in broken(f"    {title}", columns))


def _labeled(label: str, lines: list[str]) -> Iterator[str]:
    """The lines behind the label."""
    yield f"    {label:<9}{lines[0]}"
    yield from (" " * _LABEL + line for line in lines[1:])


def _beside_label(columns: int) -> int:
    return max(columns - _LABEL, 1) if columns else 0


def _stack_lines(names: list[str], columns: int) -> Iterator[str]:
    room = _beside_label(columns)
    short = ShortNames(names)
    shown = [short.fit(name, room - 1 - FURTHER) if room else name for name in names]
    between: list[Piece] = [piece for name in shown for piece in (("", " <- "), ("function", name))]
    yield from _labeled("stack", broken_pieces(between[1:] or [("", "none")], Style(), room))


def _bucket_lines(bucket: Json, style: Style, columns: int) -> Iterator[str]:
    room = _beside_label(columns)
    yield from _title(bucket, style, columns)
    if bucket["message"]:
        yield from _labeled("says", broken(bucket["message"], room))
    yield from _stack_lines([frame_text(frame) for frame in bucket["frames"]], columns)
    yield from _labeled("seen", broken(f"{bucket['first_seen']} to {bucket['last_seen']}", room))
    yield from _labeled("builds", broken(_values(bucket["counts"]["build_id"], 10), room))
    if any(item["value"] for item in bucket["counts"]["host"]):
        yield from _labeled("hosts", broken(_values(bucket["counts"]["host"], 40), room))
    yield f"    cluster  {bucket['cluster']}"
    one = bucket["representative"]
    yield f"    see      {printable(one['report'] or one['path'])}"


def _values(items: list[Json], width: int) -> str:
    shown = [f"{(item['value'] or '?')[:width]} ({item['count']})" for item in items[:_BUCKETS]]
    more = len(items) - len(shown)
    return printable(", ".join(shown)) + (f" and {more} more" if more else "")


def _failed_lines(findings: Findings, columns: int) -> Iterator[str]:
    yield "could not be read:"
    number = 0
    for row in findings.store.rows():
        if row["reason"] is None:
            continue
        number += 1
        if number > _REASONS:
            yield f"    and {findings.failed - _REASONS} more; see --format json"
            return
        told = row["reason"].removeprefix(f"{row['path']}: ")
        yield from broken(f"    {row['path']}: {told}", columns)
