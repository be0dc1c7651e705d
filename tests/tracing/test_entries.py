"""Hooks at the beginnings of functions alone: the tree of calls is that of hooks at both ends."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from tracing.lab import NATIVE, PROGRAMS, STATIC, Ran, build, profile, run, said, whocall
from tracing.randomprograms import source

WAYS = {
    "pg": ("-pg",),
    "mfentry": ("-pg", "-mfentry"),
    "patched": ("-fpatchable-function-entry=5",),
}
PATCHED = {"WHOCALL_TRACE_PATCH": "1"}
PLAIN = {
    "O0": ("-O0",),
    "O2": ("-O2", "-fno-inline", "-fno-optimize-sibling-calls", "-fno-ipa-cp", "-fno-ipa-sra"),
    "O2-no-tables": ("-O2", "-fno-inline", "-fno-optimize-sibling-calls", "-fno-ipa-cp",
                     "-fno-ipa-sra", "-fno-asynchronous-unwind-tables"),
}  # fmt: skip
_COLUMNS = 35  # of a line, before what is indented
_BEGIN = re.compile(r"(?P<indent> +)(?P<name>[^\s(]+).*?(?: \{)?  <- ")


def compiled(
    folder: Path, text: Path, way: str, *flags: str, compiler: str = "gcc", hooks: str = ""
) -> Path:
    """A program that is compiled one way, and linked as that wants."""
    folder.mkdir(exist_ok=True)
    made = folder / text.stem
    objects = folder / "object.o"
    command = [compiler, "-g", "-w", *flags, *WAYS.get(way, ()), "-c", text, "-o", objects]
    subprocess.run([*map(str, command)], check=True)
    kept = ["-Wl,-u,whocall_trace_patch"] if way == "patched" else []
    link = [compiler, objects, *kept, STATIC, "-pthread", "-ldl", "-o", made]
    subprocess.run([*map(str, link)], check=True)
    return made


def begins(ran: Ran) -> list[tuple[int, str]]:
    """Depth and name of each call, in their order."""
    assert ran.core is not None, ran.output
    found = [_BEGIN.match(line, _COLUMNS) for line in said("trace", ran.core).splitlines()]
    return [
        (len(each["indent"]) // 2, re.sub(r"\..*|\(.*", "", each["name"])) for each in found if each
    ]


@pytest.mark.parametrize("plain", PLAIN)
@pytest.mark.parametrize("way", WAYS)
def test_random_programs(way: str, plain: str, tmp_path: Path) -> None:
    calls = wrong = 0
    for seed in (0, 3, 6):
        text = tmp_path / f"random{seed}.c"
        text.write_text(source(seed))
        whole = run(build(tmp_path, text, *PLAIN[plain]))
        alone = run(compiled(tmp_path / way, text, way, *PLAIN[plain]), **PATCHED)
        wanted, found = begins(whole), begins(alone)
        assert [name for _, name in found] == [name for _, name in wanted], seed
        calls += len(wanted)
        wrong += sum(one != other for one, other in zip(found, wanted))
    # Without frame pointers one that has returned may pass for the caller of what its own caller
    # calls next.
    assert calls > 3000
    assert wrong <= (0 if way == "pg" else calls // 100)


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("way", ["pg", "mfentry"])
@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_counts(way: str, compiler: str, level: str, tmp_path: Path) -> None:
    """Arguments of the functions that hooks begin, floating ones too, arrive as they were."""
    exe = compiled(tmp_path / way, PROGRAMS / "handed.c", way, level, compiler=compiler)
    ran = run(exe)
    assert ran.output.splitlines()[0] == "36 44.5 120 3.25"
    assert ran.core is not None
    calls = profile(ran.core)
    assert {name: calls[name] for name in ("six", "ten", "mixed", "leaf")} == {
        "six": 20, "ten": 20, "mixed": 20, "leaf": 60,
    }  # fmt: skip
    tree = begins(ran)
    depths = {name: {depth for depth, each in tree if each == name} for _, name in tree}
    outer = min(depths["main"])
    assert depths["six"] == depths["ten"] == depths["mixed"] == {outer + 1}
    assert depths["leaf"] == {outer + 2}


def test_a_function_is_left_by_a_jump_and_by_an_exception(tmp_path: Path) -> None:
    for way in WAYS:
        exe = compiled(tmp_path / way, PROGRAMS / "jumps.cpp", way, "-O1", compiler="g++")
        ran = run(exe, **PATCHED)
        tree = begins(ran)
        outer = min(depth for depth, _ in tree)
        after = [depth for depth, name in tree if name == "after"]
        assert after == [outer + 1, outer + 1]
        assert "not seen to end" in said("trace", ran.core)
        assert "left without a return" not in said("trace", ran.core)


def test_what_is_told_of_times(tmp_path: Path) -> None:
    exe = compiled(tmp_path / "pg", PROGRAMS / "handed.c", "pg", "-O1")
    core = run(exe).core
    assert core is not None
    tree = said("trace", core)
    assert "calls, whose returns are not seen: each took less than is told" in tree
    assert re.search(r"<\d+ ns +leaf  <- ", tree)
    events = json.loads(said("trace", core, "--json"))["traceEvents"]
    ends = {event["args"].get("end") for event in events if event["ph"] == "X"}
    assert ends == {"by then", "not seen"}
    refused = whocall("compare", core, "--shadow")
    assert refused.returncode == 1
    assert "whose hooks see no returns" in refused.stderr


def test_no_hook_is_written_where_nobody_asks(tmp_path: Path) -> None:
    exe = compiled(tmp_path / "p", PROGRAMS / "handed.c", "patched", "-O1")
    ran = run(exe)
    assert ran.core is not None
    assert whocall("trace", ran.core).returncode == 1


@pytest.mark.parametrize(
    ("name", "compilers", "emulator"),
    [("i386", ["gcc", "-m32"], []), ("aarch64", ["aarch64-linux-gnu-gcc"], ["qemu-aarch64"]),
     ("arm", ["arm-linux-gnueabihf-gcc"], ["qemu-arm"])],
)  # fmt: skip
def test_other_sets(name: str, compilers: list[str], emulator: list[str], tmp_path: Path) -> None:
    sources = sorted((NATIVE / "runtime" / "trace").glob("*.c"))
    flags = ["-g", "-w", "-O2", f"-I{NATIVE}", "-fvisibility=hidden"]
    parts = []
    for each in sources:
        parts.append(tmp_path / f"{each.stem}.o")
        more = ["-mgeneral-regs-only"] if name == "aarch64" else []
        subprocess.run([*compilers, *flags, *more, "-c", each, "-o", parts[-1]], check=True)
    for level in ("-O0", "-O2"):
        made = tmp_path / f"handed{level}"
        text = PROGRAMS / "handed.c"
        subprocess.run(
            [*compilers, "-g", "-w", level, "-pg", "-c", text, "-o", f"{made}.o"], check=True
        )
        link = [*compilers, f"{made}.o", *parts, "-pthread", "-ldl", "-static", "-o", made]
        subprocess.run([*map(str, link)], check=True)
        trace = tmp_path / f"trace{level}"
        ran = subprocess.run(
            [*emulator, made], capture_output=True, text=True, check=False, cwd=tmp_path,
            env={"PATH": "/usr/bin:/bin", "WHOCALL_TRACE_FILE": str(trace)},
        )  # fmt: skip
        assert ran.stdout == "36 44.5 120 3.25\n"
        calls = profile(trace)
        assert {each: calls[each] for each in ("six", "ten", "mixed", "leaf")} == {
            "six": 20, "ten": 20, "mixed": 20, "leaf": 60,
        }  # fmt: skip
