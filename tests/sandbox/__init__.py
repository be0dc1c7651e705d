"""The sandbox of the command line: what it stops, and that nobody sees it otherwise."""
