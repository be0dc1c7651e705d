"""The linkers of the system. GNU ld, lld and mold every one has; gold, those up to Debian 13."""

from __future__ import annotations

import shutil

GOLD = shutil.which("ld.gold") is not None
LINKERS = ("bfd", *(["gold"] if GOLD else []), "lld", "mold")
FOLDING = tuple(linker for linker in LINKERS if linker != "bfd")
"""Those that can fold equal functions (`--icf=all`)."""

USE_ANOTHER = f"-fuse-ld={FOLDING[0]}"
"""To the compiler: link by another linker than GNU ld; gold where there is one."""
