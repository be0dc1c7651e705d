"""Lists of names as Breakpad and decompilers write them, made from unstripped files.

Breakpad's dump_syms and the decompilers are not in the distribution: their files are put together
here from what readelf says, in the documented form.
"""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import dataclass
from pathlib import Path

from oracles.tools import run


@dataclass(frozen=True)
class Function:
    """What readelf -s says of one function."""

    address: int
    size: int
    name: str
    local: bool


def functions_of(file: Path) -> list[Function]:
    """The functions of .symtab by address; of several at one address all."""
    found = []
    for line in run(["readelf", "-sW", str(file)]).splitlines():
        words = line.split()
        if len(words) >= 8 and words[3] in ("FUNC", "IFUNC") and words[6] != "UND":
            size = int(words[2], 0)
            name = words[7].partition("@")[0]
            found.append(Function(int(words[1], 16), size, name, words[4] == "LOCAL"))
    return sorted(set(found), key=lambda each: (each.address, each.name))


def first_load(file: Path) -> int:
    """The link address of the first loaded segment."""
    text = run(["readelf", "-lW", str(file)])
    match = re.search(r"^\s*LOAD\s+\S+\s+(0x[0-9a-f]+)", text, re.MULTILINE)
    assert match is not None
    return int(match.group(1), 16)


def build_id(file: Path) -> str:
    """As readelf prints it."""
    match = re.search(r"Build ID: ([0-9a-f]+)", run(["readelf", "-n", str(file)]))
    assert match is not None
    return match.group(1)


def breakpad_id(build: str) -> str:
    """The build id as a GUID with the age 0: Breakpad's documentation of symbol files, "MODULE"."""
    raw = bytes.fromhex(build)[:16].ljust(16, b"\0")
    swapped = raw[3::-1] + raw[5:3:-1] + raw[7:5:-1] + raw[8:]
    return swapped.hex().upper() + "0"


def source_rows(file: Path) -> list[tuple[int, str, int]]:
    """(address, file name, line) of the line table; line 0 where a sequence ends."""
    rows = []
    for line in run(["readelf", "--debug-dump=decodedline", "-W", str(file)]).splitlines():
        match = re.match(r"(\S+)\s+(\d+|-)\s+0x([0-9a-f]+)", line)
        if match:
            number = 0 if match.group(2) == "-" else int(match.group(2))
            rows.append((int(match.group(3), 16), match.group(1), number))
    return sorted(rows)


def breakpad(file: Path, inlined: str = "") -> str:
    """A symbol file with FUNC and line records; `inlined` stands behind the FUNC of main."""
    load = first_load(file)
    rows = source_rows(file)
    files = sorted({name for _, name, _ in rows})
    lines = [f"MODULE Linux x86_64 {breakpad_id(build_id(file))} {file.name}"]
    lines += [f"INFO CODE_ID {build_id(file).upper()}"]
    lines += [f"FILE {at} {name}" for at, name in enumerate(files)]
    for each in functions_of(file):
        if each.size == 0:
            lines.append(f"PUBLIC {each.address - load:x} 0 {each.name}")
            continue
        lines.append(f"FUNC {each.address - load:x} {each.size:x} 0 {each.name}")
        if each.name == "main" and inlined:
            lines.append(inlined)
        end = each.address + each.size
        inside = [row for row in rows if each.address <= row[0] < end]
        for row, follower in zip(inside, [*inside[1:], (end, "", 0)]):
            if row[2] and follower[0] > row[0]:
                size = follower[0] - row[0]
                lines.append(f"{row[0] - load:x} {size:x} {row[2]} {files.index(row[1])}")
    lines.append("STACK CFI INIT 1000 10 .cfa: $rsp 8 + .ra: .cfa -8 + ^")
    return "\n".join(lines) + "\n"


def _csv(rows: list[list[str]]) -> str:
    text = io.StringIO()
    csv.writer(text, quoting=csv.QUOTE_ALL).writerows(rows)
    return text.getvalue()


def ghidra_functions(file: Path, base: int = 0x100000) -> str:
    """The function window's CSV. Functions without a name are among it, as Ghidra calls them."""
    rows = [["Name", "Location", "Function Signature", "Function Size"]]
    for each in functions_of(file):
        at = f"{each.address + base:08x}"
        rows.append([each.name, at, f"undefined {each.name}(int a, char *b)", str(each.size)])
    rows.append(["FUN_00100fff", f"{base + 0xFFF:08x}", "undefined FUN_00100fff(void)", "5"])
    return _csv(rows)


def ghidra_symbols(file: Path, base: int = 0x100000) -> str:
    """The symbol table's CSV, with what is no function."""
    rows = [["Name", "Location", "Type", "Namespace", "Source", "Reference Count"]]
    for each in functions_of(file):
        at = f"{each.address + base:08x}"
        rows.append([each.name, at, "Function", "Global", "Imported", "3"])
        rows.append([f"LAB_{at}", at, "Label", "Global", "Default", "1"])
        rows.append([f"wrong_{each.name}", at, "Instruction Label", "Global", "Analysis", "1"])
    rows.append(["puts", "EXTERNAL:00000003", "External Function", "<EXTERNAL>", "Imported", "2"])
    rows.append(["local_28", "Stack[-0x28]", "Local Variable", "main", "Analysis", "2"])
    return _csv(rows)


def ida_functions(file: Path) -> str:
    """IDA's function window, copied: tabs, padded hexadecimal numbers."""
    lines = ["Function name\tSegment\tStart\tLength\tLocals\tArguments"]
    for each in functions_of(file):
        name = "start" if each.name == "_start" else each.name
        lines.append(f"{name}\t.text\t{each.address:016X}\t{each.size:08X}\t00000008\t00000000")
        lines.append(f"sub_{each.address:X}\t.text\t{each.address:016X}\t{each.size:08X}\t\t")
    return "\n".join(lines) + "\n"


def radare(file: Path, key: str = "offset") -> str:
    """What aflj prints."""
    listed = []
    for each in functions_of(file):
        listed.append(
            {
                key: each.address,
                "name": f"sym.{each.name}",
                "size": each.size,
                "is-pure": "false",
                "realsz": each.size,
                "type": "fcn",
                "callrefs": [{"addr": each.address + 1, "type": "CALL", "at": each.address}],
            }
        )
        listed.append({key: each.address, "name": f"fcn.{each.address:08x}", "size": 1})
    listed.append({key: functions_of(file)[0].address, "name": "sym.imp.puts", "size": 6})
    return json.dumps(listed)


def plain_json(file: Path) -> str:
    """What a script would write."""
    listed = [
        {"name": each.name, "start": hex(each.address), "end": hex(each.address + each.size)}
        for each in functions_of(file)
    ]
    return json.dumps({"tool": {"name": "script"}, "functions": listed}, indent=1)
