"""Very many threads and frames: what is not seen is not rendered, and the file stays small."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver.common.keys import Keys

from page.chromium import Browser
from page.large import with_frames, with_threads
from whocall.report.page.writing import page_text

MOST_BYTES = 20 << 20
MOST_ELEMENTS = 6_000  # of a page of any size


def written(place: Path, name: str, report: dict[str, Any]) -> Path:
    page = place / name
    page.write_text(page_text(report), encoding="utf-8")
    assert page.stat().st_size < MOST_BYTES
    return page


@pytest.fixture(scope="module")
def threads_page(place: Path, workers_report: dict[str, Any]) -> Path:
    return written(place, "threads.html", with_threads(workers_report, 10_000))


def test_10000_threads_scroll(browser: Browser, threads_page: Path) -> None:
    browser.open(threads_page)
    browser.settle()
    assert "10,007 threads" in browser.text("#threads h2")
    assert browser.count("*") < MOST_ELEMENTS
    assert browser.count("#threads .row") < 60
    box = "document.querySelector('#threads .vlist')"
    for share in (0.3, 0.6, 1):
        browser.js(f"{box}.scrollTop = {box}.scrollHeight * {share}")
        browser.settle()
        assert 0 < browser.count("#threads .row") < 60
    assert "worker-9999" in browser.text("#threads .vlist")
    browser.js(f"{box}.scrollTop = 0")
    browser.settle()
    browser.js("document.querySelector('#threads .row button').focus()")
    browser.keys(Keys.END)
    browser.settle()
    assert "worker-9999" in browser.js("return document.activeElement.innerText")
    browser.keys(Keys.ENTER)
    browser.settle()
    assert "worker-9999" in browser.text("#stack-title")
    assert browser.messages() == []


def test_10000_threads_are_searched(browser: Browser, threads_page: Path) -> None:
    browser.open(threads_page)
    browser.keys("/")
    browser.keys("worker-7777", Keys.ENTER)
    browser.settle()
    assert "worker-7777" in browser.text("#stack-title")
    assert browser.count("#found li") < 100


def test_100000_frames_scroll(
    browser: Browser, place: Path, workers_report: dict[str, Any]
) -> None:
    browser.open(written(place, "frames.html", with_frames(workers_report, 100_000)))
    browser.settle()
    assert "100,000 frames" in browser.text("#stack-title")
    assert browser.count("*") < MOST_ELEMENTS
    browser.js("document.querySelector('#stack .row button').focus()")
    browser.keys(Keys.END)
    browser.settle()
    assert browser.text(".panel .title").startswith("#99999")
    assert browser.count("#stack .row") < 80
    browser.keys(Keys.PAGE_UP)
    browser.settle()
    assert browser.text(".panel .title").startswith("#999")
    assert browser.messages() == []


def test_print_shows_rows_without_scrolling(browser: Browser, threads_page: Path) -> None:
    browser.open(threads_page)
    browser.settle()
    browser.js("window.dispatchEvent(new Event('beforeprint'))")
    printed = browser.count("#threads .row")
    assert 100 < printed < 1_000
    browser.js("window.dispatchEvent(new Event('afterprint'))")
    assert browser.count("#threads .row") < 60
