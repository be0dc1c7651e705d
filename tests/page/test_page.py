"""The page in headless Chromium: silent, self-contained, usable by pointer, keys and ears."""

from __future__ import annotations

import struct
from pathlib import Path

from causes.programs import SOURCES, core_of
from selenium.webdriver.common.keys import Keys

from page.chromium import SIZE, Browser
from page.screenshot import SIZE as PICTURE_SIZE
from page.screenshot import page_of_example, take
from whocall.cli.main import main


def test_it_opens_from_disk_without_a_word_and_without_a_request(
    browser: Browser, workers_page: Path
) -> None:
    browser.open(workers_page)
    browser.settle()
    assert browser.requests() == [workers_page.as_uri()]
    assert browser.messages() == []
    assert "SIGSEGV" in browser.text("h1")
    assert "null pointer" in browser.text("h1")


def test_a_script_that_is_put_into_it_does_not_run(browser: Browser, workers_page: Path) -> None:
    browser.open(workers_page)
    browser.js("const s = document.createElement('script'); s.textContent = 'window.ran = 1';"
               "document.body.append(s)")  # fmt: skip
    assert browser.js("return window.ran === undefined")
    assert any("Content Security Policy" in message for message in browser.messages())


def test_axe_finds_nothing_in_light_and_dark_and_in_print(
    browser: Browser, workers_page: Path
) -> None:
    for dark in (False, True):
        browser.dark(dark)
        browser.open(workers_page)
        assert browser.violations() == []
        browser.js("document.querySelector('#search').focus()")
        browser.keys("wait")
        browser.click(".panel .registers a")
        browser.js("document.querySelector('#memory details').open = true")
        browser.settle()
        assert not browser.js("return document.querySelector('#where').hidden")
        assert browser.violations() == []
    browser.dark(False)


def test_the_theme_button_overrules_the_system(browser: Browser, workers_page: Path) -> None:
    browser.open(workers_page)
    ground = "return getComputedStyle(document.body).backgroundColor"
    light = browser.js(ground)
    browser.click("#theme")
    assert browser.js(ground) != light
    browser.click("#theme")
    assert browser.js(ground) == light


def test_a_click_shows_how_a_frame_is_known(browser: Browser, workers_page: Path) -> None:
    browser.open(workers_page)
    assert browser.text(".panel .title").startswith("#0")
    browser.click("#stack .row:nth-child(2) button.name")
    browser.settle()
    assert browser.text(".panel .title").startswith("#1")
    assert "a call instruction ends at the return address" in browser.text(".knowledge")
    assert browser.count(".panel .listing tr.current") == 1
    assert "call" in browser.text(".panel .listing tr.current .text")
    assert browser.count(".panel .register") > 8
    assert browser.js("return document.querySelector('#stack .row.chosen').dataset.index") == "1"


def test_the_list_of_frames_is_walked_by_keys(browser: Browser, workers_page: Path) -> None:
    browser.open(workers_page)
    browser.js("document.querySelector('#stack .row button.name').focus()")
    browser.keys(Keys.ARROW_DOWN, Keys.ARROW_DOWN)
    browser.settle()
    assert browser.text(".panel .title").startswith("#2")
    browser.keys(Keys.END)
    browser.settle()
    last = browser.js("return document.querySelectorAll('#stack .row').length") - 1
    assert browser.text(".panel .title").startswith(f"#{last}")
    browser.keys(Keys.HOME)
    browser.settle()
    assert browser.text(".panel .title").startswith("#0")
    assert browser.js("return document.activeElement.closest('.row').dataset.index") == "0"


