#!/usr/bin/env bash
# todoman 4.1.0 (Debian 12) does not start if two folders of its path have the same `displayname`, also if one of them has no task. The
# vdir format, in which vdirsyncer writes what a CalDAV server has, calls the name of the folder the identity of a collection and
# `displayname` a label for user interfaces; a server has no reason to keep labels unique. A member who sees the calendars "Calendar" of two
# colleagues has no task list there. todoman needs Debian's packages of Python; they are unpacked, not installed.
set -euo pipefail
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
chmod 755 .
apt-get download -qq todoman=4.1.0-1 python3-icalendar=4.0.3-5 python3-click python3-click-log python3-colorama python3-dateutil \
  python3-humanize python3-parsedatetime python3-future python3-tabulate python3-tz python3-urwid python3-xdg python3-six \
  python3-atomicwrites >/dev/null 2>&1
for package in *.deb; do dpkg-deb -x "$package" root; done
item() { printf 'BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Example//EN\r\nBEGIN:%s\r\nUID:1\r\nDTSTAMP:20260101T000000Z\r\nSUMMARY:One\r\nEND:%s\r\nEND:VCALENDAR\r\n' "$1" "$1"; }
mkdir -p lists/tasks lists/calendar
item VTODO >lists/tasks/1.ics
item VEVENT >lists/calendar/1.ics
printf 'Offsite' >lists/tasks/displayname
cat >config.py <<PY
path = "$directory/lists/*"
cache_path = "$directory/cache.db"
PY
run() { HOME="$directory" PYTHONPATH="$directory/root/usr/lib/python3/dist-packages" /usr/bin/python3 -m todoman --config config.py "$@"; }
listed() { run --porcelain list 2>&1 | grep -oE '"summary": "[^"]*"|More than one list.*' || true; }
output="different names: $(printf 'Team' >lists/calendar/displayname; listed)
the same name: $(printf 'Offsite' >lists/calendar/displayname; listed)"
echo "todoman $(dpkg-deb -f todoman_*.deb Version)"
echo "$output"
expected='different names: "summary": "One"
the same name: More than one list has the same identity: Offsite.'
[ "$output" = "$expected" ] || { echo 'The behaviour has changed.' >&2; exit 1; }
