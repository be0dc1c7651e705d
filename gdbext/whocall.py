"""whocall: true backtraces of stripped programs.

In gdb `source` this file: it adds the `whocall` commands. Outside gdb it is the command line:
`python3 whocall.py bt CORE`.
"""


def _whocall_start(script):
    """Registers the commands inside gdb, else returns the function that is the command line.

    All in one function: gdb runs this file in the namespace of the user's own Python commands,
    where it must leave nothing behind.
    """
    import sys
    from os import path

    gdb = sys.modules.get("gdb")  # inside gdb it is always there; outside nobody imported it
    inside = hasattr(gdb, "GdbError")

    def give_up(sentence):
        if not inside:
            sys.exit(f"whocall: {sentence}")

        class Missing(gdb.Command):
            """whocall is not complete; any use of it says what to do."""

            def invoke(self, argument, from_tty):
                raise gdb.GdbError(sentence)

        # An exception out of a sourced file would be shown with a traceback, and no error to gdb.
        gdb.write(f"whocall: {sentence}\n", gdb.STDERR)
        Missing("whocall", gdb.COMMAND_STACK)

    if sys.version_info < (3, 9):  # noqa: UP036 - gdb brings its own Python, of any age
        version = "{}.{}".format(*sys.version_info)
        return give_up(f"it needs Python 3.9 or newer, and this is {version}; use a newer gdb")
    # In a checkout the package lies beside this file. Installed, this file lies in the package, as
    # whocall/share/whocall.py, and must not be taken for the package itself.
    here = path.dirname(path.realpath(script))
    for folder in (here, path.dirname(path.dirname(here))):
        if path.isfile(path.join(folder, "whocall", "__init__.py")):
            break
    else:
        return give_up(
            f"the package `whocall` is not beside {path.join(here, 'whocall.py')}; source the file"
            " in its checkout, or run `pip install whocall` and source what `whocall --script-path`"
            " prints"
        )
    if sys.path[:1] != [folder]:
        sys.path.insert(0, folder)
    if inside:
        from whocall.gdb import register

        return register()
    import _signal

    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
        _signal.signal(_signal.SIGINT, _signal.SIG_DFL)  # as entry.py does, for what it lies in
    from whocall.entry import run

    return run


if __name__ == "__main__":
    try:
        # Not __file__: gdb leaves that of a script which sources this one as it is.
        _whocall_main = _whocall_start(_whocall_start.__code__.co_filename)
        if _whocall_main is not None:
            raise SystemExit(_whocall_main())
    finally:
        del _whocall_start
        globals().pop("_whocall_main", None)
