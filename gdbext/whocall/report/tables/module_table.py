"""The loaded files as a table: a line for each that is in order, more for those that are not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from whocall.core.printable import printable
from whocall.report.form.style import Style
from whocall.report.tables.modules import Advice, ModuleFacts, share_of_cfi, troubles

_HEADS = ("range", "state", "CFI", "named functions", "file")
_INDENT = "    "


def _names(facts: ModuleFacts) -> str:
    """`1204 debug-file, 12 dynsym`: functions by the source of their names."""
    if facts.symbol_sources is None:
        return "none"
    named = [
        f"{count} {source}"
        for source, count in sorted(facts.symbol_sources.items(), key=lambda item: -item[1])
        if count and source not in ("fde", "call-target", "none")
    ]
    return ", ".join(named) or "none"


def _cells(facts: ModuleFacts) -> tuple[str, str, str, str]:
    module = facts.module
    return (
        f"{module.begin:#x}-{module.end:#x}",
        module.state,
        share_of_cfi(facts).replace("no code", "-"),
        _names(facts),
    )


def _files(facts: ModuleFacts, style: Style) -> tuple[str, int]:
    """The module's path, where its file was found, its debug file; and how wide that is."""
    module = facts.module
    parts = [("", printable(module.path) or "(no name)")]
    if module.file_path and module.file_path != module.path and facts.is_usable:
        parts.append(("file ", printable(module.file_path)))
    if facts.debug_file:
        parts.append(("debug file ", printable(facts.debug_file)))
    text = ", ".join(label + style.paint("filename", path) for label, path in parts)
    return text, len(", ".join(label + path for label, path in parts))


def _row(cells: Sequence[str], widths: Sequence[int], style: Style, alarming: bool) -> str:
    place, state, cfi, names = (cell.ljust(width) for cell, width in zip(cells, widths))
    role = "highlight" if alarming else "metadata"
    return (
        f"{style.paint('address', place)}  {style.paint(role, state)}  "
        f"{cfi.strip().rjust(widths[2])}  {names}"
    )


def _bare(facts: ModuleFacts, advice: Advice) -> Iterator[str]:
    """Why a stripped file has no local names."""
    if not facts.lacks_names or facts.module.path.startswith("["):
        return
    build_id = facts.module.build_id_in_memory or facts.module.build_id_on_disk
    if build_id and build_id in facts.trouble:
        return
    if not build_id:
        yield "stripped, and without a build id to find debug info by"
    elif advice.asks_debuginfod and not facts.trouble:
        yield f"stripped, debug info (build id {build_id}) is fetched when a frame lies in it"
    else:
        yield f"stripped, no debug info at hand for build id {build_id}"


def _closing(facts: Sequence[ModuleFacts], advice: Advice) -> Iterator[str]:
    bare = [each for each in facts if any(_bare(each, advice))]
    if bare and not advice.asks_debuginfod:
        yield f"debuginfod may have the debug info of stripped files: {advice.debuginfod}"


def module_lines(
    facts: Sequence[ModuleFacts], advice: Advice, style: Style, width: int | None = None
) -> Iterator[str]:
    """The table. On a terminal of `width` columns a path that does not fit has its own line."""
    rows = [_cells(each) for each in facts]
    widths = [max(len(row[at]) for row in [*rows, _HEADS]) for at in range(4)]
    fixed = sum(widths) + 8
    heads = "  ".join(head.ljust(size) for head, size in zip(_HEADS, widths))
    yield style.paint("title", f"{heads}  {_HEADS[4]}")
    for each, cells in zip(facts, rows):
        said = troubles(each, advice)
        row = _row(cells, widths, style, each.module.state in ("missing", "MISMATCH"))
        files, size = _files(each, style)
        if width is not None and fixed + size > width:
            yield row.rstrip()
            yield _INDENT + files
        else:
            yield f"{row}  {files}"
        for sentence in said:
            yield _INDENT + style.paint("highlight", sentence)
        yield from (_INDENT + sentence for sentence in _bare(each, advice))
    yield from _closing(facts, advice)
