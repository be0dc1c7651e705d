"""Call traces: what a program with the tracing library recorded."""
