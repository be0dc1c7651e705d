"""The gdb side of whocall: the only package that imports gdb.

register() must stay fast: commands and settings import what does the work when they are first used.
"""

from __future__ import annotations

_registered = False


def _switch_auto_repair(wanted: bool) -> None:
    from whocall.gdb.repair.auto_repair import switch

    switch(bool(wanted))


def _refuse_what_is_no_signature_file(value: str | None) -> None:
    """Raises Error for the first file that cannot be used."""
    from whocall.base.errors import NativeMissingError
    from whocall.gdb.host.settings import paths_in
    from whocall.gdb.target.answering import answer_of_files

    if not value:
        return
    try:
        answer_of_files("signatures.signature_files", {"paths": list(paths_in(value))})
    except NativeMissingError:
        pass  # whoever is to use the files will see


def register() -> None:
    """Adds the commands and settings to this gdb, once, and greets."""
    global _registered
    if _registered:
        return
    from whocall.base.version import __version__
    from whocall.gdb.commands import mi, registration, tui
    from whocall.gdb.host import parameters
    from whocall.gdb.host.invocation import is_batch, is_machine_interface

    parameters.register()
    parameters.on_change("auto-repair", _switch_auto_repair)
    parameters.on_change("signature-files", _refuse_what_is_no_signature_file)
    registration.register()
    mi.register()
    tui.register()
    _registered = True
    if not is_batch() and not is_machine_interface():
        from whocall.gdb.host.output import write

        write([f'whocall {__version__}: type "whocall bt", or "help whocall" for more.'])
