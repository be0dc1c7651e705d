"""Code that PCRE2 compiles for a pattern: one large function in memory that no file holds, with
functions of its own, which leave by jumps.

The library's tables tell the rest, and one function of it alone enters such code.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from corpus.crash import crash
from oracles.tools import run

from acceptance.helpers import chains

PROGRAM = Path(__file__).with_name("pcre_program.c")
PATTERNS = [
    ("(a(?C1)b|(\\w+)(?C2)x)+c", "abaxabfooxc"),
    ("^((\\((?C)(?1)*\\)))+$", "((()()((()))))"),
    ("(?:(a(?C)|b(?C))(?R)?c)", "aabacccc"),
    ("(?:(a(?C)|b)*?c(?<x>[de]+)(?C)\\k<x>)++(?=z)", "aabacdedezbacdededez"),
    ("\\b(\\p{Lu}(?C)\\w*)(?:\\s+(?C)(?!and)\\w+)*", "Hello world foo and Bar baz"),
    ("^(?<p>(?:[^()](?C)|\\((?&p)\\))*)$", "ab(cd(ef)g)h(i)j"),
]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    exe = tmp_path_factory.mktemp("pcre") / "program"
    run(["gcc", "-O1", str(PROGRAM), "-o", str(exe), "-lpcre2-8"])
    return exe


@pytest.mark.parametrize(("pattern", "subject"), PATTERNS, ids=[one for one, _ in PATTERNS])
@pytest.mark.parametrize("count", [1, 3])
def test_callouts(program: Path, pattern: str, subject: str, count: int) -> None:
    variables = {"PATTERN": pattern, "SUBJECT": subject, "COUNT": str(count)}
    core = crash(program, program.parent, variables=variables).core
    (trace,) = chains.of_core(core, program).values()
    frames, listing = chains.physical(trace), chains.listing(trace)
    assert [frame.function for frame in (frames[0], frames[3], frames[4])] == [
        "callout",
        "pcre2_jit_match_8",
        "pcre2_match_8",
    ], listing
    assert [frame.function for frame in frames[5:7]] == ["match", "main"], listing
    assert frames[1].module is None
    assert Path(frames[2].module or "").name.startswith("libpcre2-8"), listing
    assert {frame.trust for frame in frames} <= {"context", "cfi", "analysis"}, listing
