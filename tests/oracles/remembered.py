"""What a tool once said about a core that is kept, so that it is asked but once on a machine.

Only where everything that it looks at lasts: files of the system, and those that tests keep.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from artifact_cache import Tool, is_kept, kept, machine
from artifact_cache.recipe import identity

T = TypeVar("T")
SYSTEM = Path("/usr")
HERE = Path(__file__).parent


def _lasts(file: Path) -> bool:
    return is_kept(file) or SYSTEM in file.resolve().parents


def remembered(tool: str, core: Path, exe: Path | None, more: object, ask: Callable[[], T]) -> T:
    """The answer to `ask`, now or earlier; `more` is what else decides about it.

    A tool that fails is asked again.
    """
    files = [core, *([exe] if exe else [])]
    if not is_kept(core) or not all(map(_lasts, files)):
        return ask()
    looked_at = [(str(file), *identity(file)) for file in files]
    code = sorted(HERE.glob(f"{tool.replace('-', '_')}*.py"))
    recipe = (tool, Tool(tool), machine(), code, looked_at, more)
    return kept(recipe, lambda _: ask())
