"""What a target's corpus reaches of the files that it is for.

Of native code the edges of its flow, as libFuzzer counts them, which are more than lines; of the
package lines of functions.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
FLOOR = 0.85
_FUNCTION = re.compile(
    r"^(?:UN)?COVERED_FUNC: hits: \d+ edges: (\d+)/(\d+) .*/native/(\S+\.cpp):\d+$", re.MULTILINE
)

# The files of native/ that each target is for.
SUBJECTS: dict[str, tuple[str, ...]] = {
    "analysis": ("unwind/analysis/", "arch/", "object/lsda.cpp"),
    "archive": ("object/archive.cpp", "symbols/signatures/signature_builder.cpp"),
    "cfi": (
        *("unwind/rows/fde_rows.cpp", "unwind/rows/expression.cpp"),
        "rules/frame_description.cpp",
        *("object/call_frame_info.cpp", "object/frame_entries.cpp"),
    ),
    "core_file": (
        *("process/core/core_file.cpp", "process/core/core_notes.cpp"),
        "process/modules/find_modules.cpp",
    ),
    "demangle": ("symbols/table/demangler.cpp",),
    "elf_file": (
        *("object/elf_", "object/mini_debug_info.cpp", "object/relocat", "object/debug_link.cpp"),
        "object/implicit_got.cpp",
    ),
    "embedded": ("object/embedded_file.cpp",),
    "exceptions": ("object/exidx.cpp", "unwind/rows/exidx_program.cpp"),
    "facts": ("symbols/symbol_facts.cpp",),
    "flirt": tuple(f"symbols/flirt/flirt_{part}.cpp" for part in ("index", "text", "tree")),
    "jit_names": ("symbols/jit/jitdump.cpp", "symbols/jit/perf_map.cpp", "symbols/jit/jit_func"),
    "jit_objects": ("process/jit/", "symbols/jit/jit_object_names.cpp"),
    "minidump": ("process/minidump/",),
    "name_list": ("symbols/external/",),
    "packed": ("object/elf_decompress.cpp", "object/xz.cpp", "runtime/xz.cpp", "runtime/lzma.cpp"),
    "packed_crash": (
        *("packing/frame_decoder.cpp", "packing/zstd_decoder.cpp", "packing/lz4_decoder.cpp"),
        *("packing/xz_decoder.cpp", "packing/gzip_decoder.cpp", "packing/bzip2_decoder.cpp"),
        *("packing/packing.cpp", "packing/unpacked_source.cpp", "packing/headed_source.cpp"),
        "process/input/",
    ),
    "pclntab": ("golang/go_pclntab.cpp",),
    "pe_file": ("object/pe_",),
    "process_notes": (
        *("process/auxiliary_vector.cpp", "process/core/core_mappings.cpp"),
        *("process/core/own_notes.cpp", "process/core/foreign_core.cpp"),
        *("process/modules/link_map.cpp", "process/modules/loaded_elf.cpp"),
    ),
    "repair_file": ("symfile/",),
    "rules": ("rules/",),
    "runtime_files": ("runtime/mapped_file.cpp",),
    "signatures": (
        *("symbols/signatures/signature_file.cpp", "symbols/signatures/build_tables.cpp"),
        *("symbols/signatures/build_pairs.cpp", "symbols/signatures/pair_"),
    ),
    "trace": ("tracing/",),
    "walk": (
        *("unwind/backtrace.cpp", "unwind/judge/", "unwind/search/", "unwind/strategies/"),
        "unwind/walk/",
    ),
}


class Coverage(NamedTuple):
    """Of one file."""

    file: str
    all: int
    covered: int

    @property
    def share(self) -> float:
        return self.covered / self.all if self.all else 1.0


def counted(said: str, subjects: tuple[str, ...]) -> list[Coverage]:
    """Of what libFuzzer prints with -print_coverage=1."""
    found: dict[str, tuple[int, int]] = {}
    for covered, every, file in _FUNCTION.findall(said):
        if file.startswith(subjects):
            before = found.get(file, (0, 0))
            found[file] = (before[0] + int(every), before[1] + int(covered))
    return [Coverage(file, *sums) for file, sums in sorted(found.items())]


def of_native(
    binary: Path, name: str, inputs: list[Path], environment: dict[str, str]
) -> list[Coverage]:
    """Runs what lies in these folders once."""
    ran = subprocess.run(
        [binary, "-runs=0", "-print_coverage=1", *inputs],
        env=environment,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    return counted(ran.stdout + ran.stderr, SUBJECTS[name])


# Runs seeds, the corpus and some mutations of them under a tracer; what is imported later counts.
_TRACED = """
import sys, random
from pathlib import Path
from fuzz import readers
from fuzz.reader_mutations import mutated
from fuzz.reader_seeds import seeds
name, folder = sys.argv[1:]
package = str(Path(readers.receive.__code__.co_filename).parents[1]) + "/"
reached = set()
def lines(frame, event, argument):
    if event == "line":
        reached.add((frame.f_code.co_filename, frame.f_lineno))
    return lines
def calls(frame, event, argument):
    return lines if frame.f_code.co_filename.startswith(package) else None
inputs = seeds(name) + [path.read_bytes() for path in sorted(Path(folder).iterdir())[:2000]]
chance = random.Random(1)
inputs += [mutated(name, chance.choice(inputs), i, 65536) for i in range(1000)]
sys.settrace(calls)
for data in inputs:
    readers.run(name, data)
sys.settrace(None)
def codes(code):
    yield code
    for each in code.co_consts:
        if hasattr(each, "co_lines"):
            yield from codes(each)
for subject in readers.SUBJECTS[name]:
    path = package + subject
    module = compile(Path(path).read_text(), path, "exec")
    every = {line for code in codes(module) if code is not module and code.co_flags & 2
             for *_, line in code.co_lines() if line and line != code.co_firstlineno}
    print(subject, len(every), len({line for file, line in reached if file == path} & every))
"""


def of_reader(name: str, corpus: Path) -> list[Coverage]:
    """Lines of functions; what modules do when they are imported is left out."""
    ran = subprocess.run(
        [sys.executable, "-c", _TRACED, name, corpus],
        cwd=ROOT / "tests",
        capture_output=True,
        text=True,
        check=True,
    )
    rows = (line.split() for line in ran.stdout.splitlines())
    return [Coverage(file, int(lines), int(reached)) for file, lines, reached in rows]
