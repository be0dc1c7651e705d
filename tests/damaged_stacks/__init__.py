"""Damage and code without a file: crashes of which unwind tables could tell nothing.

    for case in damage_cases():
        built = case.build(directory)  # as in the corpus
        built.truth().frames, lost_frames(built)

All programs are built without unwind tables.
"""

from damaged_stacks.catalog import KINDS, damage_cases, kind_of
from damaged_stacks.lost import lost_frames, required_frames

__all__ = ["KINDS", "damage_cases", "kind_of", "lost_frames", "required_frames"]
