"""One page about a crash."""
