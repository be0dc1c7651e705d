"""The parts by themselves: names, folding, messages, distances, and which builds object."""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from typing import Any

import pytest
import tomllib

from triage.published import casr_clusters
from triage.scores import score
from whocall.triage.buckets import bucketed
from whocall.triage.clusters import clustered, distance, stack_of
from whocall.triage.message import normal
from whocall.triage.runtime_frames import base_name, is_runtime, plain_name
from whocall.triage.signature import NULL, Place, kept_places, signature_of


@pytest.mark.parametrize(
    ("given", "plain"),
    [
        ("__strlen_avx2", "strlen"),
        ("__memmove_evex_unaligned_erms", "memmove"),
        ("__GI___libc_free", "free"),
        ("parse.part.0.cold", "parse"),
        ("parse.constprop.0.isra.0", "parse"),
        ("scale(int, double) const", "scale"),
        ("Box<int (*)(char)>::get(int)", "Box<int (*)(char)>::get"),
        ("Call::operator()(int)", "Call::operator()"),
        ("__isoc99_sscanf", "sscanf"),
        ("memcpy@plt", "memcpy"),
        ("std::__cxx11::basic_string<char>::size() const", "std::basic_string<char>::size"),
        ("main", "main"),
    ],
)
def test_plain_names(given: str, plain: str) -> None:
    assert plain_name(given) == plain


RUST_ENDS = (
    # By Rust 1.63 and by 1.97, which writes closures and instances another way.
    *("rust_panic", "rust_begin_unwind", "std::panicking::rust_panic_with_hook"),
    *("std::panicking::begin_panic_handler::{{closure}}", "core::panicking::panic_fmt"),
    "std::sys_common::backtrace::__rust_end_short_backtrace",
    *("__rustc::rust_panic", "__rustc::__rust_abort", "std::sys::pal::unix::abort_internal"),
    *("std::panicking::panic_handler::{closure#0}", "std::process::abort"),
    "std::sys::backtrace::__rust_end_short_backtrace::<std::panicking::begin_panic<&str>, !>",
)


def test_runtime_is_told_by_file_and_by_name() -> None:
    assert is_runtime("/usr/lib/x86_64-linux-gnu/libc.so.6", "anything")
    assert is_runtime("/lib64/ld-linux-x86-64.so.2", None)
    assert is_runtime("/opt/static-program", "__stack_chk_fail")
    assert is_runtime("/opt/static-program", "operator delete(void*)")
    for name in RUST_ENDS:
        assert is_runtime("/opt/program", name), name
    assert not is_runtime("/opt/program", "program::panicking::panic_handler")
    assert not is_runtime("/opt/libclient.so", "abort_transfer")
    assert not is_runtime("/opt/program", "free_list_walk")
    assert not is_runtime("/opt/program", "raise_price")
    assert not is_runtime("/opt/program", None)
    assert base_name("/opt/libclient.so.1.2.3") == "libclient.so"


def place(level: int, start: int, module: str | None = "/opt/prog", **more: Any) -> Place:
    held = {"function": None, "trust": "cfi", "rests_on": None, "trampoline": False, **more}
    return Place(
        level, start + 4, held["function"], module, "1234", start + 4, start, held["trust"],
        held["rests_on"], held["trampoline"], False,
    )  # fmt: skip


def test_runtime_frames_stand_as_what_was_called() -> None:
    libc = "/lib/libc.so.6"
    places = [
        place(0, 1, libc, function="raise"),
        place(1, 2, libc, function="abort"),
        place(2, 3, libc, function="free"),
        place(3, 0x100),
        place(4, 4, libc, function="qsort"),
        place(5, 0x200),
        place(6, 5, libc, function="__libc_start_main"),
    ]
    kept, called, inner = kept_places(places)
    assert [each.start for each in kept] == [0x100, 0x200]
    assert called == "free"
    assert [each.level for each in inner] == [0, 1, 2]


def test_recursion_is_folded_however_deep() -> None:
    def recursion(depth: int) -> list[Place]:
        around = [place(level, 0x100 + 0x100 * (level % 2)) for level in range(depth)]
        return [*around, place(depth, 0x900)]

    kept, _, _ = kept_places(recursion(1000))
    assert [each.start for each in kept] == [0x100, 0x200, 0x900]
    assert [each.start for each in kept_places(recursion(6))[0]] == [0x100, 0x200, 0x900]


def test_frames_that_rest_on_a_search_count_only_in_need() -> None:
    searched = [place(2, 0x300, trust="scan"), place(3, 0x400, rests_on=2)]
    kept, _, _ = kept_places([place(0, 0x100), place(1, 0x200), *searched])
    assert [each.start for each in kept] == [0x100, 0x200]
    kept, _, _ = kept_places([place(0, 0x100), *searched])
    assert [each.start for each in kept] == [0x100, 0x300, 0x400]


def test_a_call_of_no_code_is_its_callers() -> None:
    nowhere = Place(0, 0, None, None, None, None, None, "context", None, False, False)
    kept, called, _ = kept_places([nowhere, place(1, 0x100)], wild=True)
    assert ([each.start for each in kept], called) == ([0x100], NULL)


