"""What is known of an instruction set, by its name: the native module's own facts."""

from __future__ import annotations

from functools import cache

from whocall.base.native_errors import native_errors
from whocall.base.native_module import native
from whocall.base.records import dataclass


@dataclass(frozen=True)
class Architecture:
    """The facts that are asked for here."""

    family: str  # "x86" of x86_64, i386 and x32
    image_name: str  # in indices of container images; "" where none is known
    calls_push: bool  # the return address, which others put into a register
    registers: tuple[str, ...]  # gdb's names by number, up to the pc
    mode_bit: int  # of a code pointer: ARM's, which says that code is T32


@cache
def architecture(name: str) -> Architecture:
    """Raises Error for a name that is not of native.architectures()."""
    with native_errors():
        facts = native.architecture_facts(name)
    return Architecture(
        facts["family"],
        facts["image_name"],
        facts["calls_push"],
        tuple(facts["registers"]),
        facts["mode_bit"],
    )


def is_x86(name: str) -> bool:
    """Of 32 or of 64 bits."""
    return is_of_family(name, "x86")


def is_of_family(name: str, family: str) -> bool:
    """Whether the instruction set of this name is one of x86's, ARM's...; none is of any."""
    return name in native.architectures() and architecture(name).family == family
