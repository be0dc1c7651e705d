"""What `whocall repair` and `whocall export` have to know: plans, and the contents of files.

Who answers writes nothing: contents are handed over, and come to stand in the plan as the paths
that `placeholder` makes of their numbers.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from whocall.gdb_helper.backtraces import walk_of
from whocall.gdb_helper.output import placeholder
from whocall.repair import symbol_cache
from whocall.repair.chain import chain_of
from whocall.repair.plan import Plan, SymbolFileFactory, chosen_modules, module_named, settings_key
from whocall.repair.plan import plan as plan_of
from whocall.repair.plan_json import attached_from, plan_json

if TYPE_CHECKING:
    from whocall.base.file_search import Search
    from whocall.base.process_image import ProcessImage
    from whocall.gdb_helper.current import Current
    from whocall.gdb_helper.output import Output
    from whocall.report.form.jsonform import Json


class _Files:
    """The files that gdb is to write: how each is kept for the next time, or None."""

    def __init__(self, out: Output) -> None:
        self.kept: list[Any] = []
        self._out = out

    def write(self, contents: bytes | memoryview) -> Path:
        return self._handed_over(contents, None)

    def keep(
        self, key: str, contents: bytes | memoryview, facts: symbol_cache.Facts
    ) -> symbol_cache.Kept:
        path = self._handed_over(contents, {"key": key, "facts": facts})
        return symbol_cache.Kept(path, facts, not contents)

    def _handed_over(self, contents: bytes | memoryview, kept: Any) -> Path:
        self._out.hand_over(contents)
        self.kept.append(kept)
        return Path(placeholder(len(self.kept) - 1))


def _factory(search: Search, files: _Files) -> SymbolFileFactory:
    return SymbolFileFactory(settings_key(search), files.write, files.keep)


def plan(now: Current, out: Output, wanted: Json) -> Json:
    """What makes gdb's stacks right."""
    walk = walk_of(wanted)
    chosen = [at for at in now.wanted(wanted["every_thread"]) if at in now.numbers]
    traces = [now.image.backtrace(at, walk) for at in chosen]
    chains = list(map(chain_of, traces))
    more = chosen_modules(now.image, wanted["every_module"], wanted["modules"])
    files = _Files(out)
    attached = attached_from(wanted["attached"], "gdb")
    factory = _factory(wanted["search"], files)
    found = plan_of(now.image, chains, more, attached, factory, traces)
    return _told(found, files, [now.numbers[at] for at in chosen])


def plan_of_file(search: Search, out: Output, wanted: Json) -> Json:
    """What is to be given for a file that does not run yet."""
    from whocall.base.process_image import open_file_image

    image = open_file_image(wanted["file"], search=search)
    files = _Files(out)
    attached = attached_from(wanted["attached"], "gdb")
    return _told(plan_of(image, [], [0], attached, _factory(search, files)), files, [])


def _told(found: Plan, files: _Files, numbers: list[int]) -> Json:
    return {"plan": plan_json(found), "kept": files.kept, "numbers": numbers}


def exported(now: Current, out: Output, wanted: Json) -> list[str]:
    """Hands over names and all rules of a module; returns what is said of them."""
    return _exported(now.image, out, wanted)


def exported_file(search: Search, out: Output, wanted: Json) -> list[str]:
    """The same of a file that nobody runs."""
    from whocall.base.process_image import open_file_image

    return _exported(open_file_image(wanted["file"], search=search), out, wanted)


def _exported(image: ProcessImage, out: Output, wanted: Json) -> list[str]:
    from whocall.repair.export import export_lines, made_of

    module = module_named(image, wanted["module"])
    contents, made = made_of(image, module.index)
    out.hand_over(contents)
    return export_lines(module, str(wanted["output"]), made)
