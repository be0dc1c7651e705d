"""What the forms look like, and that names out of cores are text in all of them."""

from __future__ import annotations

import json
import os
import pty
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

from triage.conftest import PACKAGE, Run, environment, names
from triage.crashes import Crashed
from whocall.base.printable import printable

MARKUP = "<script>alert(1)</script>&\"'\x1b[31m"


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_page_shows_names_as_text(cores: list[Crashed], run: Run, tmp_path: Path) -> None:
    folder = tmp_path / MARKUP.replace("/", "|")
    folder.mkdir()
    for crashed in cores[:6]:
        shutil.copy(crashed.core, folder)
    (folder / "damaged.core").write_bytes(b"\x7fELF")
    page = _Page()
    page.feed(run(folder, "--format", "html").stdout)
    assert printable(MARKUP).replace("/", "|") in page.text
    assert [tag for tag, _ in page.tags].count("script") == 1
    assert not {"img", "svg", "iframe", "object"} & {tag for tag, _ in page.tags}
    assert not {name for _, held in page.tags for name in held if name.startswith("on")}
    policy = next(held["content"] for _, held in page.tags if "http-equiv" in held)
    assert policy is not None
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    links = [
        value
        for tag, held in page.tags
        for name, value in held.items()
        if name in ("href", "src") and tag != "link"
    ]
    assert links
    assert all(link is not None and link.startswith("#") for link in links)
    targets = {f"#{held.get('id')}" for _, held in page.tags}
    assert set(links) <= targets
    assert "damaged.core" in page.text
    assert "\x1b" not in run(folder).stdout
    assert "\x1b" not in run(folder, "--format", "json").stdout


def test_sarif(cores: list[Crashed], run: Run, tmp_path: Path) -> None:
    damaged = tmp_path / "damaged name.core"
    damaged.write_bytes(b"\x7fELF")
    output = tmp_path / "found.sarif"
    given = f"{damaged}\n{names(cores)}"
    assert run("-", "--format", "sarif", "-o", output, given=given).stdout == ""
    log = json.loads(output.read_text())
    assert log["version"] == "2.1.0"
    (only,) = log["runs"]
    rules = [rule["id"] for rule in only["tool"]["driver"]["rules"]]
    assert len(only["results"]) == 6
    for result in only["results"]:
        assert rules[result["ruleIndex"]] == result["ruleId"]
        assert result["level"] in ("error", "warning", "note")
        assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].startswith(
            "file:///"
        )
        assert result["stacks"][0]["frames"]
    assert sum(result["occurrenceCount"] for result in only["results"]) == len(cores)
    (said,) = only["invocations"][0]["toolExecutionNotifications"]
    assert said["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].endswith(
        "damaged%20name.core"
    )


def test_a_report_of_one_core_of_each_bucket(
    cores: list[Crashed], run: Run, tmp_path: Path
) -> None:
    folder = tmp_path / "reports"
    shown = run("-", "--reports", folder, given=names(cores)).stdout
    reports = sorted(folder.iterdir())
    assert len(reports) == 6
    for report in reports:
        assert f"see      {report}" in shown
        assert "#0 " in report.read_text()


def test_links_of_a_page_that_goes_to_standard_output_are_whole(
    cores: list[Crashed], run: Run, tmp_path: Path
) -> None:
    """Nobody knows in which folder it will lie."""
    for output in ((), ("-o", "-")):
        page = _Page()
        words = ("--format", "html", "--reports", tmp_path, *output)
        page.feed(run("-", *words, given=names(cores[:1])).stdout)
        (link,) = [href for tag, held in page.tags if (href := held.get("href") or "")
                   and tag == "a" and not href.startswith("#")]  # fmt: skip
        assert link.startswith(f"file://{tmp_path}/"), link


def test_a_bar_on_terminals_alone(cores: list[Crashed], run: Run, tmp_path: Path) -> None:
    assert run("-", given=names(cores)).stderr == ""
    ours, theirs = pty.openpty()
    at_once = (
        "import sys, whocall.base.long_work as work; work.PATIENCE = 0.0\n"
        "from whocall.cli.main import main; sys.exit(main(sys.argv[1:]))"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", at_once, "triage", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=theirs,
        text=True,
        env={**environment(tmp_path / "cache"), "TERM": "xterm-256color", "COLUMNS": "100"},
    )
    os.close(theirs)
    assert process.stdin is not None
    process.stdin.write(names(cores))
    process.stdin.close()
    seen = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:
            break
        if not piece:
            break
        seen += piece
    os.close(ours)
    assert process.wait() == 0
    assert b"walking cores: 24 of 24" in seen
    assert seen.endswith(b"\r\x1b[K")


def test_help_fits_and_brings_nothing_from_elsewhere(tmp_path: Path) -> None:
    program = (
        f"import sys; sys.path.insert(0, {str(PACKAGE)!r})\n"
        "from whocall.cli.main import main\n"
        "try:\n    main(sys.argv[1:])\n"
        "except SystemExit:\n    pass\n"
        "print(*sys.modules, file=sys.stderr)\n"
    )
    for words, most in ((["--help"], 40), (["triage", "--help"], 52)):
        ran = subprocess.run(
            [sys.executable, "-c", program, *words], capture_output=True, text=True, check=True
        )
        assert len(ran.stdout.splitlines()) <= most
        assert "triage" in ran.stdout
        brought = {name.partition(".")[0] for name in ran.stderr.split()}
        assert not brought & {"rich", "distributed", "dask", "capstone", "jinja2", "sqlite3"}
