"""Where the stacks of threads begin on other instruction sets, when no table says so."""

from __future__ import annotations

import pytest

import whocall
from ports.case import cases
from ports.sets import SETS
from whocall.base.file_search import Search
from whocall.base.process_image import Walk


@pytest.mark.parametrize("name", list(SETS))
def test_threads_begin_where_they_were_made(name: str) -> None:
    """All but the first do, and each walk reaches its end."""
    walk = Walk(past_main=True, lines=False, demangle=False, without=("cfi",))
    of_threads = [one for one in cases(SETS[name], True) if one.program.name == "threads"]
    assert of_threads
    for case in of_threads:
        built = case.kept()
        search = Search(sysroot=built.sysroot)
        with whocall.open_core(str(built.core), str(built.exe), search=search) as image:
            stops = [thread.stop for thread in image.report(walk=walk).threads]
        assert {stop.reason for stop in stops} == {"end-of-stack"}, (case.name, stops)
        began = [stop for stop in stops if stop.detail == "a new thread begins there"]
        assert len(began) == len(stops) - 1, (case.name, stops)
