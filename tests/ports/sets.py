"""The instruction sets as data: what builds and runs, and where cores keep what the judge needs."""

from __future__ import annotations

from dataclasses import dataclass

from oracles.distribution import sysroot


@dataclass(frozen=True)
class InstructionSet:
    """One instruction set, or one encoding of it."""

    name: str
    triple: str
    qemu: str
    flags: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()
    """Flags that some variants have besides: what is special about the set."""
    pc_at: int = 0
    """Of the pc in an NT_PRSTATUS note, bytes; its size is the word's."""
    stub: str = ""
    """The emulator's option for the place of a debugger, where it writes no cores by itself."""

    relaxed: bool = False
    """Whether the linker shortens code, so that no function of a library is what it was there."""

    capstone: int = 4
    """The first major version of the library that shows its instructions."""

    @property
    def sysroot(self) -> str:
        """Where the distribution keeps its C library."""
        return str(sysroot(self.triple))


SETS = {
    one.name: one
    for one in (
        InstructionSet(
            "aarch64",
            "aarch64-linux-gnu",
            "qemu-aarch64",
            extra=("-mbranch-protection=standard",),
            pc_at=112 + 8 * 32,
        ),
        InstructionSet("arm", "arm-linux-gnueabihf", "qemu-arm", ("-marm",), pc_at=72 + 4 * 15),
        InstructionSet("thumb", "arm-linux-gnueabihf", "qemu-arm", ("-mthumb",), pc_at=72 + 4 * 15),
        InstructionSet("mips", "mips-linux-gnu", "qemu-mips", pc_at=72 + 4 * 40),
        InstructionSet("mipsel", "mipsel-linux-gnu", "qemu-mipsel", pc_at=72 + 4 * 40),
        InstructionSet("mips64el", "mips64el-linux-gnuabi64", "qemu-mips64el", pc_at=112 + 8 * 34),
        InstructionSet(
            "riscv64",
            "riscv64-linux-gnu",
            "qemu-riscv64",
            pc_at=112,
            stub="-g",
            relaxed=True,
            capstone=5,
        ),
    )
}
