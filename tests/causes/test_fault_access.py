"""Whether a fault is told as a read, a write or a jump: as the processor says it was, or not at
all.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from corpus.crash import crash

from causes.fault_programs import PLACES, cases_of, kernels_word, made, variables
from causes.programs import core_of, happened

ALL = [(bits, name) for bits in (64, 32) for name in cases_of(bits)]
WORDS = {"read": "reading", "write": "writing", "read-write": "reading and writing"}


@pytest.fixture(scope="module")
def programs(place: Path) -> dict[int, Path]:
    return {bits: made(bits, place / "fault access") for bits in (64, 32)}


@pytest.mark.parametrize(("bits", "name"), ALL)
def test_the_verb_is_the_processors(bits: int, name: str, programs: dict[int, Path]) -> None:
    case, exe = cases_of(bits)[name], programs[bits]
    is_vector = "%ymm" in case.code or "vp" in case.code
    if is_vector and "avx2" not in Path("/proc/cpuinfo").read_text():
        pytest.skip("this processor has no AVX2")
    core = crash(exe, exe.parent / f"{bits} {name}", variables=variables(bits, name)).core
    told = happened(core)
    does, address = kernels_word(exe, bits, name)
    assert told["fault_access"] == case.does, told
    assert case.does is None or case.does.endswith(does)
    assert int(told["fault_address"], 16) == address
    assert case.at < 0 or address == PLACES[case.bad] + case.at
    word = bits // 8
    wanted = {0: 8 * word if name == "all pushed" else word}.get(case.size, case.size)
    assert told["fault_size"] == wanted, told
    if case.does in WORDS and wanted:
        said = told["facts"][0]["text"]
        assert f"it was {WORDS[case.does]} {wanted} byte" in said or "stack overflow" in said


HANDLED = r"""
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
static void give_up(int number, siginfo_t *info, void *context) { ENDS; }
__attribute__((noipa)) int faulty(volatile int *p, int n) { FAULTS; }
int main(int count, char **words) {
  struct sigaction action = {.sa_sigaction = give_up, .sa_flags = SA_SIGINFO | SA_NODEFER};
  int numbers[] = {SIGSEGV, SIGFPE, SIGUSR1};
  for (int i = 0; i < 3; i++) sigaction(numbers[i], &action, 0);
  return faulty((int *)24, count - 1);
}
"""
ABORT, AGAIN = "abort()", "signal(number, SIG_DFL); raise(number)"
# What the program does, how it ends, and what is told of the signal that was handled.
WAYS = {
    "written": ("*p = n; return 1", ABORT, "SIGSEGV", " writing at 0x18: nothing is mapped there"),
    "read": ("return *p + 1", AGAIN, "SIGSEGV", " reading at 0x18: nothing is mapped there"),
    "run": ("return ((int (*)(void))p)() + 1", ABORT, "SIGSEGV", " executing 0x18: nothing is"),
    "divided": ("return 7 / n", ABORT, "SIGFPE", ": an integer was divided by zero"),
    "sent": ("raise(SIGUSR1); return 2", ABORT, None, ""),
    "sent itself": ("raise(SIGSEGV); return 2", ABORT, None, ""),
    "after one": ("if (!sigsetjmp(place, 1)) return *p; raise(SIGSEGV); return 1",
                  "if (info->si_code > 0) siglongjmp(place, 1); abort()", None, ""),
}  # fmt: skip


@pytest.mark.parametrize("flag", ["-m64", "-m32"])
@pytest.mark.parametrize("way", WAYS)
def test_a_program_that_ends_itself_in_a_handler(way: str, flag: str, place: Path) -> None:
    faults, ends, signal, said = WAYS[way]
    source = HANDLED.replace("FAULTS", faults).replace("ENDS", ends)
    if "place" in faults:
        source = "#include <setjmp.h>\nstatic sigjmp_buf place;\n" + source
    told = happened(core_of(source, place / f"handled {flag}" / way / "handled", flag))
    handled = [fact["text"] for fact in told["facts"] if fact["kind"] == "handled"]
    assert len(handled) == (signal is not None), told
    for text in handled:
        assert text.startswith(f"that was in a handler of {signal}, raised by #")
        assert "faulty" in text or way == "run"
        assert said in text
