"""libwhocall in this Python process: which native functions called which, and a crash handler.

from whocall import inside

for frame in inside.backtrace():
    print(frame)
inside.install(text_path="/var/tmp/%p.crash", all_threads=True)
inside.annotate("release", "4.2")

Nothing of whocall's analysis runs here, and nothing of a core is read: libwhocall is a small
library of its own (docs/crash.md), which this loads when it is first needed.
"""

from whocall.inside.calls import Frame, annotate, backtrace, install, prepare

__all__ = ["Frame", "annotate", "backtrace", "install", "prepare"]
