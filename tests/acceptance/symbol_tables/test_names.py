"""Names that no symbol table holds: PLT slots as objdump labels them, C++ and Rust names as c++filt
demangles them.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from oracles import nm_table
from oracles.linkers import USE_ANOTHER
from oracles.tools import environment

from acceptance.helpers.function_tables import each_of, make_unstripped, plt_labels
from whocall import demangle, open_symbols


@pytest.fixture(scope="session")
def unstripped_files() -> tuple[Path, ...]:
    """Real code with all its symbols."""
    return make_unstripped()


REAL_PROGRAMS = ("/bin/bash", "/usr/bin/python3", "/usr/bin/perl", "/usr/bin/gdb", "/usr/bin/gcc")


def check_plt(path: Path) -> int:
    """Compare the PLT names of a file both ways; their number."""
    expected = plt_labels(path)
    table = open_symbols(str(path))
    found = {(each.start, each.name) for each in each_of(table) if each.source == "plt"}
    assert found == expected
    for address, name in expected:
        index = table.find(address + 4)
        assert index is not None
        assert table[index].name == name
    return len(expected)


@pytest.mark.parametrize("path", REAL_PROGRAMS)
def test_plt_names_of_real_programs(path: str) -> None:
    count = check_plt(Path(path).resolve())
    print(f"\n{path}: {count} PLT slots", end="")
    assert count > 100


@pytest.mark.parametrize(
    "flags",
    [("-fcf-protection", "-Wl,-z,ibtplt"), ("-Wl,-z,lazy",), ("-Wl,-z,now",),
     ("-no-pie",),
     ("-m32",), ("-m32", "-no-pie"), ("-m32", "-fcf-protection", "-Wl,-z,ibtplt"),
     (USE_ANOTHER,), ("-fno-plt",)],
    ids=" ".join,
)  # fmt: skip
def test_plt_names_of_every_form(flags: tuple[str, ...], tmp_path: Path) -> None:
    """Lazy, immediate, for indirect branch tracking, of 32 bits, position-dependent or not."""
    made = tmp_path / "program"
    text = "#include <stdio.h>\nint main(int c, char **v) { puts(v[0]); return printf(v[c]); }\n"
    command = ["gcc", *flags, "-w", "-x", "c", "-", "-o", str(made)]
    subprocess.run(command, input=text, text=True, check=True, env=environment())
    if "-fno-plt" in flags:
        table = open_symbols(str(made))
        assert "puts@plt" not in {each.name for each in each_of(table)}
        return
    check_plt(made)
    assert {"puts@plt", "printf@plt"} <= {name for _, name in plt_labels(made)}


RUST = (
    "_ZN4core3fmt9Formatter3pad17h0123456789abcdefE",
    "_ZN3std2rt10lang_start28_$u7b$$u7b$closure$u7d$$u7d$17h1c9a5f3b2d4e6f70E",
    "_RNvC6_123foo3bar",
    "_RINvNtC3std3mem8align_ofjdE",
    "_RNvMs_NtCs4a2Pz_4core3fmtNtB4_9Formatter3pad",
)


def test_demangling_equals_cxxfilt(unstripped_files: tuple[Path, ...]) -> None:
    """c++filt without `-i` writes std::string out in full, which neither nm -C nor gdb does."""
    letters = frozenset("tTwWiVvdDbBrRu")
    names = sorted(
        {
            symbol.name
            for path in unstripped_files
            for symbol in nm_table.symbols(path, types=letters)
        }
    )
    names += [*RUST, "_Z", "_Z1", "_ZN", "_R", "_Z3foov.cold", "_Z3foov.part.0.isra.1"]
    text = "".join(f"{name}\n" for name in names)
    ran = subprocess.run(
        ["c++filt", "-i"], input=text, capture_output=True, text=True, check=True, env=environment()
    )
    expected = ran.stdout.splitlines()
    assert len(expected) == len(names)
    differing = [
        (name, demangle(name), other)
        for name, other in zip(names, expected)
        if demangle(name) != other
    ]
    assert not differing, f"{len(differing)}: {differing[:3]}"
    changed = sum(name != other for name, other in zip(names, expected))
    print(f"\n{len(names)} names, {changed} of them mangled", end="")
    assert changed > 10000


def test_the_underscore_of_other_formats_is_no_hindrance() -> None:
    """Mach-O and 32-bit PE put one more before every name; c++filt wants `-_` for it."""
    assert demangle("__Z3foov") == "foo()"