def test_signatures_hang_on_all_that_they_are_made_of() -> None:
    parts = ("SIGABRT", "free", ["prog!f", "prog!g"], "double free")
    others = [
        ("SIGSEGV", *parts[1:]),
        (parts[0], "malloc", *parts[2:]),
        (*parts[:2], ["prog!g", "prog!f"], parts[3]),
        (*parts[:3], ""),
    ]
    assert signature_of(*parts) == signature_of(*parts)
    assert len({signature_of(*each) for each in [parts, *others]}) == 5


def test_messages_lose_what_changes_from_build_to_build() -> None:
    said = "prog: /build/7/list.c:{}: int pop(list *): Assertion `head != NULL' failed."
    assert (
        normal(said.format(12))
        == normal(said.format(99))
        == ("list.c: int pop(list *): head != NULL")
    )
    assert normal("free(): invalid pointer 0x55d0") == "free(): invalid pointer N"


def crash(build: str, *frames: tuple[int, list[str]], **more: Any) -> dict[str, Any]:
    return {
        "signal": "SIGSEGV", "called": None, "near": None, "message": None,
        "recursive": False, "through": [], **more,
        "frames": [
            {
                "key": f"prog!~{build}{start}", "module": "prog", "function": None,
                "build_id": build, "start": start, "anchors": [(each, 1) for each in anchors],
            }
            for start, anchors in frames
        ],
    }  # fmt: skip


def test_builds_meet_by_what_their_code_says_and_keep_apart_what_they_know() -> None:
    helper = ["text:queue full", "field:24", "call:memcpy"]
    crashes = {
        "a1": crash("A", (16, helper), (32, ["text:sending", "number:4000"])),
        "a2": crash("A", (16, helper), (64, ["text:receiving", "number:80"])),
        "b1": crash("B", (99, helper), (50, ["text:sending", "number:4000"])),
        "b2": crash("B", (99, helper), (70, ["text:receiving", "number:80"])),
    }
    assert sorted(bucketed(crashes)) == [["a1", "b1"], ["a2", "b2"]]
    # A stack that was cut off joins one of them, and does not bring them together.
    cut = {**crashes, "a3": crash("A", (16, helper))}
    assert sorted(map(len, bucketed(cut))) == [2, 3]
    # Of two that nobody has seen in one build, nothing keeps them apart but their looks.
    far = {"c": crash("C", (1, ["text:other"])), "d": crash("D", (2, ["text:words"]))}
    assert sorted(bucketed(far)) == [["c"], ["d"]]
    signals = {"e": crash("E", (1, helper)), "f": crash("F", (1, helper), signal="SIGFPE")}
    assert sorted(bucketed(signals)) == [["e"], ["f"]]


def test_distances_of_stacks() -> None:
    def stack(*keys: str) -> list[frozenset[str]]:
        return [frozenset({key}) for key in keys]

    assert distance(stack("f", "g", "h"), stack("f", "g", "h")) == pytest.approx(0)
    assert distance(stack("f"), stack("g")) == 1
    assert distance([], []) == 0
    far_up = distance(stack("f", "g", "h"), stack("f", "g", "x"))
    near = distance(stack("f", "g", "h"), stack("x", "g", "h"))
    assert 0 < far_up < near < 1
    assert clustered([stack("f", "g"), stack("x", "y"), stack("f", "g")]) == [1, 2, 1]
    assert stack_of(crash("A", (16, ["text:t", "field:1"]))) == [frozenset({"prog!~A16", "text:t"})]


def test_scores() -> None:
    bugs = {"1": "a", "2": "a", "3": "b", "4": "b"}
    assert score(bugs, {"1": 1, "2": 1, "3": 2, "4": 2})[:2] == (1, 1)
    assert score(bugs, {"1": 1, "2": 1, "3": 1, "4": 1})[:2] == (2 / 6, 1)
    assert score(bugs, {"1": 1, "2": 2, "3": 3})[:2] == (1, 0)


def test_recursion_and_inlined_members_of_the_library_are_alike() -> None:
    deep = {"recursive": True}
    crashes = {
        "a": crash("A", (1, ["field:8", "call:puts"]), **deep),
        "b": crash("B", (2, ["field:8", "call:read"]), **deep),
        "c": crash("C", (3, ["text:basic_string::substr"]), signal="SIGABRT"),
        "d": crash("D", (4, []), signal="SIGABRT", through=["std::string::substr"]),
        "e": crash("E", (5, ["text:vector::at"]), signal="SIGABRT"),
    }
    assert sorted(bucketed(crashes)) == [["a", "b"], ["c", "d"], ["e"]]


def test_the_extra_of_the_package_names_what_is_imported() -> None:
    package = Path(__file__).resolve().parents[2] / "gdbext" / "whocall" / "triage"
    found = set()
    for path in package.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                found.add(node.module.partition(".")[0])
    settings = tomllib.loads((package.parents[2] / "pyproject.toml").read_text())
    extra = settings["project"]["optional-dependencies"]["triage"]
    foreign = found - sys.stdlib_module_names - {"whocall"}
    foreign |= {"rich", "jinja2"}  # the command line's bar, and the page, as the report's
    assert foreign == {each.partition(">")[0] for each in extra}


def test_the_published_clusters() -> None:
    stack = [("prog", at) for at in range(6)]
    near, far = [("prog", 99), *stack[1:]], [("prog", 90 + at) for at in range(6)]
    other = [("other", at) for at in range(6)]
    stacks = [tuple(each) for each in (stack, near, far, other, stack)]
    found = casr_clusters(stacks)
    assert found[0] == found[1] == found[4]
    assert len(set(found)) == 3
