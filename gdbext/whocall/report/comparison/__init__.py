"""whocall's frames beside those of gdb."""
