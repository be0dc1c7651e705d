"""Flame graphs and folded stacks, of stacks that are stated literally."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

from literals import frame, trace

from whocall.report.formats.flamegraph import Box, boxes, colour, flamegraph_svg
from whocall.report.formats.folded import folded, folded_lines

SVG = "{http://www.w3.org/2000/svg}"
STACKS = [(("main", "run", "read"), 3), (("main", "run"), 1), (("main", "stop"), 2)]


def test_equal_beginnings_are_one_box() -> None:
    assert boxes(STACKS) == [
        Box("main", 0, 0, 6),
        Box("run", 1, 0, 4),
        Box("stop", 1, 4, 6),
        Box("read", 2, 1, 4),
    ]


def test_the_order_of_stacks_does_not_matter() -> None:
    assert boxes(reversed(STACKS)) == boxes(STACKS)


def test_a_name_that_returns_deeper_is_another_box() -> None:
    assert boxes([(("f", "f", "f"), 1), (("f", "g"), 1)]) == [
        Box("f", 0, 0, 2),
        Box("f", 1, 0, 1),
        Box("g", 1, 1, 2),
        Box("f", 2, 0, 1),
    ]


def test_what_lies_too_deep_is_left_out_and_told() -> None:
    deep = (tuple(f"f{at}" for at in range(1000)), 1)
    assert len(boxes([deep], deepest=7)) == 7
    assert "600 frames above these are not drawn" in flamegraph_svg([deep], "deep")


def widths(picture: str) -> dict[str, float]:
    """Of boxes by their titles."""
    found = {}
    for box in ElementTree.fromstring(picture).iter(f"{SVG}g"):
        title, rect = box.find(f"{SVG}title"), box.find(f"{SVG}rect")
        assert title is not None and rect is not None
        found[title.text or ""] = float(rect.attrib["width"])
    return found


def test_boxes_are_as_wide_as_their_share() -> None:
    found = widths(flamegraph_svg(STACKS, "threads", width=1224))
    assert found["main: 6 of 6 threads (100.0 %)"] == 1200
    assert found["run: 4 of 6 threads (66.7 %)"] == 800
    assert found["read: 3 of 6 threads (50.0 %)"] == 600


def test_boxes_that_nobody_could_see_are_left_out() -> None:
    many = [((f"f{at}",), 1) for at in range(10_000)]
    assert widths(flamegraph_svg([*many, (("wide",), 10_000)], "x")).keys() == {
        "wide: 10,000 of 20,000 threads (50.0 %)"
    }


def test_names_are_text() -> None:
    hostile = "</text><script>hit()</script>&\x1b\x00\ud800\uffff"
    picture = flamegraph_svg([((hostile,), 1)], hostile)
    root = ElementTree.fromstring(picture)
    assert not list(root.iter(f"{SVG}script"))
    assert "</text><script>hit()</script>&" in "".join(root.itertext())


def test_without_stacks_there_is_a_picture_all_the_same() -> None:
    for nothing in ([], [((), 3)], [(("f",), 0)]):
        assert "no threads" in flamegraph_svg(nothing, "empty")


def test_a_colour_hangs_on_the_name_alone() -> None:
    assert colour("main") == colour("main")
    assert len({colour(f"f{at}") for at in range(50)}) > 20


def test_folded_stacks_name_what_can_be_named() -> None:
    chain = [
        frame(0, 0x401000, None, "context"),
        frame(1, 0x401010, "guess", inferred=True),
        frame(2, 0x7F0000, None, module=None),
        frame(3, 0x401020, None, signal_trampoline=True),
        frame(4, 0x401030, "main"),
    ]
    assert folded([trace(chain), trace(chain, number=2)]) == {
        ("main", "<signal handler called>", "[unknown]", "guess?", "[prog]"): 2
    }


def test_folded_lines_hold_their_form() -> None:
    lines = folded_lines([(("a;b", "c\nd  e"), 2)])
    assert list(lines) == ["a:b;c\\nd  e 2\n"]
