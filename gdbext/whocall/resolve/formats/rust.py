"""What Rust programs print when they panic, with RUST_BACKTRACE=full.

   4:     0x55a3bcaf0c8c - <unknown>
   5:     0x55a3bcb0035e - core::fmt::write::hafcd92e27b23e937
                               at /usr/src/rustc/library/core/src/fmt/mod.rs:1197:17

All are addresses that calls return to. Nothing tells in which files they lie but a list of
mappings. (Without `full` no addresses are printed, and there is nothing to name.)
"""

from __future__ import annotations

import re

from whocall.resolve.facts.context import Context
from whocall.resolve.facts.place import Place

NAME = "rust"
_FRAME = re.compile(
    r"^\s{0,8}(?P<level>[0-9]{1,6}):\s{1,20}0x(?P<address>[0-9a-f]{1,16}) - "
    r"(?P<symbol>\S.{0,8192})$"
)


def places(line: str, context: Context) -> list[Place]:
    """The frame that a line tells of."""
    if " - " not in line:
        return []
    found = _FRAME.match(line)
    if found is None or found["address"].strip("0") == "":
        return []
    symbol = found["symbol"]
    return [
        Place(
            found.start("symbol"),
            found.end("symbol"),
            address=int(found["address"], 16),
            symbol=None if symbol == "<unknown>" else symbol,
            level=int(found["level"]),
        )
    ]
