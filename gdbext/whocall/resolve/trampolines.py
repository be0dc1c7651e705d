"""The code that a signal handler returns to.

The frame that such code calls is one that a signal interrupted: its address is that of the next
instruction, not one that a call returns to. C libraries without symbols do not name the code, but
it has to be just these bytes: debuggers look for them too.
"""

from __future__ import annotations

from whocall.base.elf_head import ElfHead
from whocall.base.native_module import native
from whocall.base.regular_file import open_regular

NAMES = frozenset(
    (
        "__restore_rt",
        "__restore",
        "__kernel_rt_sigreturn",
        "__kernel_sigreturn",
        "__default_rt_sa_restorer",
    )
)


def is_trampoline(head: ElfHead, rva: int) -> bool:
    """Whether such code begins at a link address of the file."""
    wanted = tuple(native.signal_trampolines(head.machine))
    for part in head.segments:
        if part.address <= rva < part.address + part.file_size:
            try:
                with open_regular(head.path, buffer=64) as file:
                    file.seek(part.offset + rva - part.address)
                    return file.read(16).startswith(wanted)
            except (OSError, ValueError, OverflowError):
                return False
    return False
