"""What becomes of a tool that is not there, or that does not come to an end."""

import sys

import pytest

from oracles.tools import ToolError, asked, run


def test_a_command_that_fails_has_ended_all_the_same() -> None:
    command = [sys.executable, "-c", "print('said'); raise SystemExit(3)"]
    assert (asked(command).returncode, asked(command).stdout) == (3, "said\n")
    assert run(command, accepted=(0, 3)) == "said\n"
    with pytest.raises(ToolError, match="exit code 3"):
        run(command)


def test_work_and_sleep_are_bounded() -> None:
    endless = "print('so far', flush=True)\nwhile True: pass"
    with pytest.raises(ToolError, match="1 s of processor time") as stopped:
        asked([sys.executable, "-c", endless], timeout=600, work=1)
    assert stopped.value.said == "so far\n"
    with pytest.raises(ToolError, match="within 1 s"):
        asked([sys.executable, "-c", "import time; time.sleep(600)"], timeout=1, work=60)


def test_a_tool_that_is_not_installed_is_a_failure() -> None:
    with pytest.raises(ToolError, match="not installed"):
        asked(["whocall-has-no-such-tool"])
