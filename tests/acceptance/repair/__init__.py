"""Symbol files written for debuggers, and gdb's own backtraces with them."""
