"""Languages with ways of their own, code of interpreters, and code that a JIT compiler wrote."""
