"""Making gdb's own frames those that whocall finds."""
