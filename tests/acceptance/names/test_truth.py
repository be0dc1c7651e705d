"""The honest count: real stripped files beside the true names of their functions.

Of sources that read names not one may contradict the truth, at any byte of any function; of those
that infer names at most one in a hundred, and each has to be marked. What each source gives is
printed below the results.
"""

from __future__ import annotations

import json
import re
import sys
from bisect import bisect_right
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from oracles import nm_table
from oracles.tools import run

from acceptance.helpers import name_twins
from acceptance.helpers.function_tables import each_of, plain, plt_labels
from acceptance.helpers.name_twins import add_section, mini_debug_info
from acceptance.helpers.real_files import EXECUTABLE, LIBRARY, Twins, of_twin
from acceptance.helpers.scoreboard import Scoreboard
from acceptance.names import true_names
from acceptance.names.real_catalogue import FILES, STATIC_LIBRARIES
from acceptance.names.true_names import Truth, Verdict
from whocall import Search, open_symbols

ROOT = Path(__file__).resolve().parents[3]
NEAREST = "(nearest export)"
NOWHERE = Search(debug_directories=())


@dataclass
class Tally:
    """What a source gave in all files of a kind."""

    files: int = 0
    functions: int = 0  # of the files in which it gave anything
    named: int = 0
    wrong: list[str] = field(default_factory=list)


class Ledger:
    """The counts of the session by kind of file and source."""

    def __init__(self) -> None:
        self.tallies: dict[tuple[str, str], Tally] = defaultdict(Tally)
        self.functions: dict[str, dict[str, int]] = {LIBRARY: {}, EXECUTABLE: {}}

    def enter(self, name: str, kind: str, verdict: Verdict, wanted: str = "") -> None:
        """Add a file's verdict; of another look at the same file only the source `wanted`."""
        self.functions[kind][name] = verdict.functions
        if not wanted:
            self._enter_any(kind, verdict)
        for source in {*verdict.named, *verdict.wrong, *verdict.bounds}:
            if wanted and source != wanted:
                continue
            tally = self.tallies[kind, source]
            tally.files += 1
            tally.functions += verdict.functions
            tally.named += len(verdict.named[source] | verdict.bounds[source])
            tally.wrong += [f"{name}: {each}" for each in verdict.wrong[source].values()]

    def _enter_any(self, kind: str, verdict: Verdict) -> None:
        """What all sources of the stripped file itself give together."""
        exact = [verdict.named[each] for each in verdict.named if each not in true_names.INFERRED]
        names = set().union(*verdict.named.values())
        starts = names.union(*verdict.bounds.values())
        for title, found in (
            ("any exact name", set().union(*exact)),
            ("any name", names),
            ("name or bounds", starts),
        ):
            tally = self.tallies[kind, title]
            tally.files += 1
            tally.functions += verdict.functions
            tally.named += len(found)
        self.tallies[kind, "name or bounds"].wrong += verdict.astray.values()


@pytest.fixture(scope="module")
def ledger() -> Ledger:
    """Filled by the tests of this module, read by the last of them."""
    return Ledger()


def complaints(verdict: Verdict) -> list[str]:
    """Everything that exact sources said and that is not true."""
    return [
        f"{source}: {each}"
        for source, wrong in verdict.wrong.items()
        if source not in true_names.INFERRED
        for each in wrong.values()
    ]


def check_inferred(verdict: Verdict) -> None:
    """Of one file two in a hundred may be wrong, or a single one; of all together, one."""
    wrong = [each for source in true_names.INFERRED for each in verdict.wrong[source].values()]
    right = sum(len(verdict.named[source]) for source in true_names.INFERRED)
    assert len(wrong) <= max(1, right / 50), wrong[:5]


