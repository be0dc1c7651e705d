"""Writes the texts anew, all or of the names that are given."""

import sys

from golden.place import ALL, WIDTHS, kept, place, text_of

with place() as folder:
    for name in sys.argv[1:] or ALL:
        for width, columns in WIDTHS.items():
            kept(name, width).write_text(text_of(name, columns, folder))
            print(kept(name, width).name, flush=True)
