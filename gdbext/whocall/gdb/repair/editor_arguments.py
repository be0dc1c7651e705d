"""What gdb's own frames show as arguments, for editors that speak the Debug Adapter Protocol.

Folklore. Situation: gdb's Python takes a frame without a source line for one that has no variables.
Example: gdb 16 to 18 list none of a frame that `info args` tells all of. Remedy: for such frames,
and only while editors are spoken to, a frame filter hands over what the frame's block has.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import Any

import gdb
from gdb.FrameDecorator import FrameDecorator, FrameVars


class _WithArguments(FrameDecorator):
    """A frame of which symbol files without lines may tell."""

    def frame_args(self) -> Any:
        frame = self.inferior_frame()
        if frame.find_sal().symtab is None and frame.function() is not None:
            return FrameVars(frame).fetch_frame_args()
        return super().frame_args()


class _Filter:
    """As gdb asks for it: by name, priority and whether it is wanted."""

    name = "whocall-arguments"
    priority = 1  # others see what it says
    enabled = True

    def filter(self, frames: Iterable[Any]) -> Iterator[Any]:
        return map(_WithArguments, frames)


def list_arguments() -> None:
    """From now on, where an editor is spoken to."""
    if "gdb.dap" in sys.modules and _Filter.name not in gdb.frame_filters:
        gdb.frame_filters[_Filter.name] = _Filter()
