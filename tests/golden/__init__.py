"""What each command prints, as a reader sees it: on a terminal of 80 and of 120 columns, and in a
file. The texts in texts/ (a shell's commands) and gdb_texts/ (those of gdb's console) are what it
has to be; `python3 -m golden`, run in tests/, writes them anew, and whoever does that reads what
has changed.
"""
