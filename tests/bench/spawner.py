"""Runs commands for a larger process, and measures each.

A process begins with the peak of memory of the one that started it, which exec does not take back.
So the commands to be measured are started by this small program, which imports nothing of ours: it
reads a JSON line for each (`argv`, `environment`, `output`: a file) and answers with one (`status`,
`seconds` of processor time, of the children too that were waited for, `peak` in KiB, `wall`).
"""

import json
import os
import sys
import time


def run(asked: "dict[str, object]") -> "dict[str, object]":
    """One command; its output goes to the file, its complaints to FILE.err."""
    output = str(asked["output"])
    begin = time.monotonic()
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    errors = os.devnull if output == os.devnull else output + ".err"
    process = os.posix_spawnp(
        asked["argv"][0],  # type: ignore[index]
        asked["argv"],  # type: ignore[arg-type]
        asked["environment"],  # type: ignore[arg-type]
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, output, flags, 0o600),
            (os.POSIX_SPAWN_OPEN, 2, errors, flags, 0o600),
        ],
    )
    _, status, usage = os.wait4(process, 0)
    return {
        "status": os.waitstatus_to_exitcode(status),
        "seconds": usage.ru_utime + usage.ru_stime,
        "peak": usage.ru_maxrss,
        "wall": time.monotonic() - begin,
    }


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(run(json.loads(line))), flush=True)
