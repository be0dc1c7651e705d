"""What gdb's `bt` finds, put into buckets by the published rules of CASR and of satyr.

CASR (github.com/ispras/casr, stacktrace.rs): frames of the runtime are left out by name and by
file; two frames are equal by source line where there is one, else by module and offset. Stacks are
deduplicated by equality, or clustered: position-dependent similarity with the coefficients 0.04 and
0.13, complete linkage up to the distance 0.3.

satyr (github.com/abrt/satyr, core_frame.c, core_thread.c): what stands inside of the outermost exit
frame is left out; a frame is its build id and offset, a stack its innermost frames, of which abrt
takes three.
"""

from __future__ import annotations

import math
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

from corpus.corefile import Core

Key = tuple[str, int]
_FRAME = re.compile(r"#\d+\s+(?:0x([0-9a-f]+) in )?(\S+)")
_RUNTIME = re.compile(
    r"(abort|exit|raise|gsignal|tgkill|pthread_kill|__pthread_kill|__chk_fail|__fortify_fail"
    r"|(__)?(memcmp|memcpy|memmove|memset|strcmp|strcpy|strdup|strlen|strncpy)|__GI_|__assert_"
    r"|__cxa_(throw|rethrow)|__libc_|__run_exit_handlers|_start|calloc|free|malloc|realloc|operator"
    r"|std::__terminate|new|delete)"
)
_RUNTIME_FILE = re.compile(r".*(libc\.so|libstdc\+\+\.so|libpthread|ld-linux)")
_EXITS = {"raise", "abort", "__GI_raise", "__GI_abort", "exit", "__chk_fail", "__stack_chk_fail"}
_EXITS |= {"kill", "__run_exit_handlers"}
THRESHOLD = 0.3
DEEP = 300
"""Frames that are compared: what further ones weigh is less than a hundred thousandth."""


def gdb_backtrace(core: Path, program: Path) -> str:
    """What `gdb -batch -ex bt` prints."""
    return subprocess.run(
        ["gdb", "-nx", "-batch", "-ex", "bt", str(program), str(core)],
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        timeout=120,
    ).stdout


def _frames(text: str, core: Path) -> list[tuple[str, Key]]:
    """Name, module and offset of each frame with an address; the module "" is none."""
    mappings = Core(core).mappings
    found = []
    for line in text.splitlines():
        match = _FRAME.match(line)
        if match is None or match[1] is None:
            continue
        address = int(match[1], 16)
        mapping = next((each for each in mappings if each.start <= address < each.end), None)
        key = ("", address)
        if mapping is not None:
            key = (mapping.path, address - mapping.start + mapping.offset)
        found.append((match[2], key))
    return found


def casr_stack(text: str, core: Path) -> tuple[Key, ...]:
    """What CASR compares; offsets are of the file, its name with its folder."""
    return tuple(
        key
        for name, key in _frames(text, core)
        if not _RUNTIME.match(name) and not _RUNTIME_FILE.match(key[0])
    )


def satyr_stack(text: str, core: Path) -> tuple[Key, ...]:
    """The frames that make satyr's hash; the path of a program stands for its build id, since no
    two builds lie in one place here.
    """
    frames = _frames(text, core)
    exits = [at for at, (name, _) in enumerate(frames) if name in _EXITS]
    return tuple(key for _, key in frames[exits[-1] + 1 if exits else 0 :][:3])


def _similarity(one: Sequence[Key], other: Sequence[Key]) -> float:
    before = [0.0] * (len(other) + 1)
    for row, frame in enumerate(one, 1):
        line = [0.0]
        for column, opposite in enumerate(other, 1):
            equal = math.exp(-0.04 * min(row, column) - 0.13 * abs(row - column))
            diagonal = before[column - 1] + (equal if frame == opposite else 0.0)
            line.append(max(before[column], line[-1], diagonal))
        before = line
    most = sum(math.exp(-0.04 * at) for at in range(1, min(len(one), len(other)) + 1))
    return before[-1] / most if most else float(list(one) == list(other))


def _distances(stacks: Sequence[tuple[Key, ...]]) -> dict[tuple[int, int], float]:
    """Of pairs that may be near: stacks of which no module is the same are at distance 1."""
    modules = [{module for module, _ in stack} for stack in stacks]
    return {
        (beside, at): 1 - _similarity(stacks[beside][:DEEP], stacks[at][:DEEP])
        for at in range(len(stacks))
        for beside in range(at)
        if modules[at] & modules[beside]
    }


def casr_clusters(stacks: Sequence[tuple[Key, ...]]) -> list[int]:
    """The cluster of each stack, by complete linkage."""
    different = sorted(set(stacks))
    distances = _distances(different)
    clusters = {at: {at} for at in range(len(different))}
    while distances:
        (into, gone), widest = min(distances.items(), key=lambda item: item[1])
        if widest >= THRESHOLD:
            break
        clusters[into] |= clusters.pop(gone)
        for other in clusters.keys() - {into}:
            first = distances.pop((min(into, other), max(into, other)), 1.0)
            second = distances.pop((min(gone, other), max(gone, other)), 1.0)
            if max(first, second) < 1.0:
                distances[min(into, other), max(into, other)] = max(first, second)
        del distances[into, gone]
    number = {different[at]: name for name, cluster in clusters.items() for at in cluster}
    return [number[stack] for stack in stacks]
