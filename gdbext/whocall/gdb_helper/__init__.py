"""What gdb's commands answer, of an image and of files, without gdb; and the helper, a process that
answers in gdb's place.

What a stranger made is read in the helper, which has given up what it has no use for and may end:
gdb lives on. Of what only gdb can read, programs that it debugs, the same functions answer in gdb.
"""
