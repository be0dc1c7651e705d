"""The commands of gdb: each module has run(), which does the work of one."""
