"""Functions, modules, addresses and audits as text and as JSON."""
