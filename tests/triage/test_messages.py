"""What a program said before it aborted: kept by the C library, or found on the stack."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import cast

import pytest
from corpus.dumper import leaving_core

from triage.crashes import limits
from whocall.base.file_search import Search
from whocall.base.process_image import ProcessImage
from whocall.triage.examine import examine
from whocall.triage.facts import Facts
from whocall.triage.message import on_the_stack

LONG = "balance >= 0 && " * 40 + "paid"
ASSERTING = """
#include <assert.h>
int main(int argc, char **argv) {
  volatile int balance = -argc, paid = 0; (void)argv;
  assert(%s);
  return 0; }
"""


def message(folder: Path, source: str, *flags: str) -> str | None:
    """What triage says of a stripped program's core."""
    text, exe = folder / "prog.c", folder / "prog"
    text.write_text(source)
    subprocess.run(["gcc", "-O1", "-s", *flags, "-o", exe, text], check=True)
    subprocess.run(
        leaving_core([exe]), cwd=folder, check=False, stderr=subprocess.DEVNULL, preexec_fn=limits
    )
    (core,) = folder.glob("core*")
    found = examine(str(core), Search(), Facts(None))
    assert found["signal"] == "SIGABRT"
    return cast("str | None", found["message"])


@pytest.mark.parametrize("flags", [(), ("-m32",)], ids=["x86_64", "i386"])
def test_the_c_librarys_note_is_read_whole(tmp_path: Path, flags: tuple[str, ...]) -> None:
    """However long it is, and wherever pointers to it are left."""
    said = message(tmp_path, ASSERTING % LONG, *flags)
    assert said is not None
    assert said.endswith(f": main: Assertion `{LONG}' failed.")


class Memory:
    """Of a process: bytes by address."""

    pointer_size = 8
    byte_order = "little"

    def __init__(self, pieces: dict[int, bytes]) -> None:
        self.pieces = pieces

    def read(self, address: int, size: int) -> bytes:
        return self.pieces.get(address, b"")[:size]


STACK, TEXT = 0x7FFC_0000, 0x4000_0000
SAID = b"prog: a.c:7: f: Assertion `p' failed"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (SAID + b".\n\0behind", SAID.decode()),
        (b"\0\x10\0\0" + SAID + b".\n\0", SAID.decode()),  # as glibc notes it
        (b"double free or corruption (out)\0", "double free or corruption (out)"),
        (b"%s: Assertion `%s' failed\0", None),
        (b"all is well\0", None),
        (b"", None),
    ],
)
def test_a_sentence_on_the_stack_is_known_by_its_words(text: bytes, found: str | None) -> None:
    words = [7, 0x5000_0000, TEXT, STACK]
    stack = b"".join(word.to_bytes(8, "little") for word in words)
    memory = Memory({STACK: stack, TEXT: text})
    assert on_the_stack(cast(ProcessImage, memory), STACK, STACK + len(stack)) == found
    assert on_the_stack(cast(ProcessImage, memory), STACK, STACK + 16) is None
