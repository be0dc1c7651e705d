"""Frames that gdb, and its server for editors, keep until the program runs on.

gdb's server of the Debug Adapter Protocol remembers the frames that it has told an editor. When
they become invalid in between, its next answer would be the error "Frame is invalid.".
"""

from __future__ import annotations

import sys
from typing import Any

import gdb

# What the server does itself when the program goes on, by module and function.
_FORGETTING = (
    ("gdb.dap.frames", "_clear_frame_ids"),
    ("gdb.dap.scopes", "clear_scopes"),
    ("gdb.dap.varref", "clear_vars"),
)

_announced = False  # the editor will be told, once for all that happens in one command


def invalidate() -> None:
    """Makes gdb find all frames anew, and editors ask for them."""
    gdb.invalidate_cached_frames()
    if "gdb.dap.server" not in sys.modules:  # nobody speaks the protocol
        return
    for module, name in _FORGETTING:
        forget = getattr(sys.modules.get(module), name, None)
        if forget is not None:
            forget(None)
    _announce()


def _wants_to_know(server: Any) -> bool:
    try:
        return bool(server.client_bool_capability("supportsInvalidatedEvent"))
    except AttributeError:  # no editor has introduced itself yet, or gdb has another way by now
        return False


def _announce() -> None:
    global _announced
    server = sys.modules["gdb.dap.server"]
    if not _announced and _wants_to_know(server):
        _announced = True
        gdb.post_event(lambda: _send(server))


def _send(server: Any) -> None:
    global _announced
    _announced = False
    server.send_event("invalidated", {"areas": ["stacks"]})
