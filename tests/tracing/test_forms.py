"""Forms of `whocall trace`: tree, tables, JSON, flame graphs; of cores, files and processes."""

from __future__ import annotations

import json
import re
import subprocess
import time
from pathlib import Path
from xml.etree import ElementTree

import pytest
from places.needs import ATTACHING

from tracing.lab import SHARED, Ran, build, profile, run, said, whocall

TREE = """\
main {  <- __libc_start_call_main [libc.so.6]
  work {  <- main at small.c:9
    leaf  <- work at small.c:4
    leaf  <- work at small.c:4
  } work
  jumper {  <- main at small.c:10
    leaf  <- jumper at small.c:5
    thrower {  <- jumper at small.c:5
    } thrower, left without a return
  } jumper, left without a return
  last {  <- main at small.c:11
  } last, still running
} main, still running
"""
SOURCE = """\
#include <setjmp.h>
#include <stdlib.h>
static jmp_buf place; static int __attribute__((noinline)) leaf(int n) { return n + 1; }
static int __attribute__((noinline)) work(int n) { return leaf(n) + leaf(n + 1); }
static void jumper(void) { void thrower(void); leaf(1); thrower(); abort(); }
void thrower(void) { longjmp(place, 1); }
static void last(void) { abort(); }
int main(void) {
  work(3);
  if (setjmp(place) == 0) jumper();
  last();
}
"""


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    folder = tmp_path_factory.mktemp("small")
    (folder / "small.c").write_text(SOURCE)
    ran = run(build(folder, folder / "small.c", "-O0", library=SHARED))
    assert ran.core is not None
    return ran


def calls_of(text: str) -> str:
    """The lines of the tree without times, thread and duration, and lines of the C library."""
    lines = [line[36:] for line in text.splitlines() if not line.startswith("Thread")]
    return re.sub(r"(\[libc\.so\.6\]) at \S+", r"\1", "".join(line + "\n" for line in lines))


def test_tree(small: Ran) -> None:
    assert calls_of(said("trace", small.core)) == TREE


def test_choices(small: Ran) -> None:
    """Functions and what they call, functions alone, depths, the end."""
    assert calls_of(said("trace", small.core, "--only", "^work$")) == (
        "work {  <- main at small.c:9\n"
        "  leaf  <- work at small.c:4\n"
        "  leaf  <- work at small.c:4\n"
        "} work\n"
    )
    only_leaves = calls_of(said("trace", small.core, "--function", "leaf"))
    assert [line.split()[0] for line in only_leaves.splitlines()] == ["leaf"] * 3
    shallow = calls_of(said("trace", small.core, "--depth", "1", "--last", "3"))
    assert shallow == "".join(TREE.splitlines(keepends=True)[-3:]).replace(" {", " {")
    assert calls_of(said("trace", small.core, "--longer", "0 ns")) == TREE
    rows = json.loads(said("trace", small.core, "--json"))["traceEvents"]
    calls = {row["name"]: row["dur"] for row in rows if row["ph"] == "X"}
    long = json.loads(said("trace", small.core, "--json", "--longer", f"{calls['work']:.3f}us"))
    names = {row["name"] for row in long["traceEvents"] if row["ph"] == "X"}
    assert "work" in names
    assert {name for name in names if name != "leaf"} == {
        name for name, took in calls.items() if name != "leaf" and took >= calls["work"]
    }
    symbols = subprocess.run(["nm", "-S", small.exe], capture_output=True, text=True, check=True)
    rows_of = (line.split() for line in symbols.stdout.splitlines())
    sizes = {row[3]: int(row[1], 16) for row in rows_of if len(row) == 4}
    large = sizes["work"]
    told = said("trace", small.core, "--profile", "--size", str(large)).splitlines()[1:]
    assert (
        {line.split()[-1] for line in told}
        == {name for name in calls if sizes[name] >= large}
        != set(calls)
    )
    refused = whocall("trace", small.core, "--size", "1000000")
    assert "no function of the trace is known to have 1,000,000 bytes or more" in refused.stderr
    refused = whocall("trace", small.core, "--longer", "10")
    assert refused.returncode == 2
    assert "'10' is no time: write 500ns, 10us, 5ms or 1.5s" in refused.stderr
    refused = whocall("trace", small.core, "--only", "nothing")
    assert refused.returncode == 1
    assert "no function of the trace has a name that matches 'nothing'" in refused.stderr


def test_callers_and_callees(small: Ran) -> None:
    said_of = said("trace", small.core, "--callers").split("\n\n")
    block = next(each for each in said_of if re.search(r"\n +3 +\S+ \S+  leaf$", each))
    rows = [line.split() for line in block.splitlines()]
    callers = {row[-1]: int(row[0]) for row in rows if row[-2] == "<-"}
    assert callers == {"work": 2, "jumper": 1}


