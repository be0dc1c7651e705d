"""What the command line and the commands of gdb have in common."""
