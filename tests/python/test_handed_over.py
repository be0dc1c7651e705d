"""What functions were handed, on the command line: values, what they point to, and their ways."""

from __future__ import annotations

import json

import jsonschema
import pytest
from programs import Crash, shared
from test_cli import run
from test_json import schema

HANDING = r"""
#include <stdlib.h>
#include <string.h>
struct order { int id; const char *name; };
static const struct order orders[2] = {{7, "first"}, {9, "say \"no\"\n"}};
volatile int sink;
static char typed[64];
__attribute__((noinline)) void last(const char *name, int sign, long wide, void (*call)(void)) {
  sink = name[0] + sign + (int)(wide >> 32) + (call != 0); abort(); }
__attribute__((noinline)) void given(const struct order *one, short small) {
  sink = small; last(one[1].name, -3, 0x123456789abcL, abort); sink = small; }
__attribute__((noinline)) int compare(const void *a, const void *b) {
  given(orders, 12); return *(const int *)a - *(const int *)b; }
__attribute__((noinline)) void typing(const char *text, unsigned char byte) {
  int numbers[3] = {3, 1, 2}; sink = text[0] + byte; qsort(numbers, 3, sizeof *numbers, compare);
  sink = byte + text[1]; }
__attribute__((noinline)) void many(int n, ...) { sink = n; typing(typed, 0xfe); sink = n; }
int main(int count, char **words) {
  memcpy(typed, "\033[31mred\033[0m and more", 22); many(count + 4, 5, "six"); return words[0][0]; }
"""


@pytest.fixture(scope="module", params=["-O0", "-O2"])
def crash(request: pytest.FixtureRequest) -> Crash:
    flags = "-w -fno-optimize-sibling-calls -fno-ipa-cp -fno-ipa-sra"
    return shared(f"handing{request.param}", HANDING, f"{request.param} {flags}")


def shown(crash: Crash, *options: str) -> str:
    return run("bt", str(crash.core), str(crash.exe), "--past-main", *options).stdout


def handed(crash: Crash, *options: str) -> list[str]:
    """What stands in parentheses in each line, innermost first."""
    lines = [line for line in shown(crash, *options).splitlines() if line.startswith("#")]
    return [line[line.index(" (") + 2 : line.rindex(") ")] for line in lines if " (" in line]


def test_values_and_what_they_point_to(crash: Crash) -> None:
    found = "\n".join(handed(crash))
    assert r'"say \"no\"\n", -3, 0x123456789abc, 0x' in found
    assert " <abort>\n" in found
    assert ", 12\n" in found
    assert ", 254\n" in found


def test_what_was_typed_cannot_paint_the_terminal(crash: Crash) -> None:
    """The text begins with a control character, so that it is none."""
    out = shown(crash, "--color", "always")
    assert "\033[31m" not in out
    assert "red" not in out


def test_others_than_values(crash: Crash) -> None:
    assert "..." in handed(crash, "--frame-arguments", "presence")
    assert "..., ..., ..., ..." in handed(crash, "--frame-arguments", "none")
    assert not any('"' in each for each in handed(crash, "--no-arguments"))
    assert '"sa"...' in shown(crash, "--characters", "2")


def test_explained(crash: Crash) -> None:
    out = shown(crash, "--explain")
    assert "    Arguments in rdi: from what" in out
    assert "what its caller put there" in out


def test_json_of_both_versions(crash: Crash) -> None:
    newer, older = (json.loads(shown(crash, "--json", "--schema", one)) for one in "21")
    jsonschema.Draft202012Validator(schema("backtrace", 2)).validate(newer)
    jsonschema.Draft202012Validator(schema("backtrace", 1)).validate(older)
    told = [one for frame in newer["threads"][0]["frames"] for one in frame["arguments"] or []]
    (text,) = [one for one in told if one["text"] == 'say "no"\n']
    assert (text["position"], text["register"], text["width"]) == (0, "rdi", 8)
    assert text["shown"] == text["value"] + r' "say \"no\"\n"'
    frames = newer["threads"][0]["frames"]
    lists = [", ".join(one["shown"] for one in each["arguments"] or []) for each in frames]
    assert all(any(line.startswith(each) for line in handed(crash)) for each in lists)
    assert len(set(lists)) > 5
    assert {one["trust"] for one in told if one["value"]} <= {"both", "callee", "call-site", "now"}
    assert {"function": "abort"} in [one["points_to"] for one in told]
