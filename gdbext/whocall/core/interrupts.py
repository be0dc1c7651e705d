"""Ctrl-C that something else was raised over.

What has to be put in order on the way out may fail, as it meets things in a state that nobody has
foreseen: argparse's own `finally` reads what its `try` had not set yet, and says AttributeError.
Python up to 3.11 turns a Ctrl-C in the making of a class, as in the middle of an import, into a
RuntimeError. Who pressed it would be told of a mistake in the program, with a traceback.
"""

from __future__ import annotations

from contextlib import contextmanager

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def interrupt_prevails() -> Iterator[None]:
    """What ends what is done within is Ctrl-C (KeyboardInterrupt) if it was pressed within,
    whatever error came of that.
    """
    try:
        yield
    except Exception as error:
        if _came_of_interrupt(error):
            raise KeyboardInterrupt from error
        raise


def _came_of_interrupt(error: BaseException | None) -> bool:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        if isinstance(error, KeyboardInterrupt):
            return True
        seen.add(id(error))
        error = error.__cause__ or error.__context__
    return False
