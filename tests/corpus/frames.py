"""Frames of the truth, and how a bare list of program counters becomes them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from corpus.names import ModuleMap
from corpus.voices import Claim

SIGRETURNS = (
    bytes.fromhex("48c7c00f0000000f05"),  # x86-64: mov $15,%rax; syscall
    bytes.fromhex("b80f0000000f05"),  # the same with a 32-bit move (musl)
    bytes.fromhex("b8ad000000cd80"),  # i386 rt_sigreturn
    bytes.fromhex("58b877000000cd80"),  # i386 sigreturn: pop %eax; mov $119,%eax; int $0x80
)


@dataclass(frozen=True)
class TrueFrame:
    """A physical frame that truly was on the stack."""

    pc: int
    """Runtime address: the crash pc, a return address, or where a signal interrupted."""
    true_names: tuple[str, ...]
    """From the twin's .symtab, best first; empty where even that has no symbol over the address."""
    visible_names: tuple[str, ...]
    """From .dynsym of the stripped files: what a stripped reader can honestly know."""
    module: str | None
    """Path of the (stripped) file, "[vdso]", or None for a wild pc."""
    link_address: int | None
    """The pc as the module's own address, not stepped back."""
    is_signal_frame: bool
    """Whether this is the trampoline that returns from a signal handler."""
    is_exact: bool
    """Whether the pc is no return address: the crash, an interruption, a trampoline."""
    source: str
    """The voice that says so: gdb, eu-stack, or shadow."""
    slot: int | None = None
    """Where the pc lay on the stack as a return address, if that is known: see `Truth.lost`."""

    @property
    def true_name(self) -> str | None:
        """The function, by the twin."""
        return self.true_names[0] if self.true_names else None

    @property
    def visible_name(self) -> str | None:
        """The function, by what `strip --strip-all` leaves."""
        return self.visible_names[0] if self.visible_names else None

    @property
    def function(self) -> str | None:
        """The best name there is."""
        return self.true_name


def is_trampoline(pc: int, modules: ModuleMap) -> bool:
    """Whether the instructions at the pc return from a signal handler."""
    return modules.code(pc, 9).startswith(SIGRETURNS)


def true_frames(chain: Iterable[Claim], modules: ModuleMap, source: str) -> list[TrueFrame]:
    """Give each pc its names; here alone a return address is stepped back by one."""
    frames: list[TrueFrame] = []
    for claim in chain:
        trampoline = is_trampoline(claim.pc, modules)
        exact = not frames or frames[-1].is_signal_frame or trampoline
        names = modules.names(claim.pc if exact else claim.pc - 1)
        if not exact and not names.true and modules.begins_function(claim.pc):
            exact, names = (
                True,
                modules.names(claim.pc),
            )  # pushed by hand, not by a call: makecontext does that
        link = None if names.link_address is None else names.link_address + (0 if exact else 1)
        frames.append(
            TrueFrame(
                claim.pc,
                names.true,
                names.visible,
                names.module,
                link,
                trampoline,
                exact,
                source,
                claim.slot,
            )
        )
    return frames
