"""A program crashes in a library; then the library is replaced by another build, in which the
functions lie elsewhere. A name from the new file is wrong, however well it reads.

gdb, lldb and eu-stack are asked too; what they say is shown below the results, not judged.
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from oracles import eu_stack, gdb_bt
from oracles.tools import environment, run

from acceptance.helpers.scoreboard import Scoreboard
from acceptance.modules.module_crashes import (
    CHAIN,
    IN_LIBRARY,
    LIBRARY,
    SCRIPT,
    Crashed,
    answer,
    build_directory,
    build_id,
    chain_of,
    crashed,
    library,
    modules,
    names,
    stripped,
    whocall,
)

MOVED = (
    "".join(
        f"""
int added_{name}(int v) {{ if (v > 5) __asm__ volatile(".skip 150, 0x90"); return v * {factor}; }}
"""
        for factor, name in enumerate(("one", "two", "three", "four"), 3)
    )
    + LIBRARY
)
"""Where the functions were, the new build has others."""


@pytest.fixture(scope="module", params=["stripped", "unstripped"])
def replaced(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Crashed, str]:
    """The crash, and the build id of the library that ran. Its place holds another build."""
    crash = crashed(tmp_path_factory.mktemp("replaced"))
    ran = build_id(crash.library)
    other = library(crash.directory / "other" / "libsteps.so", MOVED)
    if request.param == "stripped":
        stripped(other, crash.library)
    else:
        crash.library.write_bytes(other.read_bytes())
    assert build_id(crash.library) != ran
    return crash, ran


def truth(crash: Crashed, tmp_path: Path) -> list[int]:
    """The pcs of the chain, from gdb with both files as they were."""
    for name in ("prog", "libsteps.so"):
        (tmp_path / name).write_bytes(crash.twin(name).read_bytes())
    settings = (f"set sysroot {tmp_path}", f"set solib-search-path {tmp_path}")
    [thread] = gdb_bt.of_core(crash.core, tmp_path / "prog", settings=settings).values()
    assert [frame.name for frame in thread.frames[: len(CHAIN)]] == list(CHAIN)
    return [frame.pc for frame in thread.frames[: len(CHAIN)]]


def wrong(pcs: Sequence[int], said: Sequence[tuple[int, str | None]]) -> int:
    """How many names of frames of the chain are not theirs; sub_1136 is no name."""
    true = dict(zip(pcs, CHAIN))
    named = [(pc, name) for pc, name in said if pc in true and name]
    return sum(1 for pc, name in named if not name.startswith(("??", "sub_")) and name != true[pc])


def lldbs(core: Path, exe: Path) -> list[tuple[int, str | None]]:
    """Address and name of each frame, from `frame #0: 0x... module`name + 4`."""
    command = ["lldb", "--no-lldbinit", "--batch", "-o"]
    command += [f'target create --core "{core}" "{exe}"', "-o", "thread backtrace"]
    ran = subprocess.run(
        command, env=environment(), stdin=subprocess.DEVNULL, capture_output=True, text=True,
        check=False, timeout=60,
    )  # fmt: skip
    found: list[tuple[int, str | None]] = []
    for line in ran.stdout.splitlines():
        if "frame #" in line and ": 0x" in line:
            pc, _, rest = line.split(": 0x", 1)[1].partition(" ")
            name = rest.partition("`")[2].partition(" ")[0].partition("(")[0]
            found.append(
                (int(pc, 16), None if name.startswith("___lldb_unnamed") else name or None)
            )
    return found


def test_no_name_is_taken_from_it(
    request: pytest.FixtureRequest,
    replaced: tuple[Crashed, str],
    tmp_path: Path,
    scoreboard: Scoreboard,
) -> None:
    crash, ran = replaced
    kind = request.node.callspec.params["replaced"]
    pcs = truth(crash, tmp_path)
    document = answer("bt", crash.core)
    frames = document["threads"][0]["frames"]
    ours = [(int(frame["pc"], 16), frame["function"]) for frame in frames]
    module = modules(answer("modules", crash.core))["libsteps.so"]
    begin, end = int(module["begin"], 16), int(module["end"], 16)
    assert [name for pc, name in ours if begin <= pc < end and name is not None] == []
    assert wrong(pcs, ours) == 0
    assert module["state"] == "MISMATCH"
    assert module["symbol_sources"] is None and module["cfi_bytes"] is None
    assert (module["build_id_in_memory"], module["build_id_on_disk"]) == (
        ran,
        build_id(crash.library),
    )

    [gdbs] = gdb_bt.of_core(crash.core, crash.exe).values()
    [eus] = eu_stack.of_core(crash.core, crash.exe).threads.values()
    voices: dict[str, Sequence[tuple[int, str | None]]] = {
        "whocall": ours,
        "gdb": [(frame.pc, frame.name) for frame in gdbs.frames],
        "lldb": lldbs(crash.core, crash.exe),
        "eu-stack": [(frame.pc, frame.name) for frame in eus],
    }
    table = scoreboard.table(
        f"A library replaced by another build ({kind}) after the crash",
        "voice",
        "frames found",
        "of the library",
        "wrong names",
        "first names",
    )
    for voice, said in voices.items():
        found = {pc for pc, _ in said} & set(pcs)
        inside = found & set(pcs[:IN_LIBRARY])
        shown = " ".join(name or "??" for _, name in said[:4])
        table.rows.append((voice, len(found), len(inside), wrong(pcs, said), shown))


def loud(text: str, crash: Crashed, ran: str) -> None:
    """Both build ids and the file, in a warning."""
    warnings = [line for line in text.splitlines() if line.startswith("warning: MISMATCH")]
    assert len(warnings) == 1, text
    for word in (str(crash.library), ran, build_id(crash.library), "no names", "in it."):
        assert word in warnings[0]


def test_it_is_said_aloud(replaced: tuple[Crashed, str]) -> None:
    crash, ran = replaced
    loud(whocall("bt", crash.core).stderr, crash, ran)
    loud(whocall("compare", crash.core).stderr, crash, ran)
    for command in ("bt", "compare"):
        warnings = answer(command, crash.core)["warnings"]
        assert [text for text in warnings if "MISMATCH" in text and ran in text]
    said = whocall("modules", crash.core).stdout.splitlines()
    row = next(at for at, line in enumerate(said) if line.endswith(str(crash.library)))
    assert " MISMATCH " in said[row]
    below = "\n".join(said[row + 1 : row + 3])
    assert ran in below
    assert build_id(crash.library) in below
    assert "--search DIR" in below
    refused = whocall("functions", crash.core, "--module", "libsteps.so")
    assert refused.returncode == 1
    assert refused.stdout == ""
    assert ran in refused.stderr


def test_it_is_said_aloud_in_gdb(replaced: tuple[Crashed, str]) -> None:
    crash, ran = replaced
    for command in ("whocall bt", "whocall compare", "whocall", "whocall symbol $pc"):
        line = ["gdb", "-nx", "-q", "-batch", "-ex", f"source {SCRIPT}", "-ex", command]
        said = subprocess.run(
            [*line, str(crash.exe), str(crash.core)],
            env={**environment(), "TERM": "dumb", "WHOCALL_BUILD_DIR": build_directory()},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        loud(said.stderr, crash, ran)


def test_nothing_is_said_where_no_frame_lies(replaced: tuple[Crashed, str]) -> None:
    crash, _ = replaced
    assert "MISMATCH" not in whocall("bt", crash.core, "--count", "-1").stderr
    address = next(
        module["begin"]
        for name, module in modules(answer("modules", crash.core)).items()
        if name == "prog"
    )
    assert "MISMATCH" not in whocall("symbol", crash.core, address).stderr


def test_the_right_build_fixes_it(replaced: tuple[Crashed, str], tmp_path: Path) -> None:
    """Under its name in another directory; the wrong one at its place is passed over."""
    crash, ran = replaced
    (tmp_path / "libsteps.so").write_bytes(crash.twin("libsteps.so").read_bytes())
    ran_bt = whocall("bt", crash.core, "--search", tmp_path)
    assert "MISMATCH" not in ran_bt.stderr
    found = chain_of(names(answer("bt", crash.core, "--search", tmp_path)))
    assert found[:IN_LIBRARY] == CHAIN[:IN_LIBRARY]
    module = modules(answer("modules", crash.core, "--search", tmp_path))["libsteps.so"]
    assert (module["state"], module["build_id_on_disk"]) == ("found", ran)


def test_a_debug_file_of_the_wrong_build_says_nothing(
    replaced: tuple[Crashed, str], tmp_path: Path
) -> None:
    """Not even one that lies where the right one would."""
    crash, ran = replaced
    place = tmp_path / ".build-id" / ran[:2] / f"{ran[2:]}.debug"
    place.parent.mkdir(parents=True)
    twin = crash.directory / "other" / "libsteps.so"
    run(["objcopy", "--only-keep-debug", str(twin), str(place)])
    document = answer("bt", crash.core, "--debug-directory", tmp_path)
    assert not set(CHAIN[:IN_LIBRARY]) & set(names(document))
