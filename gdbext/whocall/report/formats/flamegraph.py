"""A flame graph of folded stacks as one SVG picture: the outermost frames at the bottom, each box
as wide as its share of what was counted.

A pure function of its stacks, without script and without anything from elsewhere: a title on each
box tells what a pointer over it shows. Colours are those of a light and of a dark page.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from html import escape
from typing import NamedTuple

from whocall.base.printable import printable

ROW = 17  # px, the height of a box with its gap
MARGIN = 12  # px, around the picture
HEAD = 34  # px, above the boxes
NARROWEST = 0.4  # px; what is narrower is not drawn
DEEPEST = 400  # rows; what lies above is told in the title
CHARACTER = 6.7  # px, of the font on average

_STYLE = """
 .box rect{stroke-width:.5;stroke:#fff}
 .box text{font:11px ui-monospace,Menlo,Consolas,monospace;fill:#1b1f24}
 .head{font:600 14px system-ui,sans-serif;fill:#1b1f24}
 .note{font:12px system-ui,sans-serif;fill:#59636e}
 @media (prefers-color-scheme:dark){.box rect{stroke:#12161b}.head{fill:#e6edf3}.note{fill:#9198a1}}
"""


class Box(NamedTuple):
    """A frame that stacks have in common, from the count `begin` to the count `end`."""

    name: str
    depth: int  # from 0, the outermost
    begin: int
    end: int


def boxes(stacks: Iterable[tuple[Sequence[str], int]], deepest: int = DEEPEST) -> list[Box]:
    """The boxes of stacks, each with how often it was counted; names are outermost first.

    Stacks are put in order, so that equal beginnings lie beside each other; frames beyond `deepest`
    are left out.
    """
    found: list[Box] = []
    open_boxes: list[tuple[str, int]] = []  # of each depth, and where it began
    at = 0

    def close(depth: int) -> None:
        while len(open_boxes) > depth:
            name, begin = open_boxes.pop()
            found.append(Box(name, len(open_boxes), begin, at))

    for names, count in sorted((tuple(names[:deepest]), count) for names, count in stacks):
        shared = 0
        for (name, _), other in zip(open_boxes, names):
            if name != other:
                break
            shared += 1
        close(shared)
        open_boxes += [(name, at) for name in names[shared:]]
        at += count
    close(0)
    return sorted(found, key=lambda box: (box.depth, box.begin))


def colour(name: str) -> str:
    """A warm, pale colour that hangs on the name alone, as CSS."""
    number = zlib.crc32(name.encode("utf-8", "surrogatepass"))
    hue, light = 18 + number % 36, 68 + number // 64 % 12
    return f"hsl({hue} 78% {light}%)"


def _box_svg(box: Box, x: float, y: float, width: float, share: str) -> str:
    name = printable(box.name)
    room = int((width - 6) / CHARACTER)
    shown = name if len(name) <= room else name[: room - 1] + "…" if room > 3 else ""
    text = f'<text x="{x + 3:.1f}" y="{y + 12:.1f}">{escape(shown)}</text>' if shown else ""
    return (
        f'<g class="box"><title>{escape(name)}: {share}</title>'
        f'<rect x="{x:.2f}" y="{y:.1f}" width="{width:.2f}" height="{ROW - 1}" rx="1.5" '
        f'fill="{colour(box.name)}"/>{text}</g>'
    )


def flamegraph_svg(
    stacks: Iterable[tuple[Sequence[str], int]],
    title: str,
    unit: str = "threads",
    width: int = 1200,
) -> str:
    """The picture, `width` px wide. `stacks` are names from the outermost frame on, and counts (of
    `unit`, whole and positive); without any the picture says so.
    """
    kept = [(tuple(names), count) for names, count in stacks if names and count > 0]
    total = sum(count for _, count in kept)
    deep = max((len(names) for names, _ in kept), default=0)
    found = boxes(kept)
    rows = min(deep, DEEPEST)
    height = HEAD + rows * ROW + MARGIN
    scale = (width - 2 * MARGIN) / total if total else 0.0
    drawn = []
    for box in found:
        wide = (box.end - box.begin) * scale
        if wide >= NARROWEST:
            y = HEAD + (rows - 1 - box.depth) * ROW
            count = box.end - box.begin
            share = f"{count:,} of {total:,} {unit} ({100 * count / total:.1f} %)"
            drawn.append(_box_svg(box, MARGIN + box.begin * scale, y, wide, share))
    note = f"{total:,} {unit}" if total else f"no {unit}"
    if deep > DEEPEST:
        note += f"; {deep - DEEPEST:,} frames above these are not drawn"
    words = escape(printable(title))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" role="img" aria-label="{words}">'
        f"<style>{_STYLE}</style>"
        f'<text class="head" x="{MARGIN}" y="20">{words}</text>'
        f'<text class="note" x="{width - MARGIN}" y="20" text-anchor="end">{note}</text>'
        + "".join(drawn)
        + "</svg>\n"
    )
