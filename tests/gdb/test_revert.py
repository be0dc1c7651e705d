"""`whocall revert`: gdb is as it was before `whocall repair`."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from plugins import Plugin
from programs import Crash
from sessions import Said, batch
from stacks import PAST_MAIN, functions, nameless, without_whocall

START = ["set startup-with-shell off", "set confirm off"]
REVERT, REPAIR = "whocall revert", "whocall repair"


def parts(said: Said) -> list[str]:
    """What was printed between `mark` and the next one."""
    assert said.status == 0, said.err
    return said.out.split("{mark}\n")[1:]


def marked(*commands: str) -> list[str]:
    return [line for command in commands for line in ("echo {mark}\\n", command)]


LOOK = "thread apply all bt"
NAMES = "info functions sub_"
LIBRARIES = "info sharedlibrary"
OBJFILES = "python for o in gdb.objfiles(): print('file', o.filename)"


def files(said: str) -> list[str]:
    """gdb's object files; the one that comes from the kernel under one name."""
    return [
        "vdso" if re.match("system-supplied|shared object read", name) else name
        for name in re.findall(r"^file (.+)$", said, re.MULTILINE)
    ]


@pytest.mark.parametrize("program", ["chain", "workers", "plugin"])
def test_a_core_looks_as_before(program: str, request: pytest.FixtureRequest) -> None:
    crash = request.getfixturevalue(program)
    look = marked(LOOK, NAMES, LIBRARIES)
    commands = [*look, REPAIR, *look, *marked(REVERT), *look, REPAIR, *look]
    found = parts(batch(commands, [crash.exe, crash.core]))
    before, repaired, after, again = found[:3], found[3:6], found[7:10], found[10:]
    assert after == before
    assert again[0] == repaired[0] != before[0]
    assert "sub_" in repaired[1]
    assert re.fullmatch(r"gdb has its own frames again; [23] files read anew\.\n", found[6])


def test_a_running_program_goes_on_and_breakpoints_stay(plugin: Plugin) -> None:
    known = functions(plugin.library_twin)
    inner, further = f"sub_{known['inner']:x}", known["inner"] - known["middle"]
    commands = [*START, "set breakpoint pending on", "break middle", "run", *marked(LOOK, REPAIR)]
    commands += [f"break {inner}", f"break *($pc + {further})", *marked(LOOK, REVERT, LOOK)]
    commands += marked("info breakpoints", "continue", "whocall", REPAIR)
    commands += marked("info breakpoints", "kill", "info breakpoints")
    before, _, repaired, _, after, breakpoints, again, caller, _, later, *_ = parts(
        batch(commands, [plugin.exe])
    )
    assert after == before
    assert before.splitlines()[2:4] == repaired.splitlines()[2:4]
    assert "in main ()" in repaired
    assert re.search(r"^1 .* y   0x\w+ <middle>$", breakpoints, re.MULTILINE)
    assert re.search(rf"^2 .* y   <PENDING> +{inner}$", breakpoints, re.MULTILINE)
    assert re.search(r"^3 .* y   0x\w+ *$", breakpoints, re.MULTILINE)
    assert "Breakpoint 3, 0x" in again
    assert caller.startswith(f"{inner} was called by middle ")
    assert re.search(rf"^2 .* y   0x\w+ <{inner}>$", later, re.MULTILINE)


def test_separate_debug_files_are_found_again(tmp_path: Path, plugin: Plugin) -> None:
    """Of the library and of the program, by the user's directory."""
    listed = []
    for file, twin in ((plugin.exe, plugin.twin), (plugin.library, plugin.library_twin)):
        said = subprocess.run(["readelf", "-n", file], capture_output=True, text=True, check=True)
        match = re.search(r"Build ID: (\w\w)(\w+)", said.stdout)
        assert match is not None
        place = tmp_path / ".build-id" / match.group(1) / f"{match.group(2)}.debug"
        place.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["objcopy", "--only-keep-debug", twin, place], check=True)
        listed.append(str(place))
    commands = [f"set debug-file-directory {tmp_path}", f"file {plugin.exe}"]
    commands += [f"core-file {plugin.core}", *marked(OBJFILES, LOOK, REPAIR, OBJFILES)]
    commands += [REVERT, *marked(OBJFILES, LOOK)]
    before, stack, _, repaired, after, again = parts(batch(commands))
    assert set(listed) <= set(files(before)) == set(files(after)) < set(files(repaired))
    assert again == stack
    assert "inner (p=0x0)" in stack


def test_a_program_that_is_missing_and_whose_pages_are_in_the_core(
    plugin: Plugin, tmp_path: Path
) -> None:
    """gdb has no object file for it: files of ours stand alone."""
    gone = Crash(tmp_path / "gone", plugin.twin, tmp_path / "gone.dump")
    gone.exe.write_bytes(plugin.exe.read_bytes())
    gone.exe.chmod(0o755)
    pages = "open('/proc/%d/coredump_filter' % gdb.selected_inferior().pid, 'w').write('0x7f')"
    dump = ["starti", f"python {pages}", "continue", f"generate-core-file {gone.core}"]
    assert without_whocall([*START, *dump], [gone.exe]).status == 0
    gone.exe.unlink()
    commands = [f"core-file {gone.core}", PAST_MAIN, *marked(LOOK, OBJFILES, REPAIR, LOOK, REVERT)]
    commands += marked(LOOK, OBJFILES, REPAIR, LOOK)
    before, before_files, _, repaired, _, after, after_files, _, again = parts(batch(commands))
    (using,) = nameless([(0, "using")], plugin.twin)
    names = re.findall(r"^#\d+ .* in (\w+) \(", repaired, re.MULTILINE)
    assert names[1:5] == ["middle", "entered", using[1], "main"]
    assert names[-1] == "_start"
    assert after == before
    # From gdb 18 on the one that comes from the kernel cannot be had back without a program.
    assert {*files(after_files), "vdso"} == set(files(before_files))
    assert again == repaired


def test_a_program_that_is_gone(tmp_path: Path, chain: Crash) -> None:
    """gdb cannot read it anew: nothing is taken back by halves, and nothing lost."""
    exe = Path(shutil.copy2(chain.exe, tmp_path / "moved"))
    away, back = tmp_path / "moved", tmp_path / "kept"
    commands = [REPAIR, *marked(LOOK), f"shell mv {away} {back}"]
    commands += [f"python\ntry: gdb.execute({REVERT!r})\nexcept gdb.error as e: print(e)"]
    commands += [*marked(LOOK), f"shell mv {back} {away}", *marked(REVERT, LOOK)]
    repaired, still, reverted, after = parts(batch(commands, [exe, chain.core]))
    said = f"{exe} is gone, and gdb would have to read it anew. Put it back, or start gdb again.\n"
    assert repaired.endswith(said)
    assert still == repaired.removesuffix(said)
    assert reverted == "gdb has its own frames again; 2 files read anew.\n"
    assert "sub_" not in after != still
