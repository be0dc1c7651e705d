"""Which frames of the truth no reader of the core can find, because their pc is gone."""

from __future__ import annotations

from corpus import BuiltCase, TrueFrame


def _is_lost(built: BuiltCase, frame: TrueFrame) -> bool:
    """Whether the word where the call had put this return address is another one by now."""
    return frame.slot is not None and built.loaded.words(frame.slot, 1)[0] != frame.pc


def lost_frames(built: BuiltCase) -> list[TrueFrame]:
    """The frames of the crashed thread whose return address was overwritten.

    Nothing that stands in their place can be true, so no reader may claim it.
    """
    return [frame for frame in built.truth().frames if _is_lost(built, frame)]


def required_frames(built: BuiltCase) -> list[TrueFrame]:
    """The frames before and beyond the damage, innermost first."""
    return [frame for frame in built.truth().frames if not _is_lost(built, frame)]
