"""What the words of a command line have become."""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    import argparse
    from types import SimpleNamespace
    from typing import Union

    Values = Union[argparse.Namespace, SimpleNamespace]
