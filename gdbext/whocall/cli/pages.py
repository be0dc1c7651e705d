"""Cores as pages: what `report` and `serve` have in common."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from whocall.base.errors import Error
from whocall.cli.inputs import open_named_core, wanted_walk

if TYPE_CHECKING:
    from whocall.base.process_image import ProcessImage
    from whocall.cli.arguments import Values
    from whocall.report.comparison.verdicts import GdbStack
    from whocall.report.page.document import PageOptions, Tell


def page_options(arguments: Values, gdb: bool, tell: Tell | None = None) -> PageOptions:
    """How pages are made by these arguments; `gdb`: with its own backtrace beside."""
    from whocall.report.page.document import PageOptions

    def asked(image: ProcessImage, lwps: Sequence[int]) -> dict[int, GdbStack]:
        from whocall.cli.gdb_reference import gdb_stacks

        return gdb_stacks(image, image.plain_core(), arguments.exe, lwps, arguments)

    more: dict[str, Any] = {} if tell is None else {"tell": tell}
    return PageOptions(
        title=arguments.title,
        walk=wanted_walk(arguments),
        gdb_stacks=asked if gdb else None,
        asks_debuginfod=arguments.debuginfod,
        **more,
    )


def opened(
    cores: Sequence[str], arguments: Values, unread: list[Error] | None = None
) -> Iterator[ProcessImage]:
    """The cores one after the other; each is closed before the next is opened. What is wrong with
    those that cannot be read goes into `unread`. Raises Error without it, and where none can.
    """
    good = 0
    for core in cores:
        try:
            opened_core = open_named_core(core, arguments.exe, arguments)
        except Error as error:
            if unread is None:
                raise
            unread.append(error)
            continue
        good += 1
        with opened_core as image:
            yield image
    if unread and not good:
        raise unread[0]
