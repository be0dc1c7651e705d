# What `run` works with. To be sourced; `prepare` sets `scratch`, and `crash` sets `core`.
# shellcheck shell=bash

examples=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
root=$(dirname -- "$examples")
gdb=${GDB:-gdb}

heading() { printf '\n=== %s\n\n' "$*"; }
fail() { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 1; }

example_names() {  # every source whose header comment says how it is built
  (cd -- "$examples" && grep -l '^[ /*]* Build: ' -- *.c *.cpp | sed 's/\.[^.]*$//' | sort)
}

source_of() {  # NAME
  local source
  for source in "$examples/$1.c" "$examples/$1.cpp"; do
    [ -f "$source" ] && { printf '%s\n' "$source"; return; }
  done
  fail "no example is called $1; there are: $(example_names | xargs)"
}

prepare() {  # also makes the scratch folder, which goes when the script ends
  "$root/scripts/prepare" demo
  export WHOCALL_BUILD_DIR=$root/build/release PYTHONDONTWRITEBYTECODE=1
  unset DEBUGINFOD_URLS  # gdb must not go looking for symbols on the network
  scratch=$(mktemp -d)
  trap 'rm -rf -- "$scratch"' EXIT
  mkdir "$scratch/run"
  export XDG_CACHE_HOME=$scratch/cache  # where symbol files for gdb are kept
}

build_and_strip() {  # NAME: the commands are those after `Build:` in the program's header comment
  local source command built
  source=$(source_of "$1")
  cp -- "$examples"/*.{c,cpp,h} "$scratch/run"
  while read -r command; do
    printf '$ %s\n' "$command"
    (cd -- "$scratch/run" && bash -c "$command")
  done < <(sed -n 's|^[ /*]* Build: ||p' "$source")
  rm -- "$scratch"/run/*.{c,cpp,h}
  for built in "$scratch"/run/*; do
    strip "$built"
    printf '$ strip %s\n' "${built##*/}"
    printf 'nm says: %s\n' "$(nm "$built" 2>&1 | tail -n 1 | sed 's/.*: //')"
  done
}

# The file that the kernel wrote beside the program. Where the kernel gives cores to a program or to
# another folder, gdb writes one.
crash() {  # NAME [GDB-COMMAND...]: commands for the gdb that writes the core
  local name=$1 built command before=()
  shift
  for command in "$@"; do before+=(-ex "$command"); done
  built=$(ls "$scratch/run")
  (
    cd -- "$scratch/run"
    ulimit -c unlimited 2>/dev/null || true
    bash -c "./$name; exit \$?" >"$scratch/output" 2>&1
  ) && fail "$name was to crash, but it ended well"
  core=$scratch/run/$(comm -13 <(printf '%s\n' "$built") <(ls "$scratch/run") | head -n 1)
  if [ ! -f "$core" ] || [ ! -s "$core" ]; then
    printf 'the kernel wrote no core file here: letting gdb write it\n'
    core=$scratch/run/$name.core
    (cd -- "$scratch/run" && "$gdb" -nx -q -batch "${before[@]}" -ex run \
       -ex "generate-core-file $name.core" "./$name") >"$scratch/output" 2>&1 </dev/null || true
    [ -s "$core" ] || { cat "$scratch/output" >&2; fail "gdb could not write a core file either"; }
  fi
  printf 'core file: %s (%s bytes)\n' "${core##*/}" "$(stat -c %s "$core")"
}

ask_gdb() {  # NAME COMMAND...: each command as if it had been typed, and its answer
  local name=$1 command arguments=()
  shift
  for command in "$@"; do
    arguments+=(-ex "echo \\n(gdb) ${command//"$root/"/}\\n" -ex "$command")
  done
  (cd -- "$scratch/run" && "$gdb" -nx -q -batch "${arguments[@]}" "./$name" "$core") 2>&1
}
