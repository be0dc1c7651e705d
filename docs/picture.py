#!/usr/bin/env python3
"""Draws what a terminal showed as an SVG: docs/picture.py TITLE <text >docs/NAME.svg

The pictures of README.md are made from what examples/run really printed.
"""

from __future__ import annotations

import re
import sys
from html import escape

CHARACTER, LINE, MARGIN, BAR = 7.83, 18, 18, 34  # in pixels, of the font's size 13

COLORS = (
    (r"^\(gdb\) .*$|^\$ .*$", "#7ee787"),
    (r"\[(context|cfi)\]|^same +|^named +", "#7ee787"),
    (r"\[(analysis|frame-pointer)\]|^unnamed +", "#79c0ff"),
    (r"\[scan\?\]|^unproven +|^\(.*\)$", "#e3b341"),
    (r"^false in gdb.*$|^missing in gdb", "#ff7b72"),
    (r"^verdict.*$|^not on stack.*$", "#8b949e"),
)


def colored(line: str) -> str:
    """The line as SVG text with the first colour that fits each part."""
    spans: dict[int, tuple[int, str]] = {}
    for pattern, color in COLORS:
        for match in re.finditer(pattern, line):
            if not any(
                start < match.end() and match.start() < end[0] for start, end in spans.items()
            ):
                spans[match.start()] = (match.end(), color)
    pieces, at = [], 0
    for start, (end, color) in sorted(spans.items()):
        pieces.append(escape(line[at:start]))
        pieces.append(f'<tspan fill="{color}">{escape(line[start:end])}</tspan>')
        at = end
    return "".join([*pieces, escape(line[at:])])


def picture(title: str, lines: list[str]) -> str:
    """The whole SVG."""
    width = round(max(map(len, lines)) * CHARACTER + 2 * MARGIN)
    height = len(lines) * LINE + BAR + MARGIN
    dots = "".join(
        f'<circle cx="{MARGIN + 18 * at}" cy="17" r="5.5" fill="{color}"/>'
        for at, color in enumerate(("#ff5f57", "#febc2e", "#28c840"))
    )
    texts = "".join(
        f'<text x="{MARGIN}" y="{BAR + LINE * (at + 1) - 4}">{colored(line)}</text>\n'
        for at, line in enumerate(lines)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" xml:space="preserve" role="img" aria-label="{escape(title)}" '
        'font-size="13" '
        'font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,DejaVu Sans Mono,monospace">\n'
        "<style>text{white-space:pre;fill:#e6edf3}</style>\n"
        f'<rect width="100%" height="100%" rx="8" fill="#0d1117"/>{dots}\n'
        f'<text x="{width / 2:.0f}" y="21" text-anchor="middle" opacity="0.6">'
        f"{escape(title)}</text>\n"
        f"{texts}</svg>\n"
    )


if __name__ == "__main__":
    sys.stdout.write(picture(sys.argv[1], sys.stdin.read().rstrip("\n").split("\n")))