def test_search_finds_functions_threads_and_addresses(browser: Browser, workers_page: Path) -> None:
    browser.open(workers_page)
    browser.keys("/")
    browser.keys("libc_start_call")
    browser.settle()
    assert "__libc_start_call_main" in browser.text("#found li")
    browser.keys(Keys.ENTER)
    browser.settle()
    assert "__libc_start_call_main" in browser.text(".panel .title")
    assert browser.js("return document.querySelector('#found').hidden")
    browser.keys("/")
    browser.keys("pause", Keys.ARROW_DOWN, Keys.ARROW_UP, Keys.ENTER)
    browser.settle()
    assert "pause" in browser.text(".panel .title")
    assert "Thread 1," not in browser.text("#stack-title")
    browser.keys("/")
    browser.keys("0x1234567", Keys.ENTER)
    browser.settle()
    assert "nothing is mapped there" in browser.text("#where")
    browser.keys(Keys.ESCAPE)
    browser.settle()
    assert browser.js("return document.querySelector('#where').hidden")
    browser.keys("/")
    browser.keys("no such name")
    browser.settle()
    assert browser.text("#found") == "Nothing found"
    assert browser.messages() == []


def test_every_address_is_a_link_to_what_the_page_has_of_it(
    browser: Browser, workers_page: Path
) -> None:
    browser.open(workers_page)
    assert browser.count("a.addr:not([href^='#c'])") == 0
    assert browser.count("h1 a.addr, .causes a.addr") >= 1  # in sentences too
    # The return address of frame 0 is a word of the stack, and the pc of frame 1.
    pc = browser.js("return document.querySelectorAll('#stack .row a.addr')[1].dataset.address")
    browser.js("document.querySelector(`#words a[data-address='${arguments[0]}']`).click()", pc)
    browser.settle()
    told = browser.text("#where")
    assert "frame #1 of thread 1" in told
    assert "held by the stack’s word at" in told
    browser.js("[...document.querySelectorAll('#where .links a')].find("
               "(a) => a.textContent.startsWith('held')).click()")  # fmt: skip
    browser.settle()
    held = browser.js("return document.activeElement.closest('.word').innerText")
    assert "return address into #1" in held


def test_threads_with_equal_stacks_are_folded(browser: Browser, workers_page: Path) -> None:
    browser.open(workers_page)
    assert browser.count("#threads .row") == 2
    assert "6×" in browser.text("#threads .row:nth-child(2)")
    browser.click("#fold")
    browser.settle()
    assert browser.count("#threads .row") == 7
    browser.click("#threads .row:nth-child(3) button.name")
    browser.settle()
    assert "pause" in browser.text("#stack")
    assert browser.text("#threads .row.chosen").startswith("Thread 3")


def test_the_flame_graph_counts_threads_and_zooms(browser: Browser, workers_page: Path) -> None:
    browser.open(workers_page)
    assert browser.text("#flame .box") == "7 threads"
    boxes = "[...document.querySelectorAll('#flame .box')]"
    find = f"{boxes}.find((b) => b.textContent === 'pause')"
    assert "6 of 7 threads" in browser.js(f"return {find}.getAttribute('aria-label')")
    browser.js(f"{find}.click()")
    browser.settle()
    assert browser.text("#flame .box") == "pause"
    left = browser.js(f"return {boxes}.map((b) => b.getAttribute('aria-label'))")
    assert len(left) <= 4  # since glibc 2.41 it calls others
    assert all("6 of 7 threads" in each for each in left)
    browser.click("#flame .head button")
    browser.settle()
    assert browser.count("#flame .box") > 8
    browser.js("document.querySelector('#flame .box').focus()")
    browser.keys(Keys.ARROW_UP)
    assert "of 7 threads" in browser.text("#flame .told")
    assert browser.js("return document.activeElement.classList.contains('box')")


def test_gdbs_own_backtrace_stands_beside(browser: Browser, workers_page: Path) -> None:
    browser.open(workers_page)
    assert browser.text("#gdb .summary").startswith("gdb has ")
    verdicts = browser.js("return [...document.querySelectorAll('#gdb .verdict')]"
                          ".map((v) => v.textContent)")  # fmt: skip
    frames = browser.js("return document.querySelectorAll('#stack .row').length")
    assert len(verdicts) >= frames


