"""What other tools say: eu-stack, gdb, readelf, nm and objdump as independent witnesses.

Each module runs one tool, parses its words into plain data, and its docstring says where the tool's
words mean something else than they seem to. None of them is the truth; the tests say which of them
is believed on what.
"""
