"""What decides about a figure: which one counts, what it is compared with, and whose peak it is."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from bench import answers, table
from bench.__main__ import below, measured_small
from bench.answers import Frame
from bench.figures import Figure, Figures, least
from bench.subjects import SUBJECTS
from bench.targets import LINES, MET, Kind, Line, faster, memory, told, told_cost, within
from bench.workshop import FailedError, Workshop

FAST = faster("walk", "it/ours", "it/theirs", 10, MET)


@pytest.fixture
def shop() -> Iterator[Workshop]:
    made = Workshop(1, small=True)
    yield made
    made.close()


def figures(ours: float, theirs: float = 1.0, peak: float = 10.0) -> Figures:
    return {"it/ours": Figure(ours, peak), "it/theirs": Figure(theirs, peak)}


def test_every_line_has_a_subject_and_no_floor_above_the_share() -> None:
    assert {line.subject for line in LINES} == SUBJECTS.keys()
    assert all(0 <= line.floor <= MET for line in LINES)
    unlooked = [line for line in LINES if line.kind is Kind.COST or not line.has_target]
    assert not [line for line in unlooked if line.floor]


@pytest.mark.parametrize(
    ("line", "found", "share"),
    [
        (FAST, figures(0.1), 1.0),
        (FAST, figures(0.2), 0.5),
        (within("walk", "it/ours", "it/theirs", 1.5), figures(3.0), 0.5),
        (memory("walk", "it/ours", 150), figures(1.0, peak=300.0), 0.5),
    ],
)
def test_a_share_is_of_the_target(line: Line, found: Figures, share: float) -> None:
    assert line.share(found) == pytest.approx(share)


def test_the_floor_is_looked_at(shop: Workshop) -> None:
    assert below([FAST], figures(0.16), shop) == []
    assert below([FAST], figures(0.17), shop) == [FAST]


def test_another_answer_does_not_count(shop: Workshop) -> None:
    shop.check("it/theirs", lambda: "8 frames, ours 7")
    assert below([FAST], figures(0.1), shop) == [FAST]
    assert "8 frames" in table.text(table.rows([FAST], figures(0.1), shop.differing))


def test_what_is_late_once_is_measured_again(
    shop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    costs = iter([100.0, 0.001])
    late = {line.ours: Figure(1.0, 1.0) for line in LINES} | {
        line.theirs: Figure(1.0, 1.0) for line in LINES
    }

    def measured(_: Workshop) -> Figures:
        cost = next(costs)
        return {**late, "orders/elf equal": Figure(cost, 1.0)}

    monkeypatch.setitem(SUBJECTS, "orders", measured)
    found, slow = measured_small(shop, ["orders"])
    assert slow == []
    assert found["orders/elf equal"].cost == 0.001


def test_the_least_cost_and_the_greatest_peak_count() -> None:
    turns = iter([(3.0, 5.0), (1.0, 4.0), (2.0, 9.0)])
    assert least([lambda: {"it": Figure(*next(turns))}], 3) == {"it": Figure(1.0, 9.0)}


def test_peaks_are_those_of_the_command(shop: Workshop) -> None:
    held = bytearray(200 << 20)
    small = shop.run([sys.executable, "-c", ""])
    large = shop.run([sys.executable, "-c", "x = bytearray(100 << 20)"])
    assert small.peak < 50 < 100 < large.peak < 150
    assert len(held) == 200 << 20


def test_a_command_that_fails_is_no_figure(shop: Workshop) -> None:
    with pytest.raises(FailedError, match="status 3"):
        shop.run([sys.executable, "-c", "raise SystemExit(3)"])


def test_a_file_never_seen_is_so_in_each_round(shop: Workshop) -> None:
    program = "import os, sys; sys.exit(bool(os.listdir(os.environ['XDG_CACHE_HOME'])))"
    assert shop.unseen("it", [sys.executable, "-c", program])()["it"].cost > 0
    fills = "import os; open(os.environ['XDG_CACHE_HOME'] + '/fact', 'x')"
    job = shop.unseen("it", [sys.executable, "-c", fills])
    assert least([job], 2)["it"].cost > 0


@pytest.mark.parametrize(
    ("there", "said"),
    [
        ([Frame(1, frozenset({"f"})), Frame(2, frozenset())], ""),
        ([Frame(1, frozenset({"alias"})), Frame(2, frozenset({"other"}))], ""),
        ([Frame(1, frozenset({"f"}))], "1 frames"),
        ([Frame(1, frozenset({"f"})), Frame(3, frozenset())], "0x3 at #1"),
        ([Frame(1, frozenset({"g"})), Frame(2, frozenset())], "g at #0"),
    ],
)
def test_answers_are_compared(there: list[Frame], said: str) -> None:
    here = [Frame(1, frozenset({"f", "alias"})), Frame(2, frozenset())]
    found = answers.difference({7: here}, {7: there})
    assert found == "" if not said else said in found
    assert "2 threads" in answers.difference({7: here}, {7: there, 8: there})


def test_units_fit_the_figure() -> None:
    line = Line("x", "it/ours", "", Kind.COST, 5, unit="ns")
    assert table.row(line, figures(7_446_205), {})[1] == "7.45 ms"
    assert table.row(line, figures(-1), {})[1] == "0.000 ns"


def test_what_is_only_told_is_a_speed_or_a_cost() -> None:
    found = figures(2.0, 8.0)
    for tell, ratio in ((told, "4.00x the speed"), (told_cost, "0.25x the cost")):
        cells = table.row(tell("x", "it/ours", "it/theirs"), found, {})
        assert cells[table.RATIO : table.RATIO + 3] == (ratio, "", "")


def test_a_subject_is_left_out_whole_or_not_at_all() -> None:
    assert table.rows([FAST], {"that/ours": Figure(1.0, 1.0)}, {}) == []
    with pytest.raises(KeyError, match="it/theirs"):
        table.rows([FAST], {"it/ours": Figure(1.0, 1.0)}, {})
