"""Call tracing: what the hooks of -finstrument-functions record, and what whocall reads of it.

`python3 tests/tracing` damages traces by the thousand; a short campaign is part of `tests/run`.
"""
