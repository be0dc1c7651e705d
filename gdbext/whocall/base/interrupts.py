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


def _came_of_interrupt(error: BaseException) -> bool:
    """By what it was made of, and by what was being dealt with when it was raised."""
    found: list[BaseException] = [error]
    for each in found:
        if isinstance(each, KeyboardInterrupt):
            return True
        links = (each.__cause__, each.__context__)
        found += [link for link in links if link is not None and link not in found]
    return False
