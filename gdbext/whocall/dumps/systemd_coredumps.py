"""The crashes that systemd-coredump keeps: by its journal entries, and by the files of its store.

The journal is read by journalctl, which knows its format and its permissions. Where there is no
journal (any more), the files' names and extended attributes tell almost as much.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator
from typing import Any

from whocall.base.errors import Error
from whocall.base.optional_packages import JOURNAL
from whocall.base.programs import Argument, option, start, words
from whocall.base.records import dataclass
from whocall.dumps.coredump_attributes import STORE, fields_of_file

_MESSAGE = "fc2e22bc6ee647b6b90729ab34a250b1"
_PREFIX = "COREDUMP_"
_LISTED = (
    *("PID", "UID", "GID", "SIGNAL", "SIGNAL_NAME", "TIMESTAMP", "HOSTNAME", "COMM", "EXE"),
    *("CMDLINE", "UNIT", "USER_UNIT", "FILENAME", "TRUNCATED"),
)
_TRUSTED = ["_HOSTNAME", "_UID", "_SYSTEMD_UNIT"]
# core.COMM.UID.BOOT.PID.MICROSECONDS, and how it is packed; older versions end in seconds.
_NAME = re.compile(r"core\.(.*)\.(\d+)\.([0-9a-f]{32})\.(\d+)\.(\d+)(?:\.(?:zst|lz4|xz))?$")


@dataclass(frozen=True)
class StoredCrash:
    """One crash; `path` is empty where its core is gone or was never kept."""

    path: str
    fields: dict[str, str]  # in lower case, without COREDUMP_: pid, uid, signal, exe, unit, ...

    @property
    def time(self) -> int:
        """Microseconds since 1970."""
        digits = self.fields.get("timestamp", "0")
        value = int(digits) if digits.isascii() and digits.isdecimal() and len(digits) < 20 else 0
        return value if value > 10**13 else value * 10**6

    @property
    def unit(self) -> str:
        return self.fields.get("unit") or self.fields.get("user_unit", "")

    def matches(self, text: str) -> bool:
        """Whether `text` is its pid, its unit, its executable, or the name of its process."""
        exe = self.fields.get("exe", "")
        named = (self.fields.get("pid"), self.fields.get("unit"), self.fields.get("user_unit"))
        names = (*named, exe, os.path.basename(exe), self.fields.get("comm"))
        return text in [name for name in names if name]


def _text(value: Any) -> str:
    """Of a field in journalctl's JSON: text, a list of its values, or bytes as numbers."""
    if isinstance(value, list):
        if value and all(isinstance(part, int) and 0 <= part < 256 for part in value):
            return bytes(value).decode("utf-8", "surrogateescape")
        return "\n".join(map(str, value))
    return "" if value is None else str(value)


# systemd-coredump@NUMBER-PID-UID.service, which systemd starts for each crash. Of units that users
# start journald names the manager here, user@UID.service.
_UNIT = re.compile(r"systemd-coredump@[^/]*\.service")


def _is_systemds(entry: Any) -> bool:
    """Whether systemd-coredump wrote the entry, not another program that says so.

    Anybody may send journald an entry with this message id and these fields; those that begin with
    "_" journald alone adds, and leaves out of what it is sent (systemd.journal-fields(7)).
    `_UID=0` alone would lose most: systemd-coredump becomes the crashed user before it writes, and
    for the system's own users the user systemd-coredump. `_EXE` alone proves nothing, as everybody
    may run that program. `_SYSTEMD_UNIT` is journald's reading of the
    writer's control group, into which only root's systemd puts anybody; root may write what it
    likes. Of a process that has ended journald knows no unit any more, now and then: such a crash
    is still found by its file.
    """
    unit = entry.get("_SYSTEMD_UNIT")
    return entry.get("_UID") == "0" or (isinstance(unit, str) and bool(_UNIT.fullmatch(unit)))


