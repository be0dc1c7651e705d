"""A guard ends what goes on for ever, and only that."""

from __future__ import annotations

import signal
import time

import pytest
from guards import OverLimitError, guarded


def test_endless_work_is_ended() -> None:
    with pytest.raises(OverLimitError), guarded(0.05):
        while True:
            pass


def test_waiting_is_no_work_and_nothing_is_left() -> None:
    before = signal.getsignal(signal.SIGPROF)
    with guarded(0.05):
        time.sleep(0.2)
    assert signal.getsignal(signal.SIGPROF) == before
    assert signal.getitimer(signal.ITIMER_PROF) == (0, 0)
