"""What reading a file of a million functions costs us and libbfd in memory."""

from __future__ import annotations

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
from whocall.base.native_module import native
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


def ours(file: Path) -> list[int]:
    """Symbols read, and KiB after and at the peak of opening the file."""
    return [int(part) for part in run([sys.executable, "-c", OURS, str(file)]).split()]


def libbfd(file: Path, directory: Path) -> list[int]:
    """The same of a small program around libbfd."""
    source, program = directory / "reader.c", directory / "reader"
    source.write_text(LIBBFD)
    subprocess.run(["gcc", "-O1", "-o", program, source, "-lbfd"], check=True)
    return [int(part) for part in run([str(program), str(file)]).split()]
