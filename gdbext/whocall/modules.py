"""The loaded files as text and as JSON, schema whocall.modules/1."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from whocall.errors import Error, native_errors
from whocall.jsonform import Json, hexes
from whocall.style import Style

if TYPE_CHECKING:
    from whocall import _native as native
    from whocall.image import ProcessImage


@dataclass(frozen=True)
class ModuleFacts:
    """One module and what its tables hold; the last four are None when it has no usable file."""

    module: native.Module
    symbol_sources: dict[str, int] | None
    code_bytes: int | None
    cfi_bytes: int | None
    has_debug_info: bool | None
    trouble: str  # why tables or debug files could not be read; "" when they could


def facts_of(image: ProcessImage, module: native.Module) -> ModuleFacts:
    """Opens the module's tables; a file that cannot be parsed is a fact, not an error."""
    if module.state not in ("found", "in memory"):
        return ModuleFacts(module, None, None, None, None, "")
    try:
        with native_errors():
            report = image.native.report(module.index)
    except Error as error:
        return ModuleFacts(module, None, None, None, None, str(error))
    return ModuleFacts(
        module,
        dict(report.symbol_sources),
        report.code_bytes,
        report.cfi_bytes,
        report.has_debug_info,
        report.remark,
    )


def all_facts(image: ProcessImage) -> list[ModuleFacts]:
    """The facts on every module, by address."""
    return [facts_of(image, module) for module in image.modules]


def remedy(facts: ModuleFacts, search: str) -> str | None:
    """What gets the module's file; `search` is how this program is told a directory."""
    module = facts.module
    if module.state == "missing":
        build_id = f" (build id {module.build_id_in_memory})" if module.build_id_in_memory else ""
        return (
            f"copy {module.path}{build_id} from the machine that crashed, and name it by {search}"
        )
    if module.state == "MISMATCH":
        return (
            f"the file has build id {module.build_id_on_disk or 'none'}, in memory was "
            f"{module.build_id_in_memory}: get that build, and name it by {search}"
        )
    return facts.trouble or None


def share_of_cfi(facts: ModuleFacts) -> str:
    """`98 %` of the code is covered by unwind tables; `no code`; `?`."""
    if facts.code_bytes is None or facts.cfi_bytes is None:
        return "?"
    if facts.code_bytes == 0:
        return "no code"
    return f"{100 * facts.cfi_bytes // facts.code_bytes} %"


def module_lines(
    image: ProcessImage, facts: list[ModuleFacts], search: str, style: Style
) -> Iterator[str]:
    """A line or two on each module, and below it what to do when something is missing."""
    digits = image.pointer_size * 2 + 2
    for found in facts:
        module = found.module
        begin = style.paint("address", f"{module.begin:#0{digits}x}")
        end = style.paint("address", f"{module.end:#0{digits}x}")
        role = "highlight" if module.state in ("missing", "MISMATCH") else "metadata"
        state = style.paint(role, f"{module.state:<9}")
        yield f"{begin} {end} {state} {style.paint('filename', module.path)}"
        yield f"    bias {module.bias:#x}, build id {module.build_id_in_memory or 'unknown'}"
        if module.file_path and module.file_path != module.path:
            yield f"    file {style.paint('filename', module.file_path)}"
        if found.symbol_sources is not None:
            sources = [f"{name} {count}" for name, count in found.symbol_sources.items()]
            debug = ", debug info" if found.has_debug_info else ""
            named = ", ".join(sources) or "none"
            yield f"    functions: {named}; CFI covers {share_of_cfi(found)} of the code{debug}"
        todo = remedy(found, search)
        if todo:
            yield f"    {style.paint('highlight', todo)}"


def modules_json(image: ProcessImage, facts: list[ModuleFacts], search: str) -> Json:
    """All modules."""
    return {
        "schema": "whocall.modules/1",
        "arch": image.arch,
        "source": {"core": image.core_path, "exe": image.exe_path},
        "warnings": image.warnings,
        "modules": [
            {
                "path": found.module.path,
                "file": found.module.file_path or None,
                "begin": hexes(found.module.begin),
                "end": hexes(found.module.end),
                "bias": hexes(found.module.bias),
                "build_id_in_memory": found.module.build_id_in_memory or None,
                "build_id_on_disk": found.module.build_id_on_disk or None,
                "state": found.module.state,
                "is_executable": found.module.is_executable,
                "symbol_sources": found.symbol_sources,
                "code_bytes": found.code_bytes,
                "cfi_bytes": found.cfi_bytes,
                "has_debug_info": found.has_debug_info,
                "remedy": remedy(found, search),
            }
            for found in facts
        ],
    }
