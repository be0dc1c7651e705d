"""The process that reads cores in gdb's place says what gdb would say itself."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from programs import Crash
from sessions import batch
from tolerant import marked, session

ON, OFF = "set whocall helper on", "set whocall helper off"

SAME = [
    "whocall",
    "whocall bt",
    "whocall bt -all",
    "whocall bt -full -explain",
    "whocall bt -past-main 3",
    "whocall bt -2",
    "whocall bt -no-fold -without cfi,scan -all",
    "whocall bt -json",
    "whocall bt -all -json",
    "whocall compare",
    "whocall compare -all",
    "whocall compare -json",
    "whocall functions -module libc.so.6 ^mem",
    "whocall functions -json ^qsort",
    "whocall functions ^no_such_function$",
    "whocall symbol $pc qsort $sp",
    "whocall modules",
    "whocall modules -json",
    "whocall audit -limit 1",
    "complete whocall functions mem",
    "complete whocall functions -module l",
    "complete whocall repair l",
    "complete set whocall he",
    "up",
    "whocall",
    "set backtrace past-main on",
    "set whocall without analysis",
    "whocall bt",
    "set whocall max-frames 3",
    "whocall bt -json",
    "set print demangle off",
    "set whocall fold off",
    "whocall bt",
    "thread apply all whocall bt 2",
    "set width 60",
    "whocall modules",
    "whocall trace",
    "whocall compare -shadow",
]
REFUSED = [
    "whocall bt -nonsense",
    "whocall bt -without nonsense",
    "whocall functions -module no_such.so",
    "whocall functions (",
    "whocall symbol",
    "whocall symbol no_such_thing",
    "whocall audit /etc/passwd",
    "whocall audit /nowhere",
    "whocall trace /etc/passwd",
    "whocall repair no_such.so",
    "whocall export -module no_such.so /dev/null/x",
    "whocall export /dev/null/x",
    "set whocall signature-files /etc/passwd",
]
REPAIRED = [
    "whocall repair",
    "thread apply all bt 5",
    "whocall repair libc.so.6",
    "whocall repair",
    "info functions sub_",
    "whocall compare -all",
    "whocall export {out}",
    "whocall revert",
    "thread apply all bt 5",
    "set whocall auto-repair on",
    "bt 4",
]


@pytest.mark.parametrize("program", ["chain", "workers", "deep"])
@pytest.mark.parametrize("commands", [SAME, REFUSED], ids=["said", "refused"])
def test_all_that_is_said_is_the_same(
    program: str, commands: list[str], request: pytest.FixtureRequest
) -> None:
    if program == "deep":
        commands = [each for each in commands if "compare" not in each and each != "up"]
    crash = request.getfixturevalue(program)
    started = "python from whocall.gdb.host import helper; print('started', helper._helper)"
    with_it, without = (
        session(crash, [choice, *marked(commands), started]) for choice in (ON, OFF)
    )
    assert "started None" not in with_it.out
    assert "started None" in without.out
    said, expected = (each.out.split("<{") for each in (with_it, without))
    assert said[:-1] == expected[:-1]
    assert with_it.err == without.err
    assert len(said) == len(commands) + 1


def test_gdb_is_repaired_in_the_same_way(workers: Crash, tmp_path: Path) -> None:
    found = []
    for name, choice in (("on", ON), ("off", OFF)):
        for turn in range(2):  # the second time the files lie in the cache
            cache, out = tmp_path / f"cache-{name}", tmp_path / f"{name}{turn}"
            lines = [choice, *marked([line.format(out=out) for line in REPAIRED])]
            said = session(workers, lines, XDG_CACHE_HOME=str(cache))
            kept = sorted(path.name for path in (cache / "whocall").glob("*.symbols"))
            found.append((said.out.replace(str(out), "OUT"), said.err, out.read_bytes(), kept))
    assert found[0] == found[2]
    assert found[1] == found[3]
    assert "in sub_" in found[0][0]
    assert found[0][3]


def test_a_core_without_a_name(chain: Crash, tmp_path: Path) -> None:
    packed = tmp_path / "core.gz"
    packed.write_bytes(gzip.compress(chain.core.read_bytes()))
    said = []
    for choice in (ON, OFF):
        lines = [choice, "whocall bt", f"whocall open {packed}", "whocall bt", "whocall modules",
                 "info threads"]  # fmt: skip
        found = batch(lines, [chain.exe, chain.core])
        assert found.status == 0, found
        said.append((found.out, found.err))
    assert said[0] == said[1]
    assert said[0][0].count("#0  0x") > 1
