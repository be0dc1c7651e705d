"""The picture of docs/report.png: `python3 -m page.screenshot` in tests/ takes it anew.

examples/orders, built and stripped as its header says, crashes; Chromium shows the report on it.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from corpus.crash import crash

from page.chromium import Browser, chromium
from whocall.cli.main import main

ROOT = Path(__file__).resolve().parents[2]
PICTURE = ROOT / "docs" / "report.png"
SIZE = (1400, 1240)  # px
NAME = "orders"


def page_of_example(place: Path) -> Path:
    """The report on the example, in an empty folder."""
    source = ROOT / "examples" / f"{NAME}.c"
    command = re.search(r"Build: (.*)", source.read_text(encoding="utf-8"))
    assert command is not None
    shutil.copy(source, place)
    subprocess.run(command.group(1).rstrip(" */"), shell=True, check=True, cwd=place)
    subprocess.run(["strip", NAME], check=True, cwd=place)
    core = crash(place / NAME, place).core
    page = place / f"{NAME}.html"
    status = main(["report", str(core), "-o", str(page)])
    assert status == 0
    return page


def take(browser: Browser, page: Path, to: Path) -> None:
    """The upper part of the page, with the frame chosen at which gdb's backtrace goes wrong."""
    browser.driver.set_window_size(*SIZE)
    browser.open(f"{page.as_uri()}#c0/t0/f3")
    browser.settle()
    browser.driver.save_screenshot(str(to))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="orders-") as folder, chromium("") as started:
        take(started, page_of_example(Path(folder)), PICTURE)
    print(PICTURE)
