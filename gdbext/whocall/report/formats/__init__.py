"""Backtraces in the forms of other tools: one module a form, with `text(report)`."""

# The module of each, and whether it is about all threads; others are about the crashed one.
FORMATS = {
    "speedscope": ("whocall.report.formats.speedscope", True),
    "firefox": ("whocall.report.formats.firefox", True),
    "folded": ("whocall.report.formats.folded", True),
    "flamegraph": ("whocall.report.formats.svg", True),
    "sarif": ("whocall.report.formats.sarif", False),
    "markdown": ("whocall.report.formats.markdown", False),
    "mail": ("whocall.report.formats.mail", False),
}
