"""The gdb that this runs in: its settings, its output, its caches."""
