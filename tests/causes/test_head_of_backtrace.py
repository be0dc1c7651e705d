"""What stands above the backtrace of a crash: the signal in words, the program and its arguments,
and the cause where it is proven; the same as `whocall why` tells.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from acceptance.helpers.broken_files import SCRIPT

import whocall
from causes.programs import SOURCES, compiled, core_of, happened
from causes.test_why import in_gdb

SCHEMA = json.loads((Path(whocall.__file__).parent / "schema" / "backtrace-2.json").read_text())

# Of each program: what is told behind the thread, and the cause.
TOLD = {
    "null-access": ("SIGSEGV reading 4 bytes at 0x4", "nothing is mapped there.",
                    "0x4 is 4 bytes past the null pointer in rdi, which #0 got from #1, "
                    "a constant there."),
    "null-call": ("SIGSEGV executing 0x0", "nothing is mapped there.",
                  "call+{n} called address 0, a null function pointer, which #1 got from #2, "
                  "a constant there."),
    "wild-call": ("SIGSEGV executing 0x10000000", "nothing is mapped there.",
                  "call+{n} called 0x10000000, where no code is."),
    "smashed-return": ("SIGSEGV", '{s} was to return to 0x4141414141414141 (the text "AAAAAAAA"), '
                       "where no code is: its return address was overwritten.", ""),
    "stack-overflow": ("SIGSEGV writing {n} bytes at 0x{x}", "{s}.", "the stack overflowed: {s}"),
    "abort": ("SIGABRT", "abort() was called.", ""),
    "division": ("SIGFPE", "an integer was divided by zero.", ""),
    "trap": ("SIGILL", "the processor does not know the instruction, or must not run it.",
             "it ran into `ud2`, {s}"),
    "sent": ("SIGSEGV", "process {n} sent the signal.", ""),
}  # fmt: skip


def bt(*arguments: str | Path) -> str:
    line = [sys.executable, str(SCRIPT), "bt", *map(str, arguments)]
    return subprocess.run(line, check=True, capture_output=True, text=True).stdout


def head(said: str) -> list[str]:
    """The lines above the first frame."""
    return said[: said.index("\n#0 ")].splitlines()


def pattern(text: str) -> str:
    found = re.escape(text)
    for name, form in (("n", r"\d+"), ("x", "[0-9a-f]+"), ("s", ".+")):
        found = found.replace(rf"\{{{name}\}}", form)
    return found


@pytest.mark.parametrize("name", sorted(TOLD))
def test_what_happened_is_told(name: str, place: Path) -> None:
    core = core_of(SOURCES[name], place / "head" / name / name)
    signal, first, cause = TOLD[name]
    lines = head(bt(core))
    form = r'".+" was ended by {} in thread 1 \(LWP \d+\): {}'
    assert re.fullmatch(form.format(pattern(signal), pattern(first)), lines[0]), lines
    assert len(lines) == 1 + bool(cause), lines
    assert not cause or re.fullmatch(f"Cause: {pattern(cause)}", lines[1]), lines


@pytest.mark.parametrize("name", sorted(SOURCES))
def test_no_other_cause_is_told_than_the_pages(name: str, place: Path) -> None:
    core = core_of(SOURCES[name], place / "head" / name / name)
    document = json.loads(bt(core, "--json"))
    jsonschema.validate(document, SCHEMA)
    told = document["threads"][0]["happened"]
    page = happened(core)
    assert told["sentence"] == " ".join(head(bt(core)))
    if page["facts"] and page["facts"][0]["kind"] in ("assertion", "abort-message"):
        assert told["last_words"] == page["facts"][0]["text"].rstrip(".")
        assert told["sentence"].endswith(f" Cause: {told['last_words']}.")
    else:
        assert told["last_words"] is None
    for key in ("signal_code", "signal_meaning", "fault_address", "fault_access", "fault_size"):
        assert told[key] == page[key]
    kinds = {fact["kind"] for fact in page["facts"]}
    for fact in told["facts"]:  # "abort" is told by its message there
        assert fact in page["facts"] or (fact["kind"] in ("abort", "sent") and kinds), fact


def test_gdb_and_the_shell_tell_the_same(place: Path) -> None:
    core = core_of(SOURCES["null-access"], place / "head" / "null-access" / "null-access")
    wanted = "\n".join(head(bt(core)))
    for helper in ("on", "off"):
        said = in_gdb(
            f"set whocall helper {helper}", "set width 0", "whocall bt",
            files=(core.parents[1] / "null-access", core),
        )  # fmt: skip
        assert wanted in said, said


def test_arguments_are_no_wider_than_the_screen_and_obeyed_by_none(place: Path) -> None:
    source = r"""
    #include <unistd.h>
    int main(int count, char **words) {
        char *others[] = {"rows", "--of", "\x1b]0;title\x07\n#0  0x0 in fake () [context]",
                          "zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz", 0};
        if (count == 1) execv("/proc/self/exe", others);
        return *(volatile int *)4;
    }
    """
    core = core_of(source, place / "head" / "arguments" / "arguments")
    said = bt(core, "--width", "80")
    lines = head(said)
    assert "\x1b" not in said
    assert sum(line.startswith("#0") for line in said.splitlines()) == 1
    assert all(len(line) < 80 for line in lines), lines
    assert lines[0].startswith('"rows --of \\x1b')
    assert '..." was ended by SIGSEGV reading 4 bytes at 0x4 in thread 1' in " ".join(
        lines
    ).replace("  ", "")
    told = json.loads(bt(core, "--json"))["threads"][0]["happened"]["command_line"]
    assert told.startswith("rows --of \x1b]0;title\x07\n#0  0x0 in fake")


def threads_of(place: Path) -> Path:
    source = """
    #include <pthread.h>
    #include <unistd.h>
    static void *waits(void *p) { pause(); return p; }
    static void *crashes(void *p) { sleep(1); return *(void **)p; }
    int main(void) {
        pthread_t one, two;
        pthread_create(&one, 0, waits, 0);
        pthread_create(&two, 0, crashes, (void *)16);
        pthread_join(two, 0);
    }
    """
    exe = place / "head" / "threads" / "threads"
    return core_of(source, exe, "-pthread")


def test_of_several_threads_it_stands_with_the_one_that_crashed(place: Path) -> None:
    core = threads_of(place)
    said = bt(core, "--all")
    assert said.count(" was ended by SIGSEGV reading 8 bytes at 0x10 in thread ") == 1
    title, first, second, frame = said.splitlines()[:4]
    assert re.match(r"Thread 1 \(LWP \d+ \"threads\", SIGSEGV\):", title)
    assert " in thread 1 (LWP " in first
    assert re.fullmatch("Cause: 0x10 is 16 bytes .*null.*", second)
    assert frame.startswith("#0 ")
    threads: list[dict[str, Any]] = json.loads(bt(core, "--all", "--json"))["threads"]
    assert [each["happened"] is not None for each in threads] == [True, False, False]
    other = threads[1]["lwp"]
    assert "was ended" not in bt(core, "--thread", str(other))


def test_a_live_program_was_stopped_or_has_no_word(place: Path) -> None:
    exe = compiled(SOURCES["null-access"], place / "head" / "live" / "live")
    said = in_gdb("set width 0", "run one two", "whocall bt", "kill", files=(exe,))
    assert (
        f'"{exe} one two" was stopped by SIGSEGV reading 4 bytes at 0x4 in thread 1 (LWP ' in said
    )
    assert (
        "): nothing is mapped there.\nCause: 0x4 is 4 bytes past the null pointer in rdi, "
        "which #0 got from #1, a constant there." in said
    )
    said = in_gdb("break main", "run", "whocall bt", "kill", files=(exe,))
    assert " was stopped by " not in said
