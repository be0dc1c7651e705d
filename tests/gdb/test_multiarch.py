"""gdb-multiarch, which is of the system's release as the system's gdb."""

from __future__ import annotations

import shutil
import subprocess

from programs import Crash
from sessions import SCRIPT, batch, environment


def test_gdb_multiarch_is_as_gdb(chain: Crash) -> None:
    multiarch = shutil.which("gdb-multiarch")
    assert multiarch, "gdb-multiarch is not installed: scripts/prepare tests installs it"
    commands = ["echo {bt}\\n", "whocall bt"]
    ran = subprocess.run(
        [multiarch, "-nx", "-q", "-batch", "-ex", f"source {SCRIPT}",
         *(word for command in commands for word in ("-ex", command)),
         str(chain.exe), str(chain.core)],
        env=environment(), stdin=subprocess.DEVNULL, capture_output=True, text=True,
        check=False, timeout=60,
    )  # fmt: skip
    ours = batch(commands, [chain.exe, chain.core]).out.split("{bt}\n")[1]
    assert ran.stdout.split("{bt}\n")[1] == ours
    assert ours.splitlines()[2].startswith("#0 ")
