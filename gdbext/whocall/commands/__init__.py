"""The one table of commands: what the command line and gdb's commands take, do and say of it."""
