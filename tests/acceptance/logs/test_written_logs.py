"""Logs whose writers are other machines or systems, with the addresses of a real stack in their
documented form."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from oracles.linkers import LINKERS

from acceptance.logs.addresses import Stack, stack_of
from acceptance.logs.judging import document, judge
from acceptance.logs.log_programs import FUNCTIONS


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Stack:
    return stack_of(tmp_path_factory.mktemp("stack"))


def _exact_first(stack: Stack) -> list[int]:
    """As if the first address were the instruction's own."""
    return [stack.addresses[0] - 1, *stack.addresses[1:]]


def _libwhocall(stack: Stack) -> str:
    trusts = ["context", *["cfi"] * len(stack.addresses)]
    frames = "".join(
        f"#{at}  {address:#018x} {stack.path}(+{address - stack.base:#x}) ? [{trust}]\n"
        for at, (address, trust) in enumerate(zip(_exact_first(stack), trusts))
    )
    maps = "".join(f"mapping: {line}\n" for line in stack.maps.splitlines())
    return (
        f"whocall: {stack.path}[12] crashed: SIGSEGV (signal 11, code 1: address not mapped) at "
        f'address 0x0, thread 12 "prog"\nregisters: rax={stack.addresses[0]:#018x}\n{frames}'
        "end of the stack: the outermost frame\n"
        f"module: {stack.base:#018x}-{stack.code[1]:#018x} bias {stack.base:#x} build id "
        f"{stack.build_id} {stack.path}\n{maps}"
    )


def _systemd(stack: Stack) -> str:
    frames = "".join(
        f"                #{at}  {address:#018x} n/a (prog + {address - stack.base:#x})\n"
        for at, address in enumerate(_exact_first(stack))
    )
    return (
        "Nov 24 07:08:53 host systemd-coredump[99]: Process 98 (prog) of user 0 dumped core.\n"
        f"                Module {stack.path} with build-id {stack.build_id}\n"
        f"                Stack trace of thread 98:\n{frames}"
        "                ELF object binary architecture: AMD x86-64\n"
    )


def _kernel(stack: Stack) -> str:
    begin, end, _ = stack.code
    return (
        f"[ 1485.5] prog[98]: segfault at 0 ip {stack.addresses[0] - 1:016x} sp 00007fff4cb1ee90 "
        f"error 4 in prog[{begin:x}+{end - begin:x}]\n[ 1485.5] Code: f8 e8 c9 00 <48> 89\n"
    )


def _kernel_of_late(stack: Stack) -> str:
    begin, end, offset = stack.code
    pc = stack.addresses[0] - 1
    return (
        f"[ 1485.5] traps: prog[98] general protection fault ip:{pc:x} sp:7fff4cb1ee90 error:0 in "
        f"prog[{pc - begin + offset:x},{begin:x}+{end - begin:x}] likely on CPU 1 (core 1)\n"
    )


def _android(stack: Stack) -> str:
    frames = "".join(
        f"11-24 07:00:00.000  1  1 F DEBUG   :       #{at:02} pc {link - 1:016x}  /data/app/lib/"
        f"arm64/prog (BuildId: {stack.build_id})\n"
        for at, link in enumerate(stack.links())
    )
    return (
        "*** *** *** *** *** *** *** *** *** *** *** *** *** *** *** ***\n"
        "pid: 1, tid: 1, name: prog  >>> com.example <<<\n"
        f"signal 11 (SIGSEGV), code 1 (SEGV_MAPERR), fault addr 0x0\nbacktrace:\n{frames}"
    )


def _chromium(stack: Stack) -> str:
    frames = "".join(
        f"#{at} {address:#x} ({stack.path}+{address - stack.base:#x})\n"
        for at, address in enumerate(stack.addresses)
    )
    return f"Received signal 11 SEGV_MAPERR 000000000000\n{frames}[end of stack trace]\n"


def _node(stack: Stack) -> str:
    frames = "".join(
        f" {at}: {address:#x}  [{stack.path}]\n" for at, address in enumerate(stack.addresses, 1)
    )
    return f"{stack.maps}FATAL ERROR: v8::Context::New()\n{frames}"


def _abseil(stack: Stack) -> str:
    frames = "".join(
        f"    @ {address:#18x}        {16 * at}  (unknown)\n"
        for at, address in enumerate(stack.addresses)
    )
    return f"{stack.maps}*** SIGSEGV received at time=1700000000 on cpu 1 ***\n{frames}"


def _perf(stack: Stack) -> str:
    begin, end, offset = stack.code
    frames = "".join(
        f"\t{address:16x} [unknown] ({stack.path})\n" for address in _exact_first(stack)
    )
    return (
        f"{stack.build_id} {stack.path}\n"
        f"prog  98  1313.4: PERF_RECORD_MMAP2 98/98: [{begin:#x}({end - begin:#x}) @ {offset:#x} "
        f"fe:00 21 3]: r-xp {stack.path}\n"
        "prog  98  1313.5:     250000 cpu-clock: \n"
        f"\tffffffff8158e375 next_uptodate_folio+0x55 ([kernel.kallsyms])\n{frames}\n"
    )


