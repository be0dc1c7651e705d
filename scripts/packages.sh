# Which packages each level needs, and how they are found and installed. To be sourced by `prepare`.
# shellcheck shell=bash disable=SC2034
#
# A word names a package as apt calls it: no releases of Debian, so that derivatives work. It may be
#   a|b             the first of these that the system has, or that apt can install
#   a|              the same, or nothing: gold comes with binutils, by itself, or no longer
#   x-{package}-y   with the version that the distribution's `package` stands for: g++-{g++}-multilib
#                   is g++-12-multilib where g++ is g++-12

build_packages=(g++ cmake ninja-build 'pkgconf|pkg-config' pybind11-dev python3-dev binutils-dev
                libiberty-dev libdw-dev libcapstone-dev liblzma-dev zlib1g-dev libdeflate-dev libzstd-dev
                liblz4-dev libbz2-dev libdebuginfod-dev nlohmann-json3-dev binutils gdb)
quick_packages=(python3-pytest python3-hypothesis python3-pexpect python3-jsonschema doctest-dev)
bench_packages=(lldb elfutils llvm clang libunwind-dev uftrace libbenchmark-dev)
test_packages=("${bench_packages[@]}" "${quick_packages[@]}"
               ccache gdb-multiarch debootstrap 'binutils-gold|' 'libclang-rt-dev|libclang-rt-{clang}-dev'
               g++-aarch64-linux-gnu g++-arm-linux-gnueabihf g++-riscv64-linux-gnu qemu-user
               strace mold musl-tools 'g++-{g++}-multilib' python3-venv valgrind perl git
               openssl sqlite3 gdbserver libgnutls28-dev nettle-dev lld rustc perl-debug libc6-dbg gobjc 'ocaml-nox|ocaml' libssl-dev libexpat1-dev
               libpcre2-dev libtirpc-dev libgmp-dev debuginfod golang-go tmux llvm-runtime
               lua5.4 liblua5.4-dev mujs duktape 'gforth|pforth' luajit chezscheme sbcl shellcheck default-jre-headless
               guile-3.0 emacs-nox
               zstd xz-utils gzip lz4 bzip2 systemd util-linux libcap2-bin umoci skopeo
               'chromium|chromium-browser' 'chromium-driver|chromium-chromedriver' python3-selenium python3-jinja2
               python3-rich python3-markdown-it python3-distributed zsh fish groff-base)
# Debian 13 is the last to have these; for later ones scripts/mips-compilers unpacks them.
mips_packages=(g++-mips-linux-gnu g++-mipsel-linux-gnu g++-mips64el-linux-gnuabi64)

# The same for distributions without apt, by their documentation: not tried.
elsewhere='
Fedora     dnf install gcc-c++ cmake ninja-build pkgconf-pkg-config pybind11-devel python3-devel binutils-devel elfutils-devel capstone-devel xz-devel zlib-devel libdeflate-devel libzstd-devel lz4-devel bzip2-devel elfutils-debuginfod-client-devel json-devel gdb
Arch       pacman -S --needed gcc cmake ninja pkgconf pybind11 python binutils elfutils debuginfod capstone xz zlib libdeflate zstd lz4 bzip2 nlohmann-json gdb
openSUSE   zypper install gcc-c++ cmake ninja pkgconf-pkg-config python3-pybind11-devel python3-devel binutils-devel libdw-devel capstone-devel xz-devel zlib-devel libdeflate-devel libzstd-devel liblz4-devel libbz2-devel libdebuginfod-devel nlohmann_json-devel gdb
Alpine     apk add bash g++ cmake samurai pkgconf py3-pybind11-dev python3-dev binutils-dev elfutils-dev capstone-dev xz-dev zlib-dev libdeflate-dev zstd-dev lz4-dev bzip2-dev nlohmann-json gdb'

