"""Names that no compiler makes stand in a flame graph as text."""

from __future__ import annotations

from xml.etree import ElementTree

from whocall.tracing.flame import _box


def test_a_box_is_xml_whatever_its_function_is_called() -> None:
    name = 'a\x1b[31m\0<b>&"\udce9'
    box = ElementTree.fromstring(_box(0, 0.0, 1.0, name, f"{name}: 1 ns").encode())
    assert box.get("data-n") == 'a?[31m?<b>&"?'
    assert [part.text for part in box][::2] == ['a?[31m?<b>&"?: 1 ns', 'a?[31m?<b>&"?']