def test_a_long_recursion_is_one_row_that_opens(browser: Browser, overflow_page: Path) -> None:
    browser.open(overflow_page)
    assert "the stack overflowed" in browser.text("h1")
    gap = "#stack .gap button"
    assert "frames: the frame above repeated" in browser.text(gap)
    rows = browser.count("#stack .row")
    assert rows < 12
    assert browser.js("return document.querySelector(arguments[0]).ariaExpanded", gap) == "false"
    browser.click(gap)
    browser.settle()
    assert browser.count("#stack .row") > rows
    assert browser.js("return document.querySelector(arguments[0]).ariaExpanded", gap) == "true"
    browser.click(gap)
    browser.settle()
    assert browser.count("#stack .row") == rows
    assert browser.messages() == []


def test_a_place_can_be_linked_to(browser: Browser, workers_page: Path) -> None:
    browser.open(f"{workers_page.as_uri()}#c0/t2/f1")
    browser.settle()
    assert browser.text(".panel .title").startswith("#1")
    assert browser.text("#stack-title").startswith("Call stack Thread 3")
    browser.open(f"{workers_page.as_uri()}#c9/t99/f99")  # what is not there is no reason to fail
    browser.settle()
    assert browser.text(".panel .title").startswith("#")
    assert browser.messages() == []


def test_without_scripts_the_stack_is_there(workers_page: Path) -> None:
    text = workers_page.read_text(encoding="utf-8")
    alone = text[text.index("<noscript>") : text.index("</noscript>")]
    assert "#0 " in alone
    assert "qsort" in alone
    assert "[context]" in alone


def test_the_picture_of_the_documentation_can_be_taken(
    browser: Browser, place: Path, project_root: Path
) -> None:
    folder = place / "picture"
    folder.mkdir()
    picture = folder / "report.png"
    take(browser, page_of_example(folder), picture)
    browser.driver.set_window_size(*SIZE)
    for png in (picture, project_root / "docs" / "report.png"):
        head = png.read_bytes()[:24]
        assert head.startswith(b"\x89PNG")
        width, height = struct.unpack(">II", head[16:])
        assert width == PICTURE_SIZE[0]
        assert 800 < height <= PICTURE_SIZE[1]
    assert browser.messages() == []


def test_several_crashes_are_chosen_from(
    browser: Browser, place: Path, workers_core: Path, overflow_core: Path
) -> None:
    page = place / "several.html"
    cores = [str(workers_core), str(overflow_core)]
    assert main(["report", *cores, "-o", str(page), "--no-gdb"]) == 0
    browser.open(page)
    browser.settle()
    assert "null pointer" in browser.text("h1")
    assert browser.violations() == []
    browser.js(
        "const choice = document.querySelector('#crash'); choice.selectedIndex = 1;"
        "choice.dispatchEvent(new Event('change'))"
    )
    browser.settle()
    assert "the stack overflowed" in browser.text("h1")
    assert "frames: the frame above repeated" in browser.text("#stack")
    assert browser.js("return location.hash").startswith("#c1/")
    browser.driver.back()
    browser.settle()
    assert "null pointer" in browser.text("h1")
    assert browser.messages() == []


def test_a_file_that_is_missing_has_the_command_that_gets_it(browser: Browser, place: Path) -> None:
    core = core_of(SOURCES["null-access"], place / "gone" / "program", "-Wl,--build-id")
    (place / "gone" / "program").unlink()
    page = place / "gone.html"
    assert main(["report", str(core), "-o", str(page), "--no-gdb"]) == 0
    browser.open(page)
    browser.settle()
    assert "1 with something missing" in browser.text("#modules h2")
    told = browser.text("#modules .remedy")
    assert "--search DIR" in told
    assert "build id" in told
    assert browser.violations() == []
