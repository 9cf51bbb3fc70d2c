#!/usr/bin/env bash
# todoman 4.1.0 (Debian 12, with icalendar 4.0.3) writes a task that it completes without its CATEGORIES. It keeps what it does not know
# otherwise (here VALARM and an X- property), and it knows categories: it reads them into its cache and filters by them. RFC 5545
# 3.8.1.2 has CATEGORIES as a property of VTODO. A task list that is synchronised with a server so loses its labels there with each task
# that is ticked off. todoman needs Debian's packages of Python; they are unpacked, not installed.
set -euo pipefail
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
chmod 755 .
apt-get download -qq todoman=4.1.0-1 python3-icalendar=4.0.3-5 python3-click python3-click-log python3-colorama python3-dateutil \
  python3-humanize python3-parsedatetime python3-future python3-tabulate python3-tz python3-urwid python3-xdg python3-six \
  python3-atomicwrites >/dev/null 2>&1
for package in *.deb; do dpkg-deb -x "$package" root; done
mkdir list
cat >list/task.ics <<'ICS'
BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//Example//Tasks//EN
BEGIN:VTODO
UID:task-1
DTSTAMP:20260101T000000Z
SUMMARY:Book the rooms
CATEGORIES:travel,offsite
X-COLOUR:red
BEGIN:VALARM
ACTION:DISPLAY
DESCRIPTION:Book the rooms
TRIGGER:-PT30M
END:VALARM
END:VTODO
END:VCALENDAR
ICS
sed -i 's/$/\r/' list/task.ics
cat >config.py <<PY
path = "$directory/list"
cache_path = "$directory/cache.db"
date_format = "%Y-%m-%d"
time_format = "%H:%M"
default_list = "list"
PY
run() { HOME="$directory" PYTHONPATH="$directory/root/usr/lib/python3/dist-packages" /usr/bin/python3 -m todoman --config config.py "$@"; }
kept() { grep -oE '^(STATUS|CATEGORIES|X-COLOUR|BEGIN:VALARM)[^;:]*(:[^;]*)?' list/task.ics | tr -d '\r' | sort | tr '\n' ' '; }
output="before: $(kept)
in the category travel: $(run --porcelain list --category travel | grep -c '"summary"')
$(run done 1 >/dev/null)after: $(kept)"
echo "todoman $(dpkg-deb -f todoman_*.deb Version), icalendar $(dpkg-deb -f python3-icalendar_*.deb Version)"
echo "$output"
expected='before: BEGIN:VALARM CATEGORIES:travel,offsite X-COLOUR:red 
in the category travel: 1
after: BEGIN:VALARM STATUS:COMPLETED X-COLOUR:red '
[ "$output" = "$expected" ] || { echo 'The behaviour has changed.' >&2; exit 1; }