def test_json_is_the_trace_event_format(small: Ran) -> None:
    events = json.loads(said("trace", small.core, "--json"))["traceEvents"]
    calls = [event for event in events if event["ph"] == "X"]
    names = [event["args"]["name"] for event in events if event["ph"] == "M"]
    assert names == ["small"]
    assert sorted(call["name"] for call in calls) == sorted(
        ["main", "work", "leaf", "leaf", "leaf", "jumper", "thrower", "last"]
    )
    inner = {call["name"]: call for call in calls}
    for name, outer in (("work", "main"), ("thrower", "jumper"), ("last", "main")):
        begin, end = inner[name]["ts"], inner[name]["ts"] + inner[name]["dur"]
        assert inner[outer]["ts"] <= begin
        assert end <= inner[outer]["ts"] + inner[outer]["dur"] + 0.001
    assert inner["thrower"]["args"]["end"] == "left"
    assert inner["last"]["args"]["end"] == "running"
    assert inner["work"]["args"]["from"] == "main at small.c:9"


def test_folded_stacks_and_flame_graph_tell_the_times_of_the_profile(small: Ran) -> None:
    folded = dict(
        line.rsplit(" ", 1) for line in said("trace", small.core, "--folded").splitlines()
    )
    assert set(folded) <= {"main", "main;work", "main;work;leaf", "main;jumper", "main;last",
                           "main;jumper;leaf", "main;jumper;thrower"}  # fmt: skip
    picture = ElementTree.fromstring(said("trace", small.core, "--svg"))
    space = "{http://www.w3.org/2000/svg}"
    titles = [box.findtext(f"{space}title") or "" for box in picture.iter(f"{space}g")]
    whole = sum(map(int, folded.values()))
    assert titles[0].startswith("1 threads, ")
    main = next(title for title in titles if title.startswith("main: "))
    assert "(100.00%)" in main
    assert whole > 0


def test_a_file_tells_what_a_core_tells(small: Ran, tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    ran = run(small.exe, folder=tmp_path, WHOCALL_TRACE_FILE=str(trace))
    assert calls_of(said("trace", trace)).replace(", still running", ", left without a return") == (
        TREE.replace(", still running", ", left without a return")
    )
    assert profile(trace) == profile(small.core)
    refused = whocall("trace", ran.core)
    assert refused.returncode == 1
    assert str(trace) in refused.stderr


@pytest.mark.needs(ATTACHING)
def test_a_running_process(tmp_path: Path) -> None:
    (tmp_path / "lives.c").write_text(
        "#include <unistd.h>\nvoid leaf(void) {}\n"
        "void waits(void) { leaf(); for (;;) pause(); }\nint main(void) { waits(); }\n"
    )
    exe = build(tmp_path, tmp_path / "lives.c", library=SHARED)
    process = subprocess.Popen([str(exe)], stdin=subprocess.DEVNULL)
    try:
        for _ in range(100):
            ran = whocall("trace", "--pid", str(process.pid), "--stacks")
            if "waits" in ran.stdout:
                break
            time.sleep(0.05)
        assert [line.split()[1] for line in ran.stdout.splitlines()[1:]] == ["waits", "main"]
        assert (
            calls_of(said("trace", "--pid", str(process.pid)))
            .splitlines()[2]
            .strip()
            .startswith("leaf  <- waits at lives.c:3")
        )
    finally:
        process.kill()
        process.wait()


CHANGED = """\
#include <stdlib.h>
static volatile int work;
static void __attribute__((noinline)) often(void) { work++; }
static void __attribute__((noinline)) kept(void) { work--; }
static void __attribute__((noinline)) only_PLACE(void) { for (int i = 0; i < SPIN; i++) work++; }
int main(void) { for (int i = 0; i < TIMES; i++) often(); kept(); only_PLACE(); abort(); }
"""


def test_difference_of_two_runs(tmp_path: Path) -> None:
    """By name: calls are exact, and what takes longest in one of them alone stands first."""
    cores = {}
    for place, times, spin in (("before", 3, 10), ("after", 40, 3_000_000)):
        folder = tmp_path / place
        folder.mkdir()
        text = CHANGED.replace("PLACE", place).replace("TIMES", f"{times}")
        (folder / "changed.c").write_text(text.replace("SPIN", f"{spin}"))
        ran = run(build(folder, folder / "changed.c", "-O0", library=SHARED))
        assert ran.core is not None
        cores[place] = ran.core
    lines = said("trace", cores["before"], "--diff", cores["after"]).splitlines()
    assert lines[0].split() == ["self", "then", "change", "calls", "then", "function"]
    cell = r"(-|[\d.]+ \w+)"
    form = rf" *{cell} +{cell} +([+-]?[\d.]+ \w+) +(\S+) +(\S+)  (\S+)"
    rows = [re.fullmatch(form, line) for line in lines[1:]]
    found = {row[6]: row.groups() for row in rows if row is not None}
    assert len(found) == len(lines) - 1
    assert found["often"][3:5] == ("3", "40")
    assert found["kept"][3:5] == ("1", "1")
    assert found["only_before"][1:5:3] == ("-", "-")
    assert found["only_after"][0:4:3] == ("-", "-")
    assert rows[0] is not None
    assert rows[0][6] == "only_after"
    assert rows[0][3].startswith("+")
    same = said("trace", cores["before"], "--diff", cores["before"]).splitlines()[1:]
    assert all(re.search(r" 0 ns +\S+ +\S+  \S+$", line) for line in same)
    refused = whocall("trace", cores["before"], "--diff", cores["after"], "--svg")
    assert refused.returncode == 2
    assert "--diff compares profiles" in refused.stderr
