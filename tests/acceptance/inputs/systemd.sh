#!/usr/bin/env bash
# Has the real systemd-coredump and the real journal daemon keep a core, away from the machine's own:
#
#   python3 tests/places/mounts.py systemd.sh TOOLS PROGRAM CORE FOLDER
#
# PROGRAM waits, its process is the one that systemd-coredump is told has crashed with CORE. Behind
# lie FOLDER/coredump and FOLDER/journal, and FOLDER/said is what coredumpctl makes of them.
set -euo pipefail
tools=$1 program=$2 core=$3 folder=$4

mkdir -p "$folder/coredump" "$folder/journal" /var/lib/systemd/coredump
mount -t tmpfs none /run
mkdir -p /run/systemd/journal /run/log/journal
mount --bind "$folder/coredump" /var/lib/systemd/coredump
mount --bind "$folder/journal" /run/log/journal
[ ! -d /var/log/journal ] || mount -t tmpfs none /var/log/journal
# Without its own user systemd-coredump stays root, whose entries count; outside of the units that
# systemd makes for it nothing else would tell that they are its own.
grep -v '^systemd-coredump:' /etc/passwd >"$folder/passwd"
mount --bind "$folder/passwd" /etc/passwd
export LD_LIBRARY_PATH=$tools/usr/lib/x86_64-linux-gnu/systemd
coredump=$tools/usr/lib/systemd/systemd-coredump
[ -x "$coredump" ] || coredump=$tools/lib/systemd/systemd-coredump  # packages of Debian 12

env -u LD_LIBRARY_PATH /lib/systemd/systemd-journald >"$folder/journald.log" 2>&1 &
journald=$!
systemd-socket-activate --seqpacket --accept -l /run/systemd/coredump \
  "$coredump" >"$folder/socket.log" 2>&1 &
socket=$!
"$program" &
process=$!
trap 'kill "$journald" "$socket" "$process" 2>/dev/null' EXIT
for _ in {1..100}; do
  [ -S /run/systemd/coredump ] && [ -S /run/systemd/journal/socket ] && break
  sleep 0.05
done
"$coredump" "$process" 0 0 11 "$(date +%s)" 18446744073709551615 \
  "$(uname -n)" <"$core"
for _ in {1..200}; do
  "$tools/usr/bin/coredumpctl" --directory="$folder/journal" --no-pager info >"$folder/said" 2>/dev/null && break
  sleep 0.05
done
env -u LD_LIBRARY_PATH journalctl --sync
