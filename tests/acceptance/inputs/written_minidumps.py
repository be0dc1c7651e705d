"""Minidumps of a core's process, put together by yaml2obj: the container format is LLVM's.

The layouts of CPU contexts are stated here once more, each as the format's headers have it.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import whocall
from acceptance.inputs.crashes import ran
from whocall.base.process_image import ProcessImage

Registers = dict[str, int]


def _numbered(found: Registers, prefix: str, count: int) -> list[int]:
    return [found.get(f"{prefix}{number}", 0) for number in range(count)]


def arm(found: Registers) -> bytes:
    """MDRawContextARM up to cpsr, and room for what follows."""
    values = [*_numbered(found, "r", 13), found["sp"], found["lr"], found["pc"]]
    return struct.pack("<I16II", 0x40000006, *values, found.get("cpsr", 0)) + bytes(296)


def _aarch64(found: Registers) -> list[int]:
    return [*_numbered(found, "x", 31), found["sp"], found["pc"]]


def arm64(found: Registers) -> bytes:
    """CONTEXT of Windows, which newer Breakpads and Crashpad write."""
    return struct.pack("<II33Q", 0x400007, found.get("pstate", 0), *_aarch64(found)) + bytes(640)


def arm64_of_breakpad(found: Registers) -> bytes:
    """MDRawContextARM64_Old."""
    return struct.pack("<Q33QI", 0x80000006, *_aarch64(found), 0) + bytes(520)


FORMS: dict[str, tuple[str, Callable[[Registers], bytes]]] = {
    "arm": ("ARM", arm),
    "arm64": ("ARM64", arm64),
    "arm64 of old": ("BP_ARM64", arm64_of_breakpad),
}


def _module(image: ProcessImage) -> str:
    (program,) = [module for module in image.modules if module.is_executable]
    record = "4270454C"[6:8] + "4270454C"[4:6] + "4270454C"[2:4] + "4270454C"[:2]
    record += program.build_id_in_memory or program.build_id_on_disk
    return f"""
      - Base of Image: {program.begin:#x}
        Size of Image: {program.end - program.begin:#x}
        Module Name: {program.path}
        CodeView Record: {record}"""


def _stack(image: ProcessImage, sp: int) -> str:
    data = image.read(sp, 16384)
    return f"""
          Start of Memory Range: {sp:#x}
          Content: {data.hex()}"""


def write(core: Path, exe: Path, form: str, place: Path) -> Path:
    """The minidump, with the stack of the crashed thread alone and one module."""
    processor, context = FORMS[form]
    with whocall.open_core(str(core), str(exe)) as image:
        thread = image.threads[0]
        packed = context({**thread.registers, "sp": thread.sp, "pc": thread.pc}).hex()
        yaml = f"""--- !minidump
Streams:
  - Type: SystemInfo
    Processor Arch: {processor}
    Platform ID: Android
    CPU:
      CPUID: 0
  - Type: ThreadList
    Threads:
      - Thread Id: {thread.lwp}
        Context: {packed}
        Stack:{_stack(image, thread.sp)}
  - Type: ModuleList
    Modules:{_module(image)}
  - Type: Exception
    Thread ID: {thread.lwp}
    Exception Record:
      Exception Code: 11
      Exception Address: 0x0
    Thread Context: {packed}
...
"""
    source = place.with_suffix(".yaml")
    source.write_text(yaml)
    ran(["yaml2obj", source, "-o", place])
    return place
