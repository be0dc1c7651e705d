"""What the reporters of crashes note, in one set of words, and as lines for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from whocall.base.printable import printable

# What each is called by systemd-coredump (lower case), minidumps, ABRT and apport, best first.
_WORDS: Mapping[str, tuple[str, ...]] = {
    "exe": ("exe", "executable", "ExecutablePath"),
    "comm": ("comm",),
    "command": ("cmdline", "command", "ProcCmdline"),
    "pid": ("pid", "Pid", "global_pid"),
    "uid": ("uid", "Uid"),
    "signal": ("signal_name", "signal", "Signal"),
    "time": ("timestamp", "time", "Date"),
    "host": ("hostname",),
    "unit": ("unit", "user_unit"),
    "package": ("package", "Package"),
    "reason": ("reason",),
    "system": ("system", "os_release", "DistroRelease"),
    "writer": ("writer",),
}


def known(fields: Mapping[str, str]) -> dict[str, str]:
    """The fields that all reporters have in common, by one name each; times as UTC."""
    found = {}
    for name, words in _WORDS.items():
        value = next((fields[word] for word in words if fields.get(word)), "")
        if value:
            found[name] = value.split("\n", 1)[0]
    if "signal" in found:
        found["signal"] = _signal(found["signal"])
    if "time" in found:
        found["time"] = utc(found["time"])
    return found


def _signal(text: str) -> str:
    if not _is_number(text):
        return text
    from signal import Signals

    try:
        return Signals(int(text)).name
    except ValueError:
        return f"signal {text}"


def _is_number(text: str) -> bool:
    """Whether int() takes it; a report may have a thousand digits, or such as of other scripts."""
    return text.isascii() and text.isdecimal() and len(text) < 20


def utc(text: str) -> str:
    """`2026-11-24 06:59:58 UTC` of seconds or microseconds since 1970; other texts as they are."""
    if not _is_number(text):
        return text
    from datetime import datetime, timezone

    seconds = int(text)
    seconds = seconds // 10**6 if seconds > 10**13 else seconds
    try:
        return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%d %H:%M:%S UTC")
    except (ValueError, OverflowError, OSError):
        return text


def told(fields: Mapping[str, str]) -> Iterator[str]:
    """A line on the crash, for people: only what is known stands in it."""
    found = known(fields)
    who = found.get("exe") or found.get("comm") or found.get("command", "").partition(" ")[0]
    if not who:
        return
    line = printable(who)
    for form, name in ((" (pid {})", "pid"), (": {}", "signal"), (", {}", "time")):
        if name in found:
            line += form.format(printable(found[name]))
    for form, name in (("host {}", "host"), ("unit {}", "unit"), ("package {}", "package")):
        if name in found:
            line += ", " + form.format(printable(found[name]))
    yield line