@pytest.fixture(scope="module")
def signatures(tmp_path_factory: pytest.TempPathFactory) -> Search:
    """Made of the libraries that static programs are linked with."""
    directory = tmp_path_factory.mktemp("signatures")
    files = []
    for number, archives in enumerate(STATIC_LIBRARIES):
        files.append(str(directory / f"{number}.signatures"))
        _say("signatures", *map(str, archives), "-o", files[-1])
    return Search(debug_directories=(), signature_files=files)


@pytest.mark.parametrize("name", [name for name in FILES if "static" in name])
def test_names_by_signatures(name: str, tmp_path: Path, signatures: Search, ledger: Ledger) -> None:
    """Most functions of the C library that a static program holds have names, and true ones."""
    file = FILES[name]
    twins = file.make(tmp_path)
    truth = true_names.truth_of(twins.full)
    verdict = true_names.judge(twins.bare, truth, signatures)
    ledger.enter(name, file.kind, verdict, "signature")
    assert not complaints(verdict)
    wrong = verdict.wrong["signature"]
    assert len(wrong) <= len(verdict.named["signature"]) / 1000, list(wrong.values())[:5]
    assert verdict.share("signature") > 40


@pytest.mark.parametrize("name", FILES)
def test_names_of_a_real_file(name: str, tmp_path: Path, ledger: Ledger) -> None:
    file = FILES[name]
    twins = file.make(tmp_path)
    truth = true_names.truth_of(twins.full)
    assert len(truth.starts) > 8, "hardly a real file"
    bare = true_names.judge(twins.bare, truth, NOWHERE)
    ledger.enter(name, file.kind, bare)
    shares = ", ".join(f"{source} {bare.share(source):.1f} %" for source in bare.named)
    print(f"\n{name}: {bare.functions} functions; {shares}", end="")
    assert not complaints(bare), complaints(bare)[:5]
    check_inferred(bare)
    _count_nearest(name, twins.bare, truth, ledger)
    _judge_linkage_table(name, twins.bare, ledger)
    _judge_other_places(name, twins, truth, ledger)


def _say(*words: str) -> str:
    return run([sys.executable, str(ROOT / "gdbext" / "whocall.py"), *words])


def test_inferred_names_are_marked_wherever_they_are_shown(tmp_path: Path) -> None:
    """`inferred` in JSON, `?` in text, and nothing else has either."""
    twins = FILES["executables: static C++"].make(tmp_path)
    (module,) = json.loads(_say("functions", "--json", str(twins.bare)))["modules"]
    functions = {int(each["start"], 16): each for each in module["functions"]}
    inferred = {start for start, each in functions.items() if each["inferred"]}
    assert len(inferred) > 30
    assert {functions[start]["source"] for start in inferred} <= set(true_names.INFERRED)
    lines = _say("functions", str(twins.bare)).splitlines()[1:]
    marked = {int(line.split()[0], 16) for line in lines if re.search(r"\?(?: \(.*\))?$", line)}
    assert marked == inferred
    start = min(inferred)
    assert f"{functions[start]['name']}? (+0)" in _say("symbol", str(twins.bare), f"{start:#x}")


def test_the_judge_sees_wrong_names(tmp_path: Path) -> None:
    """A debug file in which two functions have changed their names."""
    twins = of_twin(name_twins.build(tmp_path))
    truth = true_names.truth_of(twins.full)
    (debug,) = twins.debug_root.rglob("*.debug")
    run(["objcopy", "--redefine-sym=depth=middle", "--redefine-sym=middle=depth", str(debug)])
    search = Search(debug_directories=(str(twins.debug_root),))
    for judged in (true_names.judge, true_names.judge_table):
        verdict = judged(twins.bare, truth, search)
        assert len(verdict.wrong["debug-file"]) == 2
        assert len(complaints(verdict)) == 2


