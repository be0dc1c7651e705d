"""The program that gdb debugs, as a process image."""
