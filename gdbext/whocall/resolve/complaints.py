"""What is said of the files that a log speaks of: missing ones, those of another build."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from whocall.resolve.modules import Module

_MOST_LISTED = 8  # files that a warning names
_MOST_SAID = 32  # warnings that are about one file each


def complaints(modules: Iterable[Module]) -> list[str]:
    """On what is missing, of another build, or not known to be the right one: sentences."""
    said: dict[str, None] = {}
    missing: list[str] = []
    guessed: list[str] = []
    for module in modules:
        said.update(dict.fromkeys(module.remarks))
        if module.found is not None and not module.verified:
            guessed.append(module.found.path)
        elif module.found is None and module.build_id is not None:
            said[_complaint(module, module.build_id)] = None
        elif module.found is None and not module.remarks:
            missing.append(module.name)
    sentences = list(said)[:_MOST_SAID]
    if len(said) > _MOST_SAID:
        sentences.append(
            f"{len(said) - _MOST_SAID:,} more files lend no names; --json tells of each"
        )
    if missing:
        sentences.append(
            f"not to be had: {_listed(missing)}; give a directory that holds what is missing, "
            "or its debug file, by --symbols"
        )
    if guessed:
        sentences.append(
            "the log tells no build ids: its names are right if what ran is the build of "
            + _listed(guessed)
        )
    return sentences


def _listed(names: list[str]) -> str:
    """Some of them, and how many more there are."""
    distinct = list(dict.fromkeys(names))
    more = len(distinct) - _MOST_LISTED
    return ", ".join(distinct[:_MOST_LISTED]) + (f" and {more} more" if more > 0 else "")


def _complaint(module: Module, build_id: str) -> str:
    """Why a module lends no names, and what would help: a sentence."""
    remedy = f"give a directory with a file of build {build_id} by --symbols"
    if module.others:
        other = module.others[0]
        build = f"build {other.build_id}" if other.build_id else "a build without an id"
        return (
            f"{other.path} is {build}, and the log is of build {build_id}: it lends no names; "
            f"{remedy}"
        )
    return f"{module.name}, build {build_id}, is not to be had: {remedy}"
