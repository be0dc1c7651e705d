"""The loaded files as a table: a line for each that is in order, more for those that are not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from whocall.base.printable import printable
from whocall.report.form.sentences import broken
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


def _files(facts: ModuleFacts) -> list[tuple[str, str]]:
    """The module's path, where its file was found, its debug file, each behind its label."""
    module = facts.module
    parts = [("", printable(module.path) or "(no name)")]
    if module.file_path and module.file_path != module.path and facts.is_usable:
        parts.append(("file ", printable(module.file_path)))
    if facts.debug_file:
        parts.append(("debug file ", printable(facts.debug_file)))
    return parts


def _file_lines(facts: ModuleFacts, style: Style, behind: int, columns: int) -> Iterator[str]:
    """What stands behind the row, which takes so many columns, and what has lines of its own."""
    parts = _files(facts)
    painted = [label + style.paint("filename", path) for label, path in parts]
    size = sum(len(label + path) + 2 for label, path in parts) - 2
    if not columns or behind + size < columns:
        yield ", ".join(painted)
        return
    yield ""
    if len(_INDENT) + size < columns:
        yield _INDENT + ", ".join(painted)
    else:
        yield from (_INDENT + part for part in painted)


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
    facts: Sequence[ModuleFacts], advice: Advice, style: Style, columns: int = 0
) -> Iterator[str]:
    """The table. On a screen of so many columns paths that do not fit have their own lines, and
    sentences are broken; 0: neither.
    """
    rows = [_cells(each) for each in facts]
    widths = [max(len(row[at]) for row in [*rows, _HEADS]) for at in range(4)]
    heads = "  ".join(head.ljust(size) for head, size in zip(_HEADS, widths))
    head = f"{heads}  {_HEADS[4]}"
    own_line = 0 < columns <= len(head)  # where paths have one, too
    yield style.paint("title", heads.rstrip() if own_line else head)
    if own_line:
        yield _INDENT + style.paint("title", _HEADS[4])
    for each, cells in zip(facts, rows):
        said = troubles(each, advice)
        row = _row(cells, widths, style, each.module.state in ("missing", "MISMATCH"))
        behind, *files = _file_lines(each, style, sum(widths) + 8, columns)
        yield f"{row}  {behind}".rstrip()
        yield from files
        for sentence in said:
            lines = broken(_INDENT + sentence, columns)
            yield from (style.paint("highlight", line) for line in lines)
        for sentence in _bare(each, advice):
            yield from broken(_INDENT + sentence, columns)
    for sentence in _closing(facts, advice):
        yield from broken(sentence, columns)
