"""Completion for bash, zsh and fish.

What makes such files of argparse's parsers (shtab) knows no fish, and would have to be there for
each build; the table says more than a parser does: what is a file, a folder, one of some words.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence

import whocall.commands as table
from whocall.cli.parsing import taken_by
from whocall.commands import Parameter

HEAD = "# Made of whocall's table of commands.\n"
_FILES = ("file", "module", "words")


def _options(name: str) -> list[Parameter]:
    takes = taken_by(table.shell_command(name))
    return [each for each in takes if each.is_option and not each.hidden]


def _arguments(name: str) -> list[Parameter]:
    return [each for each in table.shell_command(name).takes if not each.is_option]


def _names(each: Parameter) -> list[str]:
    return [f"--{each.name}", *([f"-{each.short}"] if each.short else [])]


def _program() -> list[str]:
    return ["--help", *(f"--{each.name}" for each in table.program_options())]


def _bash_values(each: Parameter) -> str:
    """What completes the option's value."""
    if each.suggests:
        return f"_whocall_words {shlex.quote(' '.join(each.suggests))}"
    if each.kind == "folder":
        return "_whocall_paths -d"
    return "_whocall_paths -f" if each.kind in ("file", "words") else ":"


def _bash_command(name: str) -> str:
    cases: dict[str, list[str]] = {}
    for each in _options(name):
        if each.metavar:
            cases.setdefault(_bash_values(each), []).extend(_names(each))
    lines = [f"        {'|'.join(names)}) {done}; return ;;" for done, names in cases.items()]
    words = " ".join(["--help", *(word for each in _options(name) for word in _names(each))])
    kinds = {each.kind for each in _arguments(name)} & {"file", "folder", "words"}
    paths = "_whocall_paths -d" if kinds == {"folder"} else "_whocall_paths -f"
    asked = "      case $previous in\n" + "\n".join(lines) + "\n      esac\n" if lines else ""
    rest = paths if kinds or table.passes_on(name) else ":"
    words = shlex.quote(words)
    return (
        f"    {name})\n{asked}"
        f"      if [[ $current == -* ]]; then _whocall_words {words}; else {rest}; fi ;;\n"
    )


def bash() -> str:
    """For bash-completion's folder, or to be sourced."""
    commands = " ".join([*table.shell_names(), *_program()])
    cases = "".join(map(_bash_command, table.shell_names()))
    return f"""{HEAD}
_whocall_words() {{ mapfile -t COMPREPLY < <(compgen -W "$1" -- "$current"); }}
_whocall_paths() {{
  compopt -o filenames 2>/dev/null
  mapfile -t COMPREPLY < <(compgen "$1" -- "$current")
}}
_whocall() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD - 1]}}
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    _whocall_words {shlex.quote(commands)}
    return
  fi
  case ${{COMP_WORDS[1]}} in
{cases}  esac
}}
complete -F _whocall whocall
"""


def _in_brackets(text: str) -> str:
    """For zsh, where these end a description."""
    for letter in "\\[]:":
        text = text.replace(letter, f"\\{letter}")
    return text


def _zsh_values(each: Parameter) -> str:
    metavar = _in_brackets(each.metavar)
    if each.suggests:
        return f":{metavar}:({' '.join(each.suggests)})"
    if each.kind == "folder":
        return f":{metavar}:_files -/"
    return f":{metavar}:_files" if each.kind in ("file", "words") else f":{metavar}: "


def _zsh_option(each: Parameter) -> list[str]:
    value = _zsh_values(each) if each.metavar else ""
    before = "*" if each.repeats else ""
    return [f"{before}{word}[{_in_brackets(each.help)}]{value}" for word in _names(each)]


def _zsh_command(name: str) -> str:
    if table.passes_on(name):
        return f"        {name}) _files ;;\n"
    words = [word for each in _options(name) for word in _zsh_option(each)]
    for each in _arguments(name):
        many = "*" if each.number in ("*", "+") else ""
        words.append(many + (_zsh_values(each) if many else f":{_zsh_values(each)}"))
    quoted = " \\\n          ".join(map(shlex.quote, ["--help[show the help on it]", *words]))
    return f"        {name}) _arguments \\\n          {quoted} ;;\n"


def zsh() -> str:
    """For a folder of zsh's fpath, as _whocall."""
    told = " ".join(
        shlex.quote(f"{name}:{table.shell_command(name).summary.replace(':', chr(92) + ':')}")
        for name in table.shell_names()
    )
    program = [f"--{each.name}[{_in_brackets(each.help)}]" for each in table.program_options()]
    options = " ".join(map(shlex.quote, ["--help[show the help]", *program]))
    cases = "".join(map(_zsh_command, table.shell_names()))
    return f"""#compdef whocall
{HEAD}
_whocall() {{
  local context state state_descr line
  typeset -A opt_args
  _arguments -C {options} ':command:->command' '*::argument:->argument'
  case $state in
    command)
      local -a commands
      commands=({told})
      _describe -t commands command commands ;;
    argument)
      case $words[1] in
{cases}      esac ;;
  esac
}}
_whocall "$@"
"""


def _fish_option(condition: str, each: Parameter) -> str:
    words = ["complete", "-c", "whocall", "-n", condition, "-l", each.name]
    words += ["-s", each.short] if each.short else []
    words += ["-d", each.help]
    if each.suggests:
        words += ["-x", "-a", " ".join(each.suggests)]
    elif each.kind == "folder":
        words += ["-x", "-a", "(__fish_complete_directories)"]
    elif each.kind in ("file", "words"):
        words += ["-r", "-F"]
    elif each.metavar:
        words += ["-x"]
    return _fish_words(words)


def _fish_words(words: Sequence[str]) -> str:
    quoted = (word.replace("\\", "\\\\").replace("'", "\\'") for word in words)
    return " ".join(f"'{word}'" if set(word) - set(_PLAIN) else word for word in quoted) + "\n"


_PLAIN = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"


def fish() -> str:
    """For fish's folder of completions, as whocall.fish."""
    parts = [HEAD, "complete -c whocall -n __fish_use_subcommand -f\n"]
    for each in table.program_options():
        parts.append(_fish_option("__fish_use_subcommand", each))
    for name in table.shell_names():
        told = ["-a", name, "-d", table.shell_command(name).summary]
        parts.append(
            _fish_words(["complete", "-c", "whocall", "-n", "__fish_use_subcommand", *told])
        )
    for name in table.shell_names():
        condition = f"__fish_seen_subcommand_from {name}"
        kinds = {each.kind for each in _arguments(name)}
        if not kinds & set(_FILES) and not table.passes_on(name):
            words = ["complete", "-c", "whocall", "-n", condition, "-f"]
            words += ["-a", "(__fish_complete_directories)"] if "folder" in kinds else []
            parts.append(_fish_words(words))
        parts += [_fish_option(condition, each) for each in _options(name)]
    return "".join(parts)
