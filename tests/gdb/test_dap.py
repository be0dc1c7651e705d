"""Editors that speak the Debug Adapter Protocol: the extension loads, and shows true stacks."""

from __future__ import annotations

import pytest
from answers import truth
from dap_session import DapError, DapSession, Message
from programs import Crash
from test_told_arguments import program


def offsets(frames: list[Message]) -> list[int]:
    """The pcs within their pages, which are the same in every run; inlined calls share one."""
    pcs = [int(frame["instructionPointerReference"], 16) & 0xFFF for frame in frames]
    return [pc for at, pc in enumerate(pcs) if at == 0 or pc != pcs[at - 1]]


def names(frames: list[Message]) -> list[str]:
    return [str(frame["name"]) for frame in frames]


def assert_true(frames: list[Message], chain: Crash) -> None:
    true = [pc & 0xFFF for pc in truth(chain)]
    found = offsets(frames)
    assert names(frames)[-1] == "main"
    assert len(found) >= 7
    assert found == true[: len(found)]
    assert "???" not in names(frames)


def test_loading_prints_nothing_and_the_commands_work(chain: Crash) -> None:
    with DapSession() as dap:
        assert dap.printed() == ""
        assert dap.console("help whocall bt").startswith("Print the true backtrace")
        with pytest.raises(DapError, match="The program has no registers now"):
            dap.console("whocall bt")
        assert dap.begin("launch", program=str(chain.exe))["reason"] == "signal"
        assert "whocall" not in dap.printed()
        lines = dap.console("whocall bt 2").splitlines()
        with pytest.raises(DapError, match='Undefined whocall command: "nonsense"'):
            dap.console("whocall nonsense")
    assert chain.exe.name in lines[0]
    assert [line[:3] for line in lines[1:]] == ["Cau", "#0 ", "#1 ", "(Mo"]


def test_stacks_are_repaired_on_demand(chain: Crash) -> None:
    with DapSession() as dap:
        dap.begin("launch", program=str(chain.exe))
        assert names(dap.frames())[0] == "???"
        dap.console("whocall repair")
        assert dap.wait_for("invalidated") == {"areas": ["stacks"]}
        assert_true(dap.frames(), chain)
        dap.console("whocall revert")
        dap.wait_for("invalidated")
        assert names(dap.frames())[0] == "???"


def test_stacks_are_repaired_by_themselves(chain: Crash) -> None:
    with DapSession(["-iex", "set whocall auto-repair on"]) as dap:
        dap.begin("launch", program=str(chain.exe))
        assert_true(dap.frames(), chain)
        assert "Error" not in dap.printed()


def test_a_core(chain: Crash) -> None:
    with DapSession() as dap:
        try:
            dap.begin("attach", program=str(chain.exe), coreFile=str(chain.core))
        except DapError as error:  # gdb 16 and older read no cores for editors
            assert str(error) == "attach requires either 'pid' or 'target'"
            return
        dap.console("whocall repair")
        assert_true(dap.frames(), chain)


def test_what_functions_were_handed_stands_among_the_variables() -> None:
    crash = program("O1")
    with DapSession() as dap:
        try:
            dap.begin("attach", program=str(crash.exe), coreFile=str(crash.core))
        except DapError as error:  # gdb 16 and older read no cores for editors
            assert str(error) == "attach requires either 'pid' or 'target'"
            return
        dap.console("whocall repair")
        found = []
        for frame in dap.frames():
            for scope in dap.ask("scopes", frameId=frame["id"])["scopes"]:
                if scope["name"] == "Arguments":
                    held = dap.ask("variables", variablesReference=scope["variablesReference"])
                    found += [(each["name"], each["value"]) for each in held["variables"]]
        assert ("a2", "2") in found and ("a4", "200") in found, found
