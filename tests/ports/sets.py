"""The instruction sets as data: what builds and runs, and where cores keep what the judge needs."""

from __future__ import annotations

from dataclasses import dataclass


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
    word: int = 4
    big: bool = False

    @property
    def sysroot(self) -> str:
        """Where the distribution keeps its C library."""
        return f"/usr/{self.triple}"

    @property
    def order(self) -> str:
        """Of bytes, as `struct` says it."""
        return ">" if self.big else "<"


def _mips(name: str, triple: str, word: int, big: bool = False) -> InstructionSet:
    pc_at = 112 + 8 * 34 if word == 8 else 72 + 4 * (6 + 34)
    return InstructionSet(name, triple, f"qemu-{name}", pc_at=pc_at, word=word, big=big)


SETS = {
    one.name: one
    for one in (
        InstructionSet(
            "aarch64",
            "aarch64-linux-gnu",
            "qemu-aarch64",
            extra=("-mbranch-protection=standard",),
            pc_at=112 + 8 * 32,
            word=8,
        ),
        InstructionSet("arm", "arm-linux-gnueabihf", "qemu-arm", ("-marm",), pc_at=72 + 4 * 15),
        InstructionSet("thumb", "arm-linux-gnueabihf", "qemu-arm", ("-mthumb",), pc_at=72 + 4 * 15),
        _mips("mips", "mips-linux-gnu", 4, big=True),
        _mips("mipsel", "mipsel-linux-gnu", 4),
        _mips("mips64el", "mips64el-linux-gnuabi64", 8),
    )
}
