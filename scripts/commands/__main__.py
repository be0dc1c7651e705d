"""What follows from the table of commands, gdbext/whocall/commands/commands.json.

python3 scripts/commands            makes anew what of it is kept in the tree
python3 scripts/commands FOLDER     makes there what is installed: manual page, completions
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[2] / "gdbext")]
sys.dont_write_bytecode = True  # nothing into the tree


def _keep() -> None:
    import rows

    for path, text in rows.texts().items():
        path.write_text(text, encoding="utf-8")
    import markdown

    for page in markdown.pages():
        page.write_text(markdown.renewed(page.read_text(encoding="utf-8")), encoding="utf-8")


def _install(folder: Path) -> None:
    import completions
    import manual

    made = {
        "whocall.1": manual.text(),
        "whocall.bash": completions.bash(),
        "_whocall": completions.zsh(),
        "whocall.fish": completions.fish(),
    }
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in made.items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:]:
        _install(Path(sys.argv[1]))
    else:
        _keep()
