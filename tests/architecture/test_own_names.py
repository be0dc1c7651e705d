"""A dozen sources may be compiled as one (WHOCALL_UNITY): names that each has for itself differ."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from own_names import ALONE, UNITS, hiding, own_names, shared, units

ONE = """
namespace whocall {
namespace {
constexpr int kMost = 3;  // namespace { int kOther; }
constexpr int kLarge = 100'000;
struct Row { int kInside = 1; };
namespace op { constexpr unsigned kPlus = 0x22; }
using Flow = Instruction::Flow;
template <typename T>
std::vector<T> sorted(std::span<const T> given, int most = 3) { int local = 1; return {}; }
class Later;
}  // namespace
void Public::told(int) { constexpr int kMost = 4; }
constexpr int kPublic = 3;
}
"""


def _core(native: Path) -> list[Path]:
    return [
        path
        for path in sorted(native.rglob("*.cpp"))
        if not path.relative_to(native).as_posix().startswith(ALONE)
    ]


def test_no_unit_has_a_name_twice(project_root: Path) -> None:
    sources = _core(project_root / "native")
    together = units(sources, project_root / "native")
    assert [line for unit in together.values() for line in shared(sources=unit)] == []
    assert len(together) == UNITS
    assert sum(len(own_names(path.read_text(encoding="utf-8"))) for path in sources) > 1000


def test_nothing_is_called_as_something_of_a_header(project_root: Path) -> None:
    native = project_root / "native"
    headers = [
        path
        for path in sorted(native.rglob("*.h"))
        if not path.relative_to(native).as_posix().startswith(ALONE)
    ]
    assert list(hiding(_core(native), headers)) == []


def test_nor_the_bindings(project_root: Path) -> None:
    """Of which any two may meet, as later releases of gdb get them all in one."""
    sources = sorted((project_root / "native" / "python").glob("*.cpp"))
    assert list(shared(sources)) == []
    # Who names a function without calling it cannot say which of two of one name is meant.
    names = [
        name
        for path in sources
        for name in {own.partition("(")[0] for own in own_names(path.read_text(encoding="utf-8"))}
    ]
    assert [name for name, times in Counter(names).items() if times > 1] == []


def test_units_are_those_of_the_build(project_root: Path) -> None:
    text = (project_root / "CMakeLists.txt").read_text(encoding="utf-8")
    core = (project_root / "native" / "CMakeLists.txt").read_text(encoding="utf-8")
    assert f"compile_together(whocall_core {UNITS})" in core
    assert "string(SUBSTRING ${digest} 0 6 digits)" in text


def test_names_are_read() -> None:
    space = "whocall::::"
    assert {name.removeprefix(space) for name in own_names(ONE)} == {
        "kMost", "kLarge", "Row", "op::kPlus", "Flow", "sorted(std::span<const T>,int)",
    }  # fmt: skip


@pytest.mark.parametrize(
    "planted",
    [
        "constexpr std::string_view kMost(\"x\");", "constexpr int kMost{4};", "class Row {};",
        "std::vector<int> sorted(std::span<const T> other, int all) { return {}; }",
        "using Flow = int;", "namespace op {\nconstexpr unsigned kPlus = 1;\n}",
        "enum class Row : unsigned { none };", "static int kMost;",
    ],
)  # fmt: skip
def test_a_planted_one_is_found(planted: str, tmp_path: Path) -> None:
    one, other = tmp_path / "one.cpp", tmp_path / "other.cpp"
    one.write_text(ONE)
    other.write_text(f"namespace whocall {{\nnamespace {{\n{planted}\n}}\n}}\n")
    assert len(list(shared([one, other]))) == 1


@pytest.mark.parametrize(
    "planted",
    ["using Flow = Instruction::Flow;", "int sorted(int one) { return one; }", "class Later;"],
)
def test_what_may_stand_twice(planted: str, tmp_path: Path) -> None:
    one, other = tmp_path / "one.cpp", tmp_path / "other.cpp"
    one.write_text(ONE)
    other.write_text(f"namespace whocall {{\nnamespace {{\n{planted}\n}}\n}}\n")
    assert list(shared([one, other])) == []


@pytest.mark.parametrize(
    "planted", ["struct Row {};", "constexpr int kMost = 4;", "using Row = int;"]
)
def test_what_a_header_has_is_found(planted: str, tmp_path: Path) -> None:
    source, header = tmp_path / "one.cpp", tmp_path / "public.h"
    source.write_text(ONE)
    header.write_text(f"namespace whocall {{\n{planted}\n}}\n")
    assert len(list(hiding([source], [header]))) == 1
