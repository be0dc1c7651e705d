"""What follows from the table of commands, gdbext/whocall/commands/commands.json.

python3 scripts/commands          makes anew what of it is kept in the tree
"""

from __future__ import annotations

import rows


def main() -> None:
    """Makes it."""
    rows.HOME.write_text(rows.text(), encoding="utf-8")


if __name__ == "__main__":
    main()
