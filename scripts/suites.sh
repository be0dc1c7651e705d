# Packages of Debian's other suites, unpacked and not installed: apt's own lists stay as they are. To
# be sourced; `work` is a folder of the caller's, `say` and `fail` are its own.
# shellcheck shell=bash disable=SC2154,SC2016
#
# `unused` names packages that others ask for and nothing here uses: they count as installed.

# The archive that this system is installed from, as apt has it.
archive() {
  local codename uri
  # shellcheck source=/dev/null
  codename=$(. /etc/os-release && printf '%s' "${VERSION_CODENAME:-stable}")
  # shellcheck disable=SC2016  # apt's own variables
  uri=$(apt-get indextargets --format '$(RELEASE) $(REPO_URI)' 'Created-By: Packages' 'Component: main' |
    awk -v codename="$codename" '$1 == codename || $1 ~ /^(old)*stable$/ || $1 == "testing" { print $2; exit }')
  [ -n "$uri" ] || fail "apt knows no archive of Debian: packages of other suites cannot be had here"
  printf '%s\n' "$uri"
}

# apt-get or apt-cache for one suite alone, with lists, cache and (no) installed packages of its own.
private() {  # SUITE COMMAND ARGUMENT...
  local at=$work/$1
  "$2" -qq -o "Dir::State=$at" -o "Dir::State::status=$at/status" -o "Dir::Cache=$at" \
    -o "Dir::Etc::sourcelist=$at/sources.list" -o Dir::Etc::sourceparts=/dev/null \
    -o Dir::Etc::preferences=/dev/null -o Dir::Etc::preferencesparts=/dev/null \
    -o APT::Install-Recommends=false -o APT::Sandbox::User=root "${@:3}"
}

# Fetches the suite's lists; apt refuses those that are not signed by a key of this Debian.
open_suite() {  # SUITE
  local at=$work/$1 package keyring=/usr/share/keyrings/debian-archive-keyring.gpg
  mkdir -p "$at/lists/partial" "$at/archives/partial"
  printf 'deb [signed-by=%s] %s %s main\n' "$keyring" "$archive" "$1" >"$at/sources.list"
  for package in "${unused[@]}"; do
    printf 'Package: %s\nStatus: install ok installed\nArchitecture: %s\nVersion: 99:0\n\n' \
      "$package" "$(dpkg --print-architecture)"
  done >"$at/status"
  private "$1" apt-get -o APT::Update::Error-Mode=any update >"$at/log" 2>&1 </dev/null ||
    { cat "$at/log" >&2; fail "the package lists of Debian's $1 could not be fetched (see above)"; }
}

# Downloads packages of an open suite and what they depend on, and unpacks them all; apt checks their
# SHA256.
unpack() {  # SUITE FOLDER PACKAGE...
  local at=$work/$1
  private "$1" apt-get --download-only --yes install "${@:3}" >"$at/log" 2>&1 </dev/null ||
    { cat "$at/log" >&2; fail "${*:3} of Debian's $1 could not be downloaded (see above)"; }
  mkdir -p "$2"
  printf '%s\0' "$at"/archives/*.deb | xargs -0 -n 1 -P 2 sh -c 'exec dpkg -x "$1" "$0"' "$2"
}

# The same without what they depend on.
unpack_alone() {  # SUITE FOLDER PACKAGE...
  local into=$work/$1/alone
  rm -rf "$into"
  mkdir -p "$into"
  (cd "$into" && private "$1" apt-get download "${@:3}") >"$work/$1/log" 2>&1 </dev/null ||
    { cat "$work/$1/log" >&2; fail "${*:3} of Debian's $1 could not be downloaded (see above)"; }
  mkdir -p "$2"
  printf '%s\0' "$into"/*.deb | xargs -0 -n 1 -P 2 sh -c 'exec dpkg -x "$1" "$0"' "$2"
}
