"""Writes the texts anew, all or of the names that are given."""

import sys

from golden.place import ALL, GDB_LINES, WIDTHS, gdb_text_of, kept, place, text_of

KINDS = (("texts", ALL, text_of), ("gdb_texts", GDB_LINES, gdb_text_of))

with place() as folder:
    for where, names, told in KINDS:
        for name in [each for each in names if each in (sys.argv[1:] or names)]:
            for width, columns in WIDTHS.items():
                file = kept(name, width, where)
                file.write_text(told(name, columns, folder))
                print(f"{where}/{file.name}", flush=True)
