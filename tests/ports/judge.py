"""A chain against the truth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from ports.truth import Record


@dataclass(frozen=True)
class Frame:
    """What a voice claims; `sure` says that it vouches for it."""

    pc: int
    sure: bool = True


class Known(Protocol):
    """What is asked about a thread; `ThreadTruth` answers from its core and its twin."""

    @property
    def pc(self) -> int:
        """Where it stood."""

    @property
    def records(self) -> Sequence[Record]:
        """Innermost first."""

    @property
    def recorded(self) -> frozenset[str]:
        """The functions that may not be on the stack without a record."""

    def is_code(self, pc: int) -> bool:
        """Whether it can be executed."""

    def function_at(self, pc: int) -> str | None:
        """The function of the program, by its source, that an address lies in."""

    def into_function(self, pc: int) -> int | None:
        """How many bytes it stands behind the function's start."""


PROLOGUE = 32
"""Bytes of code that runs before the record is made."""


@dataclass
class Verdict:
    """Counts of frames; those that nobody can judge are in none."""

    right: int = 0
    missing: int = 0
    false: int = 0
    complaints: tuple[str, ...] = ()

    def __iadd__(self, other: Verdict) -> Verdict:
        self.right += other.right
        self.missing += other.missing
        self.false += other.false
        return self

    @property
    def recall(self) -> float:
        """Of the true frames those that were found, per cent."""
        return 100 * self.right / max(1, self.right + self.missing)

    @property
    def precision(self) -> float:
        """Of the frames that were claimed those that are true, per cent."""
        return 100 * self.right / max(1, self.right + self.false)


def _even(pc: int) -> int:
    """Without the bit that says that code is Thumb or MIPS16; nothing else is odd here."""
    return pc & ~1


def judge(chain: Sequence[Frame], truth: Known) -> Verdict:
    """The chain goes from the thread's pc outwards, inlined calls left out.

    Each record says that a return address is in the chain, after those of the records before it.
    Where the frame before it runs that very function, nothing may stand between the two.
    """
    verdict = Verdict()
    said: list[str] = []
    if not chain or _even(chain[0].pc) != _even(truth.pc):
        said.append(f"does not begin at {truth.pc:#x}")
        verdict.missing += 1
        if chain:
            verdict.false += chain[0].sure
    else:
        verdict.right += 1
    at = 1
    # Whether the frame before was the callee itself.
    direct = bool(truth.records) and truth.function_at(_even(truth.pc)) == truth.records[0].function
    for index, record in enumerate(truth.records):
        wanted = _even(record.return_address)
        found = next((i for i in range(at, len(chain)) if _even(chain[i].pc) == wanted), None)
        if found is None or (record.lost and not _is_spare(chain, at, truth, index)):
            if not record.lost:
                verdict.missing += 1
                said.append(f"lacks {record.function}'s return to {record.return_address:#x}")
            direct = False
            continue
        _judge_between(chain, range(at, found), truth, record.function, said, verdict, direct)
        verdict.right += not record.lost
        at = found + 1
        next_name = truth.records[index + 1].function if index + 1 < len(truth.records) else None
        direct = next_name is not None and truth.function_at(record.return_address - 1) == next_name
    _judge_between(chain, range(at, len(chain)), truth, None, said, verdict, False)
    verdict.complaints = tuple(said)
    return verdict


def _is_spare(chain: Sequence[Frame], at: int, truth: Known, index: int) -> bool:
    """Whether the chain goes to a record's address more often than the later ones of a recursion
    need, whose return addresses still stand.
    """
    wanted = _even(truth.records[index].return_address)
    later = truth.records[index + 1 :]
    needed = sum(not each.lost and _even(each.return_address) == wanted for each in later)
    return sum(_even(frame.pc) == wanted for frame in chain[at:]) > needed


def _judge_between(
    chain: Sequence[Frame],
    between: range,
    truth: Known,
    function: str | None,
    said: list[str],
    verdict: Verdict,
    direct: bool,
) -> None:
    """Frames for which there is no record: none may be of a function that leaves one.

    But for the last, where the callee is a function without a record (of the C library, or wild):
    that is the activation whose return address comes next.
    """
    for i in between:
        name = truth.function_at(_even(chain[i].pc) - (i > 0))
        own = name is not None and name == function and i == between.stop - 1
        # A recursion that died in its prologue has not made its record yet. Where it returns to
        # the same place as all others of it, the last one is left over.
        unrecorded = own and (i == 1 or (_died_early(truth) and _same_place(chain[1 : i + 1])))
        astray = i > 0 and not truth.is_code(chain[i].pc)
        wrong = astray or (direct and not unrecorded) or (name in truth.recorded and not own)
        if wrong and chain[i].sure:
            verdict.false += 1
            said.append(f"frame {i} at {chain[i].pc:#x} in {name}")


def _died_early(truth: Known) -> bool:
    into = truth.into_function(_even(truth.pc))
    return into is not None and into < PROLOGUE


def _same_place(chain: Sequence[Frame]) -> bool:
    return len({_even(frame.pc) for frame in chain}) == 1
