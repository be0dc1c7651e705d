"""AVX-512's instructions on bytes and words, on any processor: as the assembler's own disassembler
reads them, and what is said of a crash at one.
"""

from __future__ import annotations

import random
import re
import subprocess
from pathlib import Path

from corpus.crash import crash

from causes.programs import compiled, happened
from whocall import open_core
from whocall.base.operations import operations

COUNT = 300
BASES = ["rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", *(f"r{i}" for i in range(8, 16))]
INDEXES = [each for each in BASES if each != "rsp"]
SIZES = {"x": 16, "y": 32, "z": 64}
TO_MASK = [f"vp{each}{size}" for each in ("cmpgt", "cmpeq", "testm", "testnm") for size in "bw"]
TO_VECTOR = [f"vp{each}{size}" for each in ("subus", "sub", "add") for size in "bw"]
TO_VECTOR += ["vpminub", "vpmaxub", "vpaddusb", "vpminsw", "vpmaxsw", "vpshufb"]
TO_VECTOR += ["vpminsb", "vpminuw", "vpmaxsb", "vpmaxuw"]


def _place(chance: random.Random, size: int) -> str:
    base, index = chance.choice(BASES), chance.choice(INDEXES)
    distance = chance.choice([0, size, -size, 3 * size, 5, 4096, -77])
    scale = chance.choice([1, 2, 4, 8])
    return chance.choice([
        f"[{base}]", f"[{base}+{distance}]", f"[{base}+{index}*{scale}+{distance}]",
        f"[rip+{chance.randrange(9999)}]", f"[{index}*8+{distance}]", f"[{base}+{index}]",
    ])  # fmt: skip


def _line(chance: random.Random) -> str:
    letter = chance.choice(list(SIZES))
    mask = chance.choice(["", "", f" {{k{chance.randrange(1, 8)}}}"])
    made = f"{letter}mm{chance.randrange(16, 32)}"
    other, to = f"{letter}mm{chance.randrange(32)}", f"k{chance.randrange(8)}"
    place = f"{letter}mmword ptr {_place(chance, SIZES[letter])}"
    zeroed = mask and mask + chance.choice(["", "{z}"])
    moved = chance.choice(["vmovdqu8", "vmovdqu16"])
    compared = chance.choice(["vpcmpub", "vpcmpuw", "vpcmpb", "vpcmpw"])
    return chance.choice([
        f"{chance.choice(TO_MASK)} {to}{mask}, {other}, {place}",
        f"{chance.choice(TO_VECTOR)} {made}{zeroed}, {other}, {place}",
        f"{moved} {made}{zeroed}, {place}",
        f"{moved} {place}{mask}, {made}",
        f"{compared} {to}{mask}, {other}, {place}, {chance.randrange(8)}",
    ])  # fmt: skip


def _plain(text: str) -> str:
    """Without what two writers of one operand differ in."""
    text = re.sub(r"[#<].*|\{evex\}|ptr|\s", "", text.lower())
    text = re.sub(r"0x([0-9a-f]+)", lambda found: str(int(found[1], 16)), text)
    text = re.sub(r"\*1\b|\+0\b", "", text)
    return re.sub(r"vpcmp([a-z]*?)(u?[bw])(.*),([37])$", r"vpcmp\g<4>\2\3", text)


def test_as_objdump_reads_them(tmp_path: Path) -> None:
    chance = random.Random(5)
    lines = [_line(chance) for _ in range(COUNT)]
    program = tmp_path / "program"
    begun, ended = "main: mov eax, [0]", '.section .note.GNU-stack,"",@progbits'
    source = [".intel_syntax noprefix", ".globl main", begun, *lines, ".att_syntax", ended]
    (tmp_path / "program.s").write_text("\n".join(source) + "\n")
    subprocess.run(["gcc", "-no-pie", tmp_path / "program.s", "-o", program], check=True)
    said = subprocess.run(
        ["objdump", "-d", "-M", "intel", "--no-show-raw-insn", "--disassemble=main", program],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    theirs = {int(at, 16): line for at, line in re.findall(r"^ +([0-9a-f]+):\t(.*)$", said, re.M)}
    with open_core(str(crash(program, tmp_path).core), str(program)) as image:
        ours = {one.address: one for at in theirs for one in operations(image, at, 15, 1)}
    ends = sorted(theirs)
    wrong = [
        (_plain(f"{ours[at].mnemonic} {ours[at].text}"), _plain(theirs[at]))
        for at, end in zip(ends[1:-1], ends[2:])
        if at not in ours
        or _plain(f"{ours[at].mnemonic} {ours[at].text}") != _plain(theirs[at])
        or ours[at].size != end - at
    ]
    assert len(theirs) > COUNT and wrong == []


# As long as the instruction that takes its place when the program is dead.
SEARCH = """
struct part { long id; const char *label; };
__attribute__((noipa, naked)) unsigned long length(const char *text) {
    __asm__(".byte 0x8b, 0x07, 0x0f, 0x1f, 0x40, 0x00; ret"); }
__attribute__((noipa)) unsigned long weigh(struct part *p) { return length(p->label) + 1; }
static struct part nothing;
int main(void) { return (int)weigh(&nothing); }"""
PLAIN = bytes.fromhex("8b070f1f4000")  # mov eax, [rdi]; nop
VECTOR = bytes.fromhex("62f17d207407")  # vpcmpeqb k0, ymm16, [rdi]


def test_what_a_search_followed_is_told(tmp_path: Path) -> None:
    program = compiled(SEARCH, tmp_path / "program")
    core = crash(program, tmp_path).core
    code = program.read_bytes()
    assert code.count(PLAIN) == 1
    program.write_bytes(code.replace(PLAIN, VECTOR))
    text = happened(core, exe=program)["facts"][0]["text"]
    assert text.startswith("it was reading 32 bytes at 0x0, by the null pointer in rdi"), text
    assert "which #0 got from #1" in text
