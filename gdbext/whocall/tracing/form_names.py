"""The forms of a trace beside the tree, and what each is: for parsers of options, so no more."""

from __future__ import annotations

FORMS = {
    "callers": "each function under its callers and above its callees, with counts and times",
    "profile": "counts and times of each function",
    "stacks": "the shadow stacks: what each thread is in now",
    "json": "the Trace Event Format, for Perfetto and chrome://tracing",
    "folded": "a line for each stack with its time in nanoseconds, for flame graphs",
    "svg": "a flame graph",
}