# The major version that the distribution's `package` stands for: 12 of g++, which depends on g++-12.
version_of() {  # PACKAGE
  local depends
  depends=$(dpkg-query -W -f '${Depends}' "$1" 2>/dev/null ||
            apt-cache show --no-all-versions "$1" 2>/dev/null | sed -n 's/^Depends: //p')
  grep -oP -m 1 "(^|[ ,])\\Q$1\\E-\\K[0-9]+" <<<"$depends" | head -n 1
}

# The word with versions in place of {package}; nothing where apt does not know the package.
with_version() {  # WORD
  local word=$1 package version
  while [[ $word =~ \{([^}]*)\} ]]; do
    package=${BASH_REMATCH[1]}
    version=$(version_of "$package")
    [ -n "$version" ] || return 0
    word=${word//"{$package}"/$version}
  done
  printf '%s\n' "$word"
}

installed_of() {  # PACKAGE...: those that are installed, a line each
  dpkg-query -W -f '${Package} ${db:Status-Status}\n' "$@" 2>/dev/null | sed -n 's/ installed$//p'
}

# Those that apt can install, a line each.
known_to_apt() {  # PACKAGE...
  LC_ALL=C apt-cache policy "$@" 2>/dev/null |
    awk '/^[^ ].*:$/ { name = substr($0, 1, length($0) - 1) }
         $1 == "Candidate:" && $2 != "(none)" { print name }'
}

# Prints, a line each, "missing NAME" for what is to be installed and "unknown WORD" for words of
# which apt knows nothing.
look_up() {  # WORD...
  local word name names=() all=() have candidates
  for word in "$@"; do
    IFS='|' read -ra names <<<"$word"
    for name in "${names[@]}"; do all+=("$(with_version "$name")"); done
  done
  have=$(installed_of "${all[@]}")
  for word in "$@"; do
    IFS='|' read -ra names <<<"$word"
    first_of "$have" "${names[@]}" >/dev/null && continue
    candidates=${candidates-$(known_to_apt "${all[@]}")}
    first_of "$candidates" "${names[@]}" | sed 's/^/missing /;q' | grep . || [[ $word == *'|' ]] ||
      printf 'unknown %s\n' "$word"
  done
}

first_of() {  # LINES NAME...: the first name that is a line of LINES; false if none is
  local name
  for name in "${@:2}"; do
    name=$(with_version "$name")
    [ -n "$name" ] && grep -qxF -- "$name" <<<"$1" && { printf '%s\n' "$name"; return; }
  done
  return 1
}

apt_get() {  # ARGUMENT...: as root, quiet; what it said only if it fails
  local as_root=() log status=0
  if [ "$(id -u)" -ne 0 ]; then as_root=(sudo); fi
  log=$(mktemp)
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -y -o DPkg::Lock::Timeout=600 "$@" \
    >"$log" 2>&1 </dev/null || { status=1; tail -n 20 "$log" >&2; }
  rm -f "$log"
  return "$status"
}

# The lists of apt may be absent or old, so they are brought up to date before anything is installed.
install_packages() {  # WORD...
  local found missing unknown
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    say "not a Debian system: taking for granted what these packages hold: $*"
    say "by their documentation, untried, the same in part (build and demo) elsewhere:$elsewhere"
    return
  fi
  found=$(look_up "$@")
  [ -n "$found" ] || return 0
  if [ "$(id -u)" -ne 0 ] && ! command -v sudo >/dev/null; then
    fail "run as root, or install by yourself: apt-get install $(sed -n 's/^[a-z]* //p' <<<"$found" | xargs)"
  fi
  apt_get update || fail "apt-get could not update its lists (see above)"
  found=$(look_up "$@")
  unknown=$(sed -n 's/^unknown //p' <<<"$found" | xargs)
  [ -z "$unknown" ] || fail "apt knows no package called $unknown: name what this system has in scripts/packages.sh"
  missing=$(sed -n 's/^missing //p' <<<"$found")
  say "installing $(xargs <<<"$missing")"
  # shellcheck disable=SC2086  # a word is a package
  apt_get --no-install-recommends install $missing ||
    fail "apt-get could not install $(xargs <<<"$missing") (see above)"
}
