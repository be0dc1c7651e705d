"""Whether a fault of AArch64's is told as a read, a write or a jump, of qemu's cores: these hold no
word of the kernel's, so the instruction and the map of the memory have to show it.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from corpus.crash import ENVIRONMENT, set_limits
from places.needs import OWN_CORES, require

import whocall
from ports.sets import SETS
from whocall.base.file_search import Search
from whocall.base.process_image import Walk
from whocall.report.causes.happened import what_happened

AARCH64 = SETS["aarch64"]
GUARD = 0x10004000
# Of each: the code, which has GUARD, where nothing is allowed, in x0, and good memory in x1; what
# it does, of how many bytes, and how far from there.
CASES = {
    "load": ("ldr w2, [x0, #8]", "read", 4, 8),
    "byte": ("ldrb w2, [x0, #3]", "read", 1, 3),
    "signed": ("ldrsw x2, [x0, #4]", "read", 4, 4),
    "half": ("strh w2, [x0, #2]", "write", 2, 2),
    "store": ("str x2, [x0, #16]", "write", 8, 16),
    "afterwards": ("str x2, [x0], #16", "write", 8, 0),
    "before": ("ldr x2, [x0, #16]!", "read", 8, 16),
    "pair": ("ldp x2, x3, [x0, #32]", "read", 16, 32),
    "vectors": ("stp q0, q1, [x0]", "write", 32, 0),
    "float": ("ldr s0, [x0, #4]", "read", 4, 4),
    "list": ("st1 {{v0.16b}}, [x0]", "write", None, 0),
    "exclusive": ("ldxr x2, [x0]", "read", 8, 0),
    "pushed": ("add x4, x0, #32; mov sp, x4; stp x29, x30, [sp, #-32]!", "write", 16, 0),
    "by an index": ("mov x3, #2; ldr x2, [x0, x3, lsl #3]", "read", 8, 16),
    "jump": ("br x0", "execute", None, 0),
    "jump to data": ("br x1", "execute", None, -4096),
}
SOURCE = r"""
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/mman.h>
extern void (*const cases[])(char *bad, char *good);
static void map(char *at, long size, int how) {
  mmap(at, size, how, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}
int main(void) {
  char *guard = (char *)GUARD;
  map(guard - 0x4000, 0x4000, PROT_READ | PROT_WRITE);
  map(guard, 0x1000, PROT_NONE);
  cases[atoi(getenv("HOW"))](guard, guard - 4096);
  return 0;
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    require(OWN_CORES)
    text = [f"#define GUARD {GUARD:#x}UL", SOURCE, '__asm__(".text\\n"']
    for number, (code, *_) in enumerate(CASES.values()):
        body = code.format()
        text.append(f'".type case{number},%function\\ncase{number}: {body}\\nret\\n"')
        text.append(f'".size case{number},.-case{number}\\n"')
    text.append(");")
    text += [f"extern void case{number}(char *, char *);" for number in range(len(CASES))]
    names = ", ".join(f"case{number}" for number in range(len(CASES)))
    text.append(f"void (*const cases[])(char *, char *) = {{{names}}};")
    exe = tmp_path_factory.mktemp("fault access") / "faults"
    command = [f"{AARCH64.triple}-gcc", "-w", "-O1", "-xc", "-", "-o", str(exe)]
    subprocess.run(command, input="\n".join(text), text=True, check=True)
    return exe


def core_of(exe: Path, number: int) -> Path:
    place = exe.parent / str(number)
    place.mkdir()
    subprocess.run(
        [AARCH64.qemu, "-L", AARCH64.sysroot, str(exe)],
        cwd=place, env={**ENVIRONMENT, "HOW": str(number)}, check=False, timeout=60,
        capture_output=True, preexec_fn=lambda: set_limits(stack=512 * 1024, dumped=0),
    )  # fmt: skip
    (core,) = place.glob("qemu_*.core")
    return core


@pytest.mark.parametrize("name", CASES)
def test_the_verb_is_told(name: str, program: Path) -> None:
    _, does, size, at = CASES[name]
    core = core_of(program, list(CASES).index(name))
    with whocall.open_core(core, program, search=Search(sysroot=AARCH64.sysroot)) as image:
        index = image.index_of_crash()
        told = what_happened(image, index, image.backtrace(index, Walk(past_main=True)))
    if does == "execute":  # by nothing but the program counter
        assert told["facts"][0]["kind"] in ("wild-call", "wild-jump", "null-call"), told
        assert told["fault_access"] in (does, None)
        return
    assert (told["fault_access"], told["fault_size"]) == (does, size), told
    assert int(told["fault_address"], 16) == GUARD + at
