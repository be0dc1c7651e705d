"""Names of the crashed program are text, whatever they hold."""

from __future__ import annotations

import json
import re
from pathlib import Path

from page.chromium import Browser
from page.hostile import FOLDER, FUNCTION, MESSAGE, PROGRAM
from whocall import open_core
from whocall.base.printable import printable
from whocall.cli.main import main
from whocall.report.page.writing import json_for_script, write_page


def all_words(browser: Browser) -> str:
    """The texts of the stack's words: the list is scrolled through."""
    seen: str = browser.js("""
        const box = document.querySelector('#words .vlist');
        let text = '';
        for (let top = 0; top < box.scrollHeight; top += 200) {
            box.scrollTop = top;
            box.dispatchEvent(new Event('scroll'));
            text += box.textContent;
        }
        return text;""")
    return seen


def test_markup_shows_as_text(browser: Browser, hostile: Path) -> None:
    page = hostile.parent / "report.html"
    with open_core(str(hostile)) as image:
        write_page(image, str(page))
    browser.open(page)
    browser.settle()
    assert PROGRAM in browser.text("h1")
    seen = browser.js("return document.querySelector('main').textContent")
    for text in (FUNCTION, MESSAGE, PROGRAM, printable(FOLDER)):
        assert text in seen, text
    assert '"</script"' in all_words(browser)
    assert browser.count("main img, main svg, main b, main script") == 0
    assert browser.js("return document.scripts.length") == 2
    assert browser.js("return typeof hit") == "undefined"
    assert browser.messages() == []
    assert browser.violations() == []


def test_the_data_cannot_leave_its_element(hostile: Path) -> None:
    page = hostile.parent / "data.html"
    with open_core(str(hostile)) as image:
        report = write_page(image, str(page))
    text = page.read_text(encoding="utf-8")
    held = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    assert held is not None
    assert json.loads(held.group(1)) == report
    assert not set("<>&\u2028\u2029") & set(held.group(1))
    assert json_for_script({"a": "</script>\u2028&"}) == (
        '{"a":"\\u003c/script\\u003e\\u2028\\u0026"}'
    )


def test_forms_of_other_tools_keep_it_text(hostile: Path, capsys) -> None:  # type: ignore[no-untyped-def]
    said = {}
    for form in ("markdown", "mail", "flamegraph"):
        assert main(["bt", str(hostile), "--format", form]) == 0
        said[form] = capsys.readouterr().out
    assert "<svg onload" not in re.sub(r"`[^`\n]*`", "", said["markdown"])
    assert "\x1b" not in said["mail"]
    assert max(map(len, said["mail"].splitlines())) <= 78
    assert said["mail"].isascii()
    assert "<svg onload" not in said["flamegraph"]
    assert "&lt;svg onload" in said["flamegraph"]
