"""Names that no compiler makes stand in a flame graph as text."""

from __future__ import annotations

from xml.etree import ElementTree

from whocall.tracing.flame import _box

TOLD = r'a\x1b[31m\x00<b>&"\xe9'


def test_a_box_is_xml_whatever_its_function_is_called() -> None:
    name = 'a\x1b[31m\0<b>&"\udce9'
    box = ElementTree.fromstring(_box(0, 0.0, 1.0, name, f"{name}: 1 ns").encode())
    assert box.get("data-n") == TOLD
    assert [part.text for part in box][::2] == [f"{TOLD}: 1 ns", TOLD]