def _count_nearest(name: str, bare: Path, truth: Truth, ledger: Ledger) -> None:
    """For comparison: the nearest exported symbol at or below, as backtraces often have it."""
    found = (
        nm_table.symbols(bare, dynamic=True) if "DYNAMIC" in run(["readelf", "-lW", bare]) else []
    )
    names: dict[int, set[str]] = defaultdict(set)
    for each in found:
        names[each.address].add(plain(each.name))
    starts = sorted(names)
    if not starts:
        return
    tally = ledger.tallies[FILES[name].kind, NEAREST]
    tally.files += 1
    tally.functions += len(truth.starts)
    for start in truth.starts:
        at = bisect_right(starts, start)
        if not at:
            continue
        said, true = names[starts[at - 1]], truth.names[start]
        if said & true:
            tally.named += 1
        else:
            tally.wrong.append(f"{sorted(said)}: in truth {sorted(true)}")


def _judge_linkage_table(name: str, bare: Path, ledger: Ledger) -> None:
    """Its slots are no functions of the twin's; objdump labels them."""
    table = open_symbols(str(bare), search=NOWHERE)
    labels = plt_labels(bare)
    slots = {(each.start, each.name) for each in each_of(table) if each.source == "plt"}
    assert slots <= labels
    if labels:
        tally = ledger.tallies[FILES[name].kind, "plt"]
        tally.files += 1
        tally.functions += len(labels)
        tally.named += len(slots)


def _judge_other_places(name: str, twins: Twins, truth: Truth, ledger: Ledger) -> None:
    """The same names where distributions put them, and where `strip` leaves them."""
    kind = FILES[name].kind
    places = [("debug-file", twins.bare, Search(debug_directories=(str(twins.debug_root),)))]
    if twins.full.name == "twin":
        partly = twins.full.with_name("partly")
        run(["strip", "-S", "-o", str(partly), str(twins.full)])
        places.append(("symtab", partly, NOWHERE))
    if twins.full.name == "twin" and len(truth.starts) < 3000:
        mini = twins.full.with_name("mini")
        mini.write_bytes(twins.bare.read_bytes())
        add_section(mini, ".gnu_debugdata", mini_debug_info(twins.full))
        places.append(("gnu-debugdata", mini, NOWHERE))
    for source, path, search in places:
        verdict = true_names.judge_table(path, truth, search)
        ledger.enter(name, kind, verdict, source)
        assert not complaints(verdict), (source, complaints(verdict)[:5])


def test_counts(ledger: Ledger, scoreboard: Scoreboard) -> None:
    """Twenty files of each kind, when all of them were judged; the table of what sources give."""
    table = scoreboard.table(
        "true names by source, of the functions of real stripped files (fde, call-target: bounds)",
        "kind", "source", "files", "of functions", "right", "% of files with it", "wrong",
    )  # fmt: skip
    for (kind, source), tally in sorted(ledger.tallies.items()):
        share = 100 * tally.named / max(1, tally.functions)
        table.rows.append(
            (kind, source, tally.files, tally.functions, tally.named, share, len(tally.wrong))
        )
        print(f"\n{kind} {source}: {tally}"[:300])
    for kind, files in ledger.functions.items():
        table.rows.append((kind, "all", len(files), sum(files.values()), "", "", ""))
    for kind in ledger.functions:
        _check_tallies({key[1]: tally for key, tally in ledger.tallies.items() if key[0] == kind})
    if len(FILES) == sum(len(files) for files in ledger.functions.values()):
        assert all(len(files) >= 20 for files in ledger.functions.values())


def _check_tallies(tallies: dict[str, Tally]) -> None:
    """No exact name is wrong, and one in a hundred of those that are inferred."""
    inferred = [tallies[source] for source in true_names.INFERRED if source in tallies]
    wrong = [each for tally in inferred for each in tally.wrong]
    assert len(wrong) <= sum(tally.named for tally in inferred) / 100, wrong
    for source, tally in tallies.items():
        # Only bounds can be wrong without a name: what nothing tells of counts to the code before.
        share = {"name or bounds": 0.001, **dict.fromkeys(true_names.INFERRED, 0.015)}
        if source != NEAREST:
            assert len(tally.wrong) <= share.get(source, 0) * tally.named, (source, tally.wrong[:9])
