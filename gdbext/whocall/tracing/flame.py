"""A flame graph as one SVG file: a box for each context, as wide as the time spent in it.

Of Python's packages and Debian's those that draw flame graphs read a sampling profiler's own
format, or start a Perl program; this one has the tree in hand, and a page has to be no more than a
picture that can be clicked on.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from zlib import crc32

from whocall.base.errors import Error
from whocall.base.printable import printable
from whocall.tracing.forms import Telling, duration

WIDTH = 1200  # pixels
ROW = 17
LETTER = 7.0  # width of a character of 12 pixels, about
NARROWEST = 0.1  # pixels: narrower boxes are left out

_HEAD = """\
<?xml version="1.0" encoding="utf-8"?>
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" \
height="{height}" font-family="monospace" font-size="12">
<style>rect {{ stroke: #fff; stroke-width: .5 }} g.box:hover rect {{ stroke: #000 }} \
g.box {{ cursor: pointer }} text {{ pointer-events: none }}</style>
<rect width="100%" height="100%" fill="#fff"/>
<text x="8" y="16">{title}</text>
"""

# A click shows what is in a box as wide as the picture; a click on the lowest one shows all again.
_SCRIPT = """\
<script>//<![CDATA[
const boxes = [...document.querySelectorAll("g.box")];
function show(begin, width) {
  for (const box of boxes) {
    const [x, w, name] = [+box.dataset.x, +box.dataset.w, box.dataset.n];
    const left = Math.max((x - begin) / width, 0), right = Math.min((x + w - begin) / width, 1);
    box.style.display = right > left ? "" : "none";
    const [rect, text] = [box.querySelector("rect"), box.querySelector("text")];
    rect.setAttribute("x", left * WIDTH);
    rect.setAttribute("width", (right - left) * WIDTH);
    text.setAttribute("x", left * WIDTH + 3);
    const room = Math.floor(((right - left) * WIDTH - 6) / LETTER);
    text.textContent = room < 3 ? "" : name.length > room ? name.slice(0, room - 2) + ".." : name;
  }
}
for (const box of boxes) box.onclick = () => show(+box.dataset.x, +box.dataset.w);
//]]></script>
</svg>
"""


def _color(name: str) -> str:
    """From yellow to red, the same for the same name."""
    mixed = crc32(name.encode("utf-8", "surrogateescape"))
    return f"hsl({mixed % 50}, {60 + mixed // 64 % 30}%, {60 + mixed // 4096 % 15}%)"


def _xml(text: str) -> str:
    """XML has no control characters at all, and names may."""
    return escape(printable(text))


def _box(row: int, begin: float, width: float, name: str, told: str) -> str:
    x, wide = begin * WIDTH, width * WIDTH
    room = int((wide - 6) / LETTER)
    shown = "" if room < 3 else name if len(name) <= room else f"{name[: room - 2]}.."
    y = row * ROW + 24
    return (
        f'<g class="box" data-x="{begin:.8f}" data-w="{width:.8f}" data-n="{_xml(name)}">'
        f"<title>{_xml(told)}</title>"
        f'<rect x="{x:.2f}" y="{y}" width="{wide:.2f}" height="{ROW - 1}" fill="{_color(name)}"/>'
        f'<text x="{x + 3:.2f}" y="{y + 12}">{_xml(shown)}</text></g>\n'
    )


def flame_graph(telling: Telling) -> Iterator[str]:
    """Pieces of the picture; outermost functions stand below. Raises Error when no time passed."""
    profile = telling.profile()
    whole = sum(row[3] for row in profile.functions)
    if whole == 0:
        raise Error("the trace has no calls that took time: there is nothing to draw")
    nodes = profile.nodes(max(int(whole * NARROWEST / WIDTH), 1))
    depths: list[int] = []
    for parent, *_ in nodes:
        depths.append(1 if parent < 0 else depths[parent] + 1)
    rows = max(depths, default=0) + 1
    title = f"{len(telling.threads)} threads, {duration(whole)} in instrumented functions"
    yield _HEAD.format(width=WIDTH, height=rows * ROW + 32, title=escape(title))
    yield _box(rows - 1, 0.0, 1.0, "all", title)
    begins: list[int] = []
    used = [0] * (len(nodes) + 1)  # nanoseconds of the callees that stand there already
    for (parent, function, calls, total, own), depth in zip(nodes, depths):
        begin = used[parent] + (begins[parent] if parent >= 0 else 0)
        used[parent] += total
        begins.append(begin)
        name = printable(telling.names.functions[function])
        told = (
            f"{name}: {duration(total)} ({total * 100 / whole:.2f}%),"
            f" {duration(own)} in itself, {calls:,} calls"
        )
        yield _box(rows - 1 - depth, begin / whole, total / whole, name, told)
    yield _SCRIPT.replace("WIDTH", str(WIDTH)).replace("LETTER", str(LETTER))
