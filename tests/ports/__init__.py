"""The crash corpus of instruction sets other than this machine's.

The distribution's cross compilers build the programs, qemu-user runs them and writes their cores.
The truth is the shadow stack that each program keeps (`corpus/programs/truth.h`): it works
anywhere.
"""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
"""Of the source tree."""
