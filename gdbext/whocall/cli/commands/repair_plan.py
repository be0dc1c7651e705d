"""`whocall repair-plan`: what a debugger has to be told, as JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from whocall.base.errors import Error
from whocall.base.regular_file import read_text
from whocall.cli.inputs import is_core, open_core_or_file, wanted_search, wanted_walk
from whocall.cli.outputs import write_json

if TYPE_CHECKING:
    from whocall.base.model import Backtrace
    from whocall.base.process_image import ProcessImage
    from whocall.cli.arguments import Values
    from whocall.repair.plan import AttachedState


def _traces(image: ProcessImage, arguments: Values) -> list[Backtrace]:
    walk = replace(wanted_walk(arguments), registers=True, lines=False)
    everyone: Sequence[int] = range(len(image.threads))
    if arguments.thread is not None:
        everyone = [image.index_of_lwp(arguments.thread)]
    return [image.backtrace(index, walk) for index in everyone]


def _attached(source: str | None) -> list[AttachedState]:
    from whocall.repair.plan_json import attached_from

    if source is None:
        return []
    try:
        text = read_text(source)
        return attached_from(json.loads(text), source)
    except OSError as error:
        raise Error(f"{source}: {error.strerror}") from error
    except ValueError as error:
        raise Error(f"{source}: this is no JSON: {error}") from error


def run(arguments: Values) -> int:
    """`whocall repair-plan`."""
    from whocall.repair.chain import chain_of
    from whocall.repair.plan import SymbolFileFactory, chosen_modules, plan, settings_key
    from whocall.repair.plan_json import plan_json
    from whocall.repair.symbol_cache import write_new

    attached = _attached(arguments.attached)
    folder = Path(arguments.folder)
    factory = SymbolFileFactory(
        settings_key(wanted_search(arguments)), lambda contents: write_new(folder, contents)
    )
    with open_core_or_file(arguments.core, arguments.exe, arguments) as image:
        if is_core(arguments.core):
            more = chosen_modules(image, arguments.every_module, arguments.module)
            traces = _traces(image, arguments)
            chains = list(map(chain_of, traces))
            found = plan(image, chains, more, attached, factory, traces)
        else:
            found = plan(image, [], [0], attached, factory)
        write_json([json.dumps(plan_json(found)), "\n"])
    return 0