def _entries(journal: str, complaints: list[str], *options: Argument) -> Iterator[dict[str, Any]]:
    arguments = [*words("--output=json", "--quiet"), *options]
    arguments += [option("--directory", journal)] if journal else []
    try:
        ran = start(JOURNAL.program, [*arguments, option("MESSAGE_ID", _MESSAGE)])
    except OSError:
        if journal:
            raise Error(
                f"a journal is read by {JOURNAL.program}, which is missing: install"
                f" {JOURNAL.package}"
            ) from None
        return
    said, complaint = ran.communicate()
    # It passes over files that are damaged, and complains of each; what it could read is used.
    if ran.returncode != 0 or complaint:
        lines = complaint.decode("utf-8", "surrogateescape").strip().splitlines() or [
            "it said nothing"
        ]
        if journal and not said:
            raise Error(
                f"journalctl cannot read the journal in {journal}: {lines[-1]}; --store DIR alone,"
                " with the cores, does without one"
            )
        if complaint:
            where = f" in {journal}" if journal else ""
            complaints.append(
                f"journalctl cannot read all of the journal{where}: {lines[-1]}; crashes, or what"
                " is known of them, may be missing"
            )
    strange = 0
    for line in said.splitlines():
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(entry, dict) and _is_systemds(entry):
            yield entry
        else:
            strange += 1
    if strange:
        complaints.append(
            f"{strange} of the journal's entries on crashes {'is' if strange == 1 else 'are'} not"
            " known to be systemd-coredump's own, and passed over"
        )


def _fields_of(entry: dict[str, Any]) -> dict[str, str]:
    found = {
        key[len(_PREFIX) :].lower(): _text(value)
        for key, value in entry.items()
        if key.startswith(_PREFIX) and key != "COREDUMP"
    }
    found.setdefault("hostname", _text(entry.get("_HOSTNAME")))
    return found


def _place(path: str, store: str) -> str:
    """Where the core of an entry lies: at its path, or under its name in a store that was moved."""
    places = [os.path.join(store, os.path.basename(path))] if store else [path]
    return next((place for place in places if path and os.path.isfile(place)), "")


def _of_files(store: str) -> Iterator[StoredCrash]:
    try:
        names = os.listdir(store)
    except OSError:
        return
    for name in names:
        parts = _NAME.match(name)
        if parts is None:
            continue
        path = os.path.join(store, name)
        told = {"comm": parts[1], "uid": parts[2], "pid": parts[4], "timestamp": parts[5]}
        yield StoredCrash(path, {**told, **fields_of_file(path)})


def crashes(
    store: str = "", journal: str = "", match: str = "", complaints: list[str] | None = None
) -> list[StoredCrash]:
    """The newest first; those that `match` names, or all. Raises Error; what could be read only in
    part is said in `complaints`.
    """
    complaints = [] if complaints is None else complaints
    if store and not os.path.isdir(store):
        raise Error(f"{store} is no directory: name one with the cores of systemd-coredump")
    found = []
    if journal or not store:
        listed = ",".join([_PREFIX + name for name in _LISTED] + _TRUSTED)
        for entry in _entries(journal, complaints, option("--output-fields", listed)):
            fields = _fields_of(entry)
            found.append(StoredCrash(_place(fields.get("filename", ""), store), fields))
    known = {os.path.basename(crash.path) for crash in found}
    rest = _of_files(store or STORE) if store or not journal else ()
    found += [crash for crash in rest if os.path.basename(crash.path) not in known]
    chosen = (crash for crash in found if not match or crash.matches(match))
    return sorted(chosen, key=lambda crash: crash.time, reverse=True)


def newest_with_core(found: Iterable[StoredCrash], match: str) -> StoredCrash:
    """The first of `found` whose core is there. Raises Error, which says what there is instead."""
    found = list(found)
    crash = next((crash for crash in found if crash.path), None)
    if crash is not None:
        return crash
    what = f" of {match}" if match else ""
    if not found:
        raise Error(
            f"systemd-coredump knows no crash{what}; `whocall bt --list` shows those that it knows"
            " (as root, those of all users)"
        )
    raise Error(
        f"the cores of {len(found)} crashes{what} are gone or were not kept: look at Storage= and"
        " MaxUse= in /etc/systemd/coredump.conf"
    )


def all_fields(crash: StoredCrash, journal: str) -> dict[str, str]:
    """Everything that the journal keeps on the crash, its maps, status and environment too."""
    pid, time = crash.fields.get("pid"), crash.fields.get("timestamp")
    if pid is not None and time is not None:
        which = [option("COREDUMP_PID", pid), option("COREDUMP_TIMESTAMP", time)]
        for entry in _entries(journal, [], *words("--all"), *which):
            return {**crash.fields, **_fields_of(entry)}
    return crash.fields
