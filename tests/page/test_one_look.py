"""All pages have one look: nothing is wider than a telephone, nothing is cut off on paper."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from causes.programs import SOURCES, core_of

from page.chromium import Browser, paper, screen
from page.test_serve import arguments
from whocall.cli.core_server import Cores, CoreServer
from whocall.cli.main import main

TELEPHONE = (400, 860)  # px

LONG = "a_name_of_a_function_" + "that_is_as_long_as_those_of_templates_" * 6


@pytest.fixture(scope="module")
def long_core(place: Path) -> Path:
    """A function with a very long name was handed a text, and so was the one that it aborted in."""
    source = f"""
        #include <stdlib.h>
        __attribute__((noipa)) int check(const char *text, int rows) {{
            if (rows > 2) abort();
            return text[rows];
        }}
        __attribute__((noipa)) int {LONG}(const char *text, int rows) {{
            return check(text, rows + 1) + 1;
        }}
        int main(void) {{ return {LONG}("late delivery", 17); }}"""
    return core_of(source, place / "long" / "a-program-whose-file-has-a-very-long-name-too", "-g")


@pytest.fixture(scope="module")
def server(long_core: Path, hostile: Path, workers_core: Path, place: Path) -> Iterator[CoreServer]:
    folder = place / "one-look"
    for core, name in ((long_core, "core.1"), (hostile, "deep/core.2 <b>"),
                       (workers_core, "core.3"), (workers_core, "core.4")):  # fmt: skip
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(core, folder / name)
    (folder / "core.cut").write_bytes(long_core.read_bytes()[:70])
    with CoreServer(Cores(str(folder), arguments(folder)), 0) as started:
        thread = threading.Thread(target=started.serve_forever, daemon=True)
        thread.start()
        yield started
        started.shutdown()


@pytest.fixture(scope="module")
def pages(
    server: CoreServer, long_core: Path, hostile: Path, workers_core: Path, place: Path
) -> dict[str, str]:
    """The addresses of one page of each kind."""
    folder = Path(server.cores.directory)
    report, triage = place / "looks.html", place / "looks-triage.html"
    cores = [str(core) for core in (long_core, hostile, workers_core)]
    assert main(["report", *cores, "-o", str(report), "--no-gdb"]) == 0
    with_reports = ["--reports", str(place / "looks-reports"), "-o", str(triage)]
    assert main(["triage", str(folder), "--format", "html", *with_reports]) == 0
    return {
        "report": report.as_uri(),
        "another crash": f"{report.as_uri()}#c1/t0/f0",
        "threads": f"{report.as_uri()}#c2/t3/f1",
        "triage": triage.as_uri(),
        "serve": server.address,
        "report of serve": server.address + "report/deep/core.2%20%3Cb%3E",
    }


# What of a page has its right end beyond the window or beyond what cuts it off.
CUT_OFF = """
    const cut = [];
    for (const one of document.querySelectorAll('main *, header *, footer *')) {
        const box = one.getBoundingClientRect();
        if (!box.width || one.closest('.hidden, thead, .flame, [hidden]')) continue;
        const style = getComputedStyle(one);
        const hides = style.overflowX !== 'visible' && one.scrollWidth > one.clientWidth + 1;
        if (box.right > innerWidth + 1 || hides)
            cut.push(`${one.tagName}.${one.className}: ${one.textContent.slice(0, 40)}`);
    }
    return cut;"""


def test_nothing_is_wider_than_a_telephone(browser: Browser, pages: dict[str, str]) -> None:
    with screen(browser, *TELEPHONE):
        for name, address in pages.items():
            browser.open(address)
            browser.settle()
            wide = browser.js("return [document.scrollingElement.scrollWidth, innerWidth]")
            assert wide == [TELEPHONE[0], TELEPHONE[0]], name
            lists = "[...document.querySelectorAll('.vlist, .scroll')]"
            assert browser.js(f"return {lists}.filter((e) => e.scrollWidth > e.clientWidth + 1)"
                              ".map((e) => e.parentElement.id + e.textContent.slice(0, 60))"
                              ) == [], name  # fmt: skip
            assert browser.violations() == [], name
            assert browser.messages() == [], name


def test_on_paper_nothing_is_cut_off(browser: Browser, pages: dict[str, str]) -> None:
    for name, address in pages.items():
        browser.open(address)
        browser.settle()
        with paper(browser):
            browser.settle()
            assert browser.js(CUT_OFF) == [], name


def test_on_paper_every_crash_of_a_report_is_told(browser: Browser, pages: dict[str, str]) -> None:
    browser.open(pages["another crash"])
    browser.settle()
    assert browser.count("#others article") == 0
    with paper(browser):
        told = browser.text("#others")
        assert browser.count("#others article") == 2
        assert LONG in told
        assert '"late delivery"' in told
        assert "qsort" in told
    assert browser.count("#others article") == 0


def frames_of(browser: Browser) -> list[str]:
    found: list[str] = browser.js("return [...document.querySelectorAll('#stack .row.frame')]"
                                  ".map((row) => row.textContent)")  # fmt: skip
    return found


def test_where_a_library_gave_up_the_programs_own_frame_is_open(
    browser: Browser, pages: dict[str, str], place: Path
) -> None:
    browser.open(pages["report"])
    browser.settle()
    assert "check" in browser.text(".panel .title")
    assert not browser.text(".panel .title").startswith("#0")
    assert browser.text("#stack .row.chosen .function") == "check"
    source = """
        #include <string.h>
        __attribute__((noipa)) unsigned long measure(const char *s) { return strlen(s) + 1; }
        int main(int c, char **v) { return measure(v[c]); }"""
    page = place / "measure.html"
    core = core_of(source, place / "measure" / "measure", "-fno-builtin")
    assert main(["report", str(core), "-o", str(page), "--no-gdb"]) == 0
    browser.open(page)
    browser.settle()
    assert "strlen" in browser.text("#stack .row.frame")
    assert "measure" in browser.text(".panel .title")
    core = core_of(SOURCES["null-call"], place / "measure" / "null")
    assert main(["report", str(core), "-o", str(page), "--no-gdb"]) == 0
    browser.open(page)
    browser.settle()
    assert browser.text(".panel .title").startswith("#1 call")
    browser.click("#threads .row button.name")
    browser.settle()
    assert browser.text(".panel .title").startswith("#1 call")


def test_frames_tell_what_they_were_handed(
    browser: Browser, pages: dict[str, str], place: Path
) -> None:
    browser.open(pages["report"])
    browser.settle()
    own = next(each for each in frames_of(browser) if "check" in each)
    assert '"late delivery", 18)' in own
    rows = browser.text(".panel .arguments tbody")
    assert "rdi" in rows
    assert '"late delivery"' in rows
    assert "the frame holds it still" in rows or "its caller put it there" in rows
    assert browser.count(".panel .arguments a.addr") == 1
    text = (place / "looks.html").read_text(encoding="utf-8")
    alone = text[text.index("<noscript>") : text.index("</noscript>")]
    assert "late delivery" in alone


def test_a_long_name_loses_its_middle_and_has_it_in_full(
    browser: Browser, pages: dict[str, str]
) -> None:
    browser.open(pages["report"])
    browser.settle()
    name = "[...document.querySelectorAll('#stack .middle')].find((e) => e.title)"
    assert browser.js(f"return {name}.title") == LONG
    text = browser.js(f"return {name}.textContent")
    assert LONG.startswith(text[:40])
    assert LONG.endswith(text[-16:])
    assert browser.js(f"const b = {name}.firstChild; return b.scrollWidth > b.clientWidth")
    assert browser.js(f"const r = {name}.lastChild; return r.scrollWidth <= r.clientWidth")
    level = browser.js(f"return {name}.closest('.row').dataset.index")
    browser.click(f"#stack .row[data-index='{level}'] button.name")
    browser.settle()
    assert browser.text(".panel .facts").startswith(f"Full name {LONG}")


def facts(browser: Browser) -> dict[str, str]:
    found: dict[str, str] = browser.js(
        "return Object.fromEntries([...document.querySelectorAll('#happened dt')].map((term) =>"
        "[term.textContent, term.nextElementSibling.textContent]))"
    )
    return found


def test_time_command_and_line_of_the_source(
    browser: Browser, pages: dict[str, str], long_core: Path
) -> None:
    browser.open(pages["report"])
    browser.settle()
    told = facts(browser)
    assert told["Command"].endswith("a-program-whose-file-has-a-very-long-name-too"[-20:]) or (
        "79 characters" in told["Command"]
    )
    assert told["Core written"].endswith(" UTC")
    assert ":4" in browser.text("#stack .row.chosen .where")
    assert long_core.is_file()


def test_a_part_of_a_page_can_be_linked_to(browser: Browser, pages: dict[str, str]) -> None:
    browser.open(pages["report"] + "#modules")
    browser.settle()
    assert browser.count("#stack .row.frame") > 2


def shown(browser: Browser, selector: str) -> int:
    found: int = browser.js("return [...document.querySelectorAll(arguments[0])]"
                            ".filter((e) => e.offsetParent !== null).length", selector)  # fmt: skip
    return found


def test_the_list_of_serve_tells_what_happened_and_which_are_one(
    browser: Browser, server: CoreServer
) -> None:
    browser.open(server.address)
    browser.settle()
    assert shown(browser, ".crashes tbody tr") == 5
    told = browser.text(".crashes")
    assert "was ended by SIGSEGV in sub_" in told
    assert "null pointer" in told
    assert shown(browser, ".buckets tbody tr") == 3
    assert "2" in browser.text(".buckets")
    same: list[Any] = browser.js(
        "return [...document.querySelectorAll('.crashes tr.sought')].map((row) => ["
        "row.querySelector('th').innerText, row.children[2].innerText])"
    )
    of = dict(same)
    assert of["core.3"] == of["core.4"] != of["core.1"]
    assert of["core.cut"] == ""
    browser.click(".buckets td a")
    browser.settle()
    assert browser.count("#stack .row.frame") > 1
    browser.click(".home a")
    browser.settle()
    assert browser.js("return location.href") == server.address


def test_the_list_of_serve_is_searched(browser: Browser, server: CoreServer) -> None:
    browser.open(server.address)
    browser.keys("/")
    browser.keys("pointer sigsegv")
    browser.settle()
    assert shown(browser, ".crashes tbody tr") == 2
    assert browser.text("#cores .matches") == "2 of 5"
    browser.keys("no such thing")
    browser.settle()
    assert shown(browser, "tbody tr") == 0
    assert browser.text("#said") == "Nothing found"
    browser.keys("\ue00c")  # Escape
    browser.settle()
    assert shown(browser, ".crashes tbody tr") == 5
    browser.click(".crashes [data-seek]")
    browser.settle()
    assert 1 <= shown(browser, ".crashes tbody tr") <= 2
    assert browser.messages() == []


def test_a_report_of_a_folder_leads_back_to_it(browser: Browser, pages: dict[str, str]) -> None:
    browser.open(pages["report of serve"])
    browser.settle()
    assert browser.js("return document.querySelector('.home a').href") == pages["serve"]
    browser.open(pages["report"])
    assert browser.count(".home") == 0


def test_the_page_of_triage_is_searched(browser: Browser, pages: dict[str, str]) -> None:
    browser.open(pages["triage"])
    browser.settle()
    whole = shown(browser, ".bucket")
    assert whole == 3
    browser.keys("/")
    browser.keys("noipa no such")
    assert shown(browser, ".bucket") == 0
    browser.keys("\ue00c")
    assert shown(browser, ".bucket") == whole
    browser.keys("late delivery")  # stands in the backtrace of the bucket alone
    browser.settle()
    assert shown(browser, ".bucket") == shown(browser, ".buckets tbody tr") == 1
    assert browser.messages() == []


def test_the_page_of_triage_runs_no_script_but_ours(
    browser: Browser, pages: dict[str, str]
) -> None:
    browser.open(pages["triage"])
    browser.js("const s = document.createElement('script'); s.textContent = 'window.ran = 1';"
               "document.body.append(s)")  # fmt: skip
    assert browser.js("return window.ran === undefined")
    assert any("Content Security Policy" in message for message in browser.messages())
    assert browser.js("return document.scripts.length") == 2


def test_links_of_triage_lead_from_the_page_to_its_reports(
    browser: Browser, server: CoreServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "work" / "out: a").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "work")
    words = ["triage", server.cores.directory, "--format", "html", "--reports", "out: a/all <b>"]
    assert main([*words, "-o", "out: a/page.html"]) == 0
    moved = tmp_path / "elsewhere"
    (tmp_path / "work" / "out: a").rename(moved)
    browser.open(moved / "page.html")
    links = browser.js("return [...document.querySelectorAll('.bucket p a')].map((a) => a.href)")
    assert len(links) == 3
    for link in links:
        assert link.startswith(moved.as_uri())
        browser.open(link)
        browser.settle()
        assert browser.count("#stack .row.frame") > 1


def test_where_the_page_will_lie_is_not_known_links_are_whole(
    server: CoreServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["triage", server.cores.directory, "--format", "html", "--reports", str(tmp_path)]
    assert main(words) == 0
    assert f'href="{tmp_path.as_uri()}/' in capsys.readouterr().out