def _perf_without_mappings(stack: Stack) -> str:
    begin, _, offset = stack.code
    frames = "".join(
        f"\t{address - begin + offset:16x} [unknown] ({stack.path})\n"
        for address in _exact_first(stack)
    )
    return f"{stack.build_id} {stack.path}\nprog  98  1313.5:     250000 cpu-clock: \n{frames}\n"


def _gdb_with_libraries(stack: Stack) -> str:
    frames = "".join(
        f"#{at}  {address:#018x} in ?? () from {stack.path}\n"
        for at, address in enumerate(_exact_first(stack))
    )
    from acceptance.helpers.source_programs import run

    headers = run("readelf", "-SW", stack.built.full)
    text = next(line.split() for line in headers.splitlines() if " .text " in line)
    start = int(text[text.index(".text") + 2], 16) + stack.base
    return (
        "From                To                  Syms Read   Shared Object Library\n"
        f"{start:#018x}  {start + 0x1000:#018x}  Yes (*)     {stack.path}\n{frames}"
    )


FORMS: dict[str, Callable[[Stack], str]] = {
    "libwhocall": _libwhocall,
    "systemd": _systemd,
    "kernel": _kernel,
    "kernel, with the place in the file": _kernel_of_late,
    "android": _android,
    "chromium": _chromium,
    "node": _node,
    "abseil": _abseil,
    "perf": _perf,
    "perf, places in the file": _perf_without_mappings,
    "gdb, libraries listed": _gdb_with_libraries,
}
WITH_BUILD_IDS = ("libwhocall", "systemd", "android", "perf", "perf, places in the file")


@pytest.mark.parametrize("form", FORMS)
def test_a_log_in_its_documented_form(tmp_path: Path, stack: Stack, form: str) -> None:
    """Where it tells builds the names' file is called anything."""
    told = form in WITH_BUILD_IDS
    tree = tmp_path / "tree" / "deep" / "er"
    tree.mkdir(parents=True)
    shutil.copy(stack.built.debug, tree / ("xyz" if told else "prog.debug"))
    log = FORMS[form](stack)
    found = document(log, "--symbols", tmp_path / "tree")
    functions = FUNCTIONS[:2] if form.startswith("kernel") else FUNCTIONS
    places = judge(found, stack.built.full, functions=functions)
    assert all(each["verified"] == told for each in places)
    assert {each["format"] for each in places} == {_kind(form)}


@pytest.mark.parametrize("linker", LINKERS)
def test_places_in_a_file_of_which_only_the_debug_file_is_there(
    tmp_path: Path, linker: str
) -> None:
    """It does not tell where the code was; how linkers lay files out does."""
    stack = stack_of(tmp_path, f"-fuse-ld={linker}")
    (tmp_path / "tree").mkdir()
    shutil.copy(stack.built.debug, tmp_path / "tree" / "any")
    judge(document(_perf_without_mappings(stack), "--symbols", tmp_path / "tree"), stack.built.full)


def test_samples_of_perf_without_stacks(tmp_path: Path, stack: Stack) -> None:
    """Each is an instruction, in the line of its event."""
    shutil.copy(stack.built.debug, tmp_path / "any")
    begin, end, offset = stack.code
    log = (
        f"{stack.build_id} {stack.path}\n"
        f"prog  98  1313.4: PERF_RECORD_MMAP2 98/98: [{begin:#x}({end - begin:#x}) @ {offset:#x} "
        f"fe:00 21 3]: r-xp {stack.path}\n"
    ) + "".join(
        f"    prog    98  1313.50000{at}:     250000 cpu-clock:u:      {pc - 1:x} [unknown] "
        f"({stack.path})\n"
        for at, pc in enumerate(stack.addresses)
    )
    places = judge(document(log, "--symbols", tmp_path), stack.built.full)
    assert not any(each["is_return_address"] for each in places)


def _kind(form: str) -> str:
    word = form.split(",")[0]
    return "chromium" if word in ("node", "abseil") else word


def test_names_go_where_the_log_has_none(tmp_path: Path, stack: Stack) -> None:
    """In the words of each kind of log."""
    from acceptance.logs.log_programs import resolved

    shutil.copy(stack.built.debug, tmp_path / "prog.debug")
    expected = {
        "systemd": r"crash+0x",
        "android": "(deep at who.c:",
        "chromium": "deep at who.c:",
    }
    for form, words in expected.items():
        log = FORMS[form](stack)
        text = resolved(log, "--symbols", tmp_path).stdout
        assert words in text, form
        assert " n/a " not in text
        assert len(text.splitlines()) == len(log.splitlines())
