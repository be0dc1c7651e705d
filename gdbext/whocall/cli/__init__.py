"""The command line outside gdb."""
