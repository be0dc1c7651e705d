"""One browser for all tests, and reports that are made once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from causes.programs import SOURCES, core_of

from page.chromium import Browser, chromium
from page.hostile import hostile_core
from whocall import open_core
from whocall.cli.main import main
from whocall.report.page.document import PageOptions, document
from whocall.report.page.writing import write_page


@pytest.fixture(scope="session")
def from_pypi(project_root: Path) -> Path:
    """Where scripts/prepare puts what tests of pages need from PyPI."""
    place = project_root / "build" / "page-tests"
    assert (place / "axe_playwright_python").is_dir(), f"{place} is missing: scripts/prepare tests"
    return place


@pytest.fixture(scope="session")
def browser(from_pypi: Path) -> Iterator[Browser]:
    """A headless Chromium."""
    axe = (from_pypi / "axe_playwright_python" / "axe.min.js").read_text(encoding="utf-8")
    with chromium(axe) as started:
        yield started


@pytest.fixture(scope="session")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for programs, cores and pages."""
    return tmp_path_factory.mktemp("page")


@pytest.fixture(scope="session")
def overflow_core(place: Path) -> Path:
    """A recursion without end."""
    return core_of(SOURCES["stack-overflow"], place / "overflow" / "deep")


@pytest.fixture(scope="session")
def workers_core(place: Path) -> Path:
    """Some threads that wait, and one that crashed in its comparison function."""
    source = """
        #include <pthread.h>
        #include <stdlib.h>
        #include <unistd.h>
        static int *nowhere;
        __attribute__((noipa)) int compare(const void *a, const void *b) { return *nowhere; }
        __attribute__((noipa)) void sort_rows(void) {
            int a[8] = {3, 1, 2};
            qsort(a, 8, 4, compare);
        }
        void *wait_for_work(void *p) { pause(); return p; }
        int main(void) {
            pthread_t t[6];
            for (int i = 0; i < 6; ++i) pthread_create(t + i, 0, wait_for_work, 0);
            usleep(100000);
            sort_rows();
        }"""
    return core_of(source, place / "workers" / "workers", "-pthread", "-s")


@pytest.fixture(scope="session")
def workers_page(workers_core: Path) -> Path:
    """The report on it, as the command line makes it, gdb's backtrace included."""
    page = workers_core.parent / "report.html"
    assert main(["report", str(workers_core), "-o", str(page)]) == 0
    return page


@pytest.fixture(scope="session")
def overflow_page(overflow_core: Path) -> Path:
    """The report on it, without gdb."""
    page = overflow_core.parent / "report.html"
    with open_core(str(overflow_core)) as image:
        write_page(image, str(page))
    return page


@pytest.fixture(scope="session")
def workers_report(workers_core: Path) -> dict[str, Any]:
    """The data of a report."""
    with open_core(str(workers_core)) as image:
        return document([image], PageOptions())


@pytest.fixture(scope="session")
def hostile(place: Path) -> Path:
    """The core of a program that is all markup."""
    return hostile_core(place / "hostile")
