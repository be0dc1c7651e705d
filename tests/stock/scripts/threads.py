"""Runs inside the stock interpreter: N threads, the k-th k mod 16 callbacks deep, all blocked in
the same read.
"""

import os
import sys
import threading

COUNT = int(sys.argv[1])
IN_PLACE = threading.Barrier(COUNT)


def descend(depth: int) -> int:
    if depth:
        return min([depth], key=lambda value: descend(value - 1))
    if IN_PLACE.wait() == 0:
        os.write(int(os.environ["STOCK_READY_FD"]), b"%d\n" % os.getpid())
    return len(os.read(0, 1))


threading.stack_size(256 * 1024)
THREADS = [
    threading.Thread(target=descend, args=(number % 16,), name=f"deep-{number}")
    for number in range(COUNT)
]
for thread in THREADS:
    thread.start()
for thread in THREADS:
    thread.join()
