"""Stacks as servers, libraries and tools write them by themselves, each in the form that its source
has, with the addresses of a real stack."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from acceptance.logs.addresses import Stack, stack_of
from acceptance.logs.judging import document, judge
from acceptance.logs.log_programs import FUNCTIONS, resolved
from acceptance.logs.other_writers import CASES, Case, boost, uftrace, who_calls
from whocall.resolve.facts.context import Context
from whocall.resolve.formats.known import frames
from whocall.resolve.grammar.forms import FORMS


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Stack:
    return stack_of(tmp_path_factory.mktemp("stack"))


def _given(tmp_path: Path, stack: Stack, case: Case) -> list[str | Path]:
    tree = tmp_path / "tree" / "deep"
    tree.mkdir(parents=True)
    if case.told:
        shutil.copy(stack.built.debug, tree / "xyz")
    else:
        shutil.copy(stack.built.debug, tree / "prog.debug")
    if case.code:
        shutil.copy(stack.built.stripped, tree / "prog")
    words: list[str | Path] = ["--symbols", tmp_path / "tree"]
    if case.exe:
        shutil.copy(stack.built.stripped, tmp_path / "prog")
        words += ["--exe", tmp_path / "prog"]
    return words


def _oriented(places: list[dict[str, object]], name: str) -> list[dict[str, object]]:
    return places[::-1] if name == "backward" else places


@pytest.mark.parametrize("name", CASES)
def test_a_log_of(tmp_path: Path, stack: Stack, name: str) -> None:
    case = CASES[name]
    log = case.write(stack)
    found = document(log, *_given(tmp_path, stack, case))
    found["places"] = _oriented(found["places"], name)
    functions = FUNCTIONS[: case.count]
    places = judge(found, stack.built.full, functions=functions)
    assert all(each["verified"] == case.told for each in places)
    assert {each["format"] for each in places} == {case.kind}


def test_pairs_of_uftrace(tmp_path: Path, stack: Stack) -> None:
    case = Case(uftrace, "uftrace", code=True)
    found = document(uftrace(stack), *_given(tmp_path, stack, case))
    named = [each["function"] for each in found["places"]]
    assert named == ["crash", "caller", "caller", "last", "last", "main"]


def test_who_calls(tmp_path: Path, stack: Stack) -> None:
    """The caller stands first."""
    found = document(who_calls(stack), *_given(tmp_path, stack, Case(who_calls, "")))
    assert [each["function"] for each in found["places"]] == ["caller", "crash", "main", "last"]
    assert {each["format"] for each in found["places"]} == {"libwhocall"}


PACKED: dict[str, Callable[[str], str]] = {
    "docker": lambda line: '{"log":"'
    + line.replace('"', '\\"').replace("<", "\\u003c").replace("\t", "\\t")
    + '\\n","stream":"stderr","time":"2026-11-24T07:08:53.000000000Z"}\n',
    "journal": lambda line: '{"_PID":"98","MESSAGE":"'
    + line.replace('"', '\\"').replace("\t", "\\t")
    + '","PRIORITY":"6"}\n',
}


@pytest.mark.parametrize("envelope", PACKED)
@pytest.mark.parametrize("name", ["postgres", "frr", "backward", "g3log"])
def test_a_log_that_was_packed(tmp_path: Path, stack: Stack, name: str, envelope: str) -> None:
    """As JSON: the names stand in the strings, and all else is as before."""
    case = CASES[name]
    log = "".join(map(PACKED[envelope], case.write(stack).splitlines()))
    words = _given(tmp_path, stack, case)
    found = document(log, *words)
    found["places"] = _oriented(found["places"], name)
    judge(found, stack.built.full)
    text = resolved(log, *words).stdout
    key = "log" if envelope == "docker" else "MESSAGE"
    inner = [json.loads(line)[key].rstrip("\n") for line in text.splitlines()]
    assert "\n".join(inner) + "\n" == resolved(case.write(stack), *words).stdout


def test_a_message_that_syslog_joined(tmp_path: Path, stack: Stack) -> None:
    """systemd-coredump's, as rsyslog writes it."""
    frames = "".join(
        f"#012#{at}  {pc - (at == 0):#018x} n/a (prog + {pc - (at == 0) - stack.base:#x})"
        for at, pc in enumerate(stack.addresses)
    )
    log = (
        "Nov 24 07:08:53 host systemd-coredump[99]: Process 98 (prog) of user 0 dumped core.#012"
        f"#012Module {stack.path} with build-id {stack.build_id}#012Stack trace of thread 98:"
        f"{frames}#012ELF object binary architecture: AMD x86-64\n"
    )
    words = _given(tmp_path, stack, Case(boost, "", told=True))
    judge(document(log, *words), stack.built.full)
    text = resolved(log, *words).stdout
    assert text.count("\n") == 1
    assert text.count("#012") == log.count("#012")
    assert "crash+0x" in text


@pytest.mark.parametrize("at", range(len(FORMS)))
def test_each_form_reads_its_example(at: int) -> None:
    form = FORMS[at]
    context = Context()
    context.block = form.block
    kind, places = frames(form.example, context)
    assert kind == form.kind
    assert places
