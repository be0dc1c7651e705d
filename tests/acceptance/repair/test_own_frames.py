"""`whocall repair` takes no true frame that gdb has by itself, and `whocall compare` blames none.

The short form: where tables lead through, where somebody had a hand in the stack, and where the
program's file is missing.
test_corpus.py asks it of what has no tables and of damaged stacks, `python3 -m acceptance.repair`
of everything.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from damaged_stacks.missing import without_executable

from acceptance.helpers.corpusruns import NAMES, Corpora
from acceptance.helpers.scoreboard import Scoreboard
from acceptance.repair.ownframes import RETURNS, complaints, job_of, job_of_returns
from acceptance.repair.repairruns import Job, ask

SHORT = NAMES[True][::10]
LOST = (
    "chain/clang-O1-nofp-pie-cf",
    "chain/clang-O3-fp-pie-m32",
    "signal_nested/gcc-O0-nofp-static",
    "user_context/clang-O0-fp-no-pie-m32-cf",
)
"""Without their files a search goes by a frame that gdb has, or finds none."""


@pytest.mark.parametrize("case_names", [SHORT], ids=["some"])
def test_where_tables_lead_through(
    case_names: list[str], corpora: Corpora, tmp_path: Path, scoreboard: Scoreboard
) -> None:
    jobs = [job_of(corpora.run(name).built, "tables") for name in case_names]
    _check(jobs, tmp_path, scoreboard)


def test_where_somebody_had_a_hand_in_the_stack(tmp_path: Path, scoreboard: Scoreboard) -> None:
    _check([job_of_returns(case) for case in RETURNS[::8]], tmp_path, scoreboard)


@pytest.mark.parametrize("case_names", [LOST], ids=["some"])
def test_where_the_programs_file_is_missing(
    case_names: list[str], corpora: Corpora, tmp_path: Path, scoreboard: Scoreboard
) -> None:
    cases = [corpora.run(name).built.case for name in case_names]
    missing = [without_executable(case) for case in cases]
    jobs = [job_of(built, "exe-missing", has_executable=False) for built in missing]
    _check(jobs, tmp_path, scoreboard, least=1)  # some releases of gdb find no more


def _check(jobs: list[Job], place: Path, scoreboard: Scoreboard, least: int = 4) -> None:
    outcomes = ask(jobs, place)
    own = sum(outcome.own for outcome in outcomes)
    table = scoreboard.table("gdb's own true frames", "kind", "cases", "frames", "taken", "blamed")
    taken, blamed = ([len(getattr(one, word)) for one in outcomes] for word in ("taken", "blamed"))
    kind = jobs[0].kind.partition(":")[0]
    table.rows.append((kind, len(jobs), own, sum(taken), sum(blamed)))
    assert own >= least * len(jobs)
    assert not complaints(outcomes), "\n".join(complaints(outcomes))
