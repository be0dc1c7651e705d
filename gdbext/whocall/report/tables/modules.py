"""What is known of the loaded files, and as JSON, schema whocall.modules/1."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from whocall.base.errors import Error
from whocall.base.module_warnings import is_other_build
from whocall.base.native_errors import native_errors
from whocall.report.form.jsonform import Json, hexes
from whocall.report.tables.functions import JIT

if TYPE_CHECKING:
    import whocall._native as native
    from whocall.base.process_image import ProcessImage

# They name local functions too.
_FULL = ("symtab", "debug-file", "gnu-debugdata", "pclntab", "symbol-file")


@dataclass(frozen=True)
class Advice:
    """How a user of this program tells where files are, and has debuginfod asked."""

    search: str  # `--search DIR`
    debuginfod: str  # `--debuginfod`
    asks_debuginfod: bool = False


def on_the_command_line(asks_debuginfod: bool) -> Advice:
    """In options."""
    return Advice("--search DIR", "--debuginfod", asks_debuginfod)


def on_gdb(asks_debuginfod: bool) -> Advice:
    """In commands of gdb's."""
    return Advice('"set whocall search-path DIR"', '"set whocall debuginfod on"', asks_debuginfod)


@dataclass(frozen=True)
class ModuleFacts:
    """One module and what its tables hold; those that are None when it has no usable file."""

    module: native.Module
    symbol_sources: dict[str, int] | None
    code_bytes: int | None
    cfi_bytes: int | None
    has_debug_info: bool | None
    trouble: str  # why tables or debug files could not be read; "" when they could
    debug_file: str = ""  # the separate file that lends names; "" without one

    @property
    def is_usable(self) -> bool:
        """Whether names and rows are taken from a file or an image."""
        return self.symbol_sources is not None

    @property
    def lacks_names(self) -> bool:
        """Whether it is a file from which local names were stripped, and nothing else has them."""
        return self.symbol_sources is not None and not any(
            self.symbol_sources.get(source) for source in _FULL
        )


def facts_of(image: ProcessImage, module: native.Module, fetch: bool = False) -> ModuleFacts:
    """Opens the module's tables; a file that cannot be parsed is a fact, not an error.

    Debuginfod is asked for the debug info of all modules with `fetch` only; else what it sent for
    those in which frames lie counts.
    """
    try:
        with native_errors():
            report = image.native.report(module.index, fetch=fetch)
    except Error as error:
        return ModuleFacts(module, None, None, None, None, str(error))
    if module.state not in ("found", "in memory") and not report.symbol_sources:
        return ModuleFacts(module, None, None, None, None, "")  # no list stands in for it
    return ModuleFacts(
        module,
        dict(report.symbol_sources),
        report.code_bytes,
        report.cfi_bytes,
        report.has_debug_info,
        report.remark,
        report.debug_file,
    )


def all_facts(image: ProcessImage, fetch: bool = False) -> list[ModuleFacts]:
    """The facts on every module, by address."""
    return [facts_of(image, module, fetch) for module in image.modules]


def warnings(image: ProcessImage, facts: list[ModuleFacts]) -> list[str]:
    """What is wrong with the process image, and with lists of names that are for no module."""
    told = {found.trouble for found in facts}
    return image.own_warnings + [
        sentence for sentence in image.native.name_warnings if sentence not in told
    ]


def _get(module: native.Module, advice: Advice) -> str:
    wanted = f" (build id {module.build_id_in_memory})" if module.build_id_in_memory else ""
    debuginfod = ""
    if module.build_id_in_memory and not advice.asks_debuginfod:
        debuginfod = f", or ask debuginfod for it: {advice.debuginfod}"
    return (
        f"copy the file{wanted} from where the program ran, and name its directory by "
        f"{advice.search}{debuginfod}"
    )


def _troubles(facts: ModuleFacts, advice: Advice) -> Iterator[str]:
    module = facts.module
    if module.state == "missing" and facts.is_usable:
        yield module.remark
    elif module.state == "missing":
        yield f"no file: {_get(module, advice)}"
    elif is_other_build(module):
        yield (
            f"{module.file_path} is another build, with "
            f"{_id(module.build_id_on_disk)}; in memory is {_id(module.build_id_in_memory)}: "
            + ("no names, no unwind rows" if module.state == "MISMATCH" else "it is not used")
        )
        yield _get(module, advice)
    elif module.state == "in memory" and not module.path.startswith("["):
        yield f"no file, the image in memory stands in for it: {_get(module, advice)}"
    elif module.remark:
        yield module.remark
    if facts.trouble:
        yield facts.trouble


def _id(build_id: str) -> str:
    return f"build id {build_id}" if build_id else "no build id"


def troubles(facts: ModuleFacts, advice: Advice) -> list[str]:
    """What is wrong with a module's file and what to do about it; empty when nothing is."""
    return list(_troubles(facts, advice))


def remedy(facts: ModuleFacts, advice: Advice) -> str | None:
    """All of it in one text."""
    return ". ".join(sentence.rstrip(".") for sentence in troubles(facts, advice)) or None


def share_of_cfi(facts: ModuleFacts) -> str:
    """`98 %` of the code is covered by unwind tables; `no code`; `?`."""
    if facts.code_bytes is None or facts.cfi_bytes is None:
        return "?"
    if facts.code_bytes == 0:
        return "no code"
    return f"{100 * facts.cfi_bytes // facts.code_bytes} %"


def jit_line(image: ProcessImage) -> Iterator[str]:
    """What JIT compilers registered for debuggers, if anything."""
    objects = image.native.jit_objects()
    if objects:
        functions = sum(each[4] for each in objects)
        yield (
            f"JIT code: {len(objects)} ELF file{'s' * (len(objects) != 1)} in memory, "
            f"{functions} function{'s' * (functions != 1)}: "
            f'"whocall functions -module {JIT}" lists them'
        )


def modules_json(image: ProcessImage, facts: list[ModuleFacts], advice: Advice) -> Json:
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
                "bias": hexes(image.wrapped(found.module.bias)),
                "build_id_in_memory": found.module.build_id_in_memory or None,
                "build_id_on_disk": found.module.build_id_on_disk or None,
                "state": found.module.state,
                "is_executable": found.module.is_executable,
                "symbol_sources": found.symbol_sources,
                "debug_file": found.debug_file or None,
                "code_bytes": found.code_bytes,
                "cfi_bytes": found.cfi_bytes,
                "has_debug_info": found.has_debug_info,
                "remark": found.module.remark or None,
                "remedy": remedy(found, advice),
            }
            for found in facts
        ],
        "jit_objects": [
            {
                "name": name,
                "size": size,
                "begin": hexes(begin),
                "end": hexes(end),
                "functions": functions,
            }
            for name, size, begin, end, functions in image.native.jit_objects()
        ],
    }
