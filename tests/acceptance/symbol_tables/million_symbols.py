"""An ELF file of a million functions, and what reading it costs us and libbfd in memory."""

from __future__ import annotations

import random
import struct
import subprocess
import sys
from pathlib import Path

from oracles.tools import run

COUNT = 1_000_000

# Each prints, in KiB, by how much reading the file grew the memory that is the reader's own, and
# how much of its own it ever had beyond the first. RssFile are pages of mapped files, which the
# kernel can drop at any time.
OURS = """
import sys
from whocall.core.engine import native
def status():
    with open("/proc/self/status") as lines:
        fields = dict(line.split(":", 1) for line in lines)
    return [int(fields[name].split()[0]) for name in ("RssAnon", "RssFile", "VmHWM")]
before = status()
table = native.open_symbols(sys.argv[1].encode())
after = status()
print(len(table), after[0] - before[0], after[2] - after[1] - before[0])
"""

LIBBFD = r"""
#define PACKAGE "reader"
#define PACKAGE_VERSION "1"
#include <bfd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static long status(const char *field) {
  char line[256];
  long value = 0;
  FILE *file = fopen("/proc/self/status", "r");
  while (fgets(line, sizeof line, file))
    if (!strncmp(line, field, strlen(field))) value = atol(line + strlen(field) + 1);
  fclose(file);
  return value;
}
int main(int count, char **arguments) {
  long before = status("RssAnon");
  bfd_init();
  bfd *file = bfd_openr(arguments[1], 0);
  if (count < 2 || !file || !bfd_check_format(file, bfd_object)) return 1;
  asymbol **symbols = malloc(bfd_get_symtab_upper_bound(file));
  long found = bfd_canonicalize_symtab(file, symbols);
  printf("%ld %ld %ld\n", found, status("RssAnon") - before,
         status("VmHWM") - status("RssFile") - before);
  return 0;
}
"""


def write(path: Path, count: int = COUNT) -> None:
    """Functions of 16 bytes with a size, in disorder, as linkers write them."""
    base, shstrtab = 0x400000, b"\0.text\0.symtab\0.strtab\0.shstrtab\0"
    names = b"\0" + b"".join(b"function_number_%07d\0" % at for at in range(count))
    order = list(range(count))
    random.Random(1).shuffle(order)
    entry = struct.Struct("<IBBHQQ").pack
    symbols = bytes(24) + b"".join(
        entry(1 + 24 * at, 0x12, 0, 1, base + 16 * at, 16) for at in order
    )
    at_symbols = 64
    at_names = at_symbols + len(symbols)
    at_headers = at_names + len(names)
    header = struct.Struct("<IIQQQQIIQQ").pack
    sections = [
        bytes(64),
        header(1, 8, 6, base, 64, 16 * count, 0, 0, 16, 0),  # the code itself is left out: NOBITS
        header(7, 2, 0, 0, at_symbols, len(symbols), 3, 1, 8, 24),
        header(15, 3, 0, 0, at_names, len(names), 0, 0, 1, 0),
        header(23, 3, 0, 0, at_headers + 5 * 64, len(shstrtab), 0, 0, 1, 0),
    ]
    ident = b"\x7fELF\x02\x01\x01".ljust(16, b"\0")
    head = struct.pack("<HHIQQQIHHHHHH", 2, 62, 1, base, 0, at_headers, 0, 64, 56, 0, 64, 5, 4)
    path.write_bytes(ident + head + symbols + names + b"".join(sections) + shstrtab)


def ours(file: Path) -> list[int]:
    """Symbols read, and KiB after and at the peak of opening the file."""
    return [int(part) for part in run([sys.executable, "-c", OURS, str(file)]).split()]


def libbfd(file: Path, directory: Path) -> list[int]:
    """The same of a small program around libbfd."""
    source, program = directory / "reader.c", directory / "reader"
    source.write_text(LIBBFD)
    subprocess.run(["gcc", "-O1", "-o", program, source, "-lbfd"], check=True)
    return [int(part) for part in run([str(program), str(file)]).split()]
