#!/usr/bin/env bash
# caldav 0.11.0 (Debian 12, with recurring-ical-events 2.0.1) expands a repeating task to no component. `search(todo=True, expand=True)` and
# `date_search` expand on the side of the client what a server returns with its RRULE; an event becomes its instances of the range,
# a VTODO becomes an empty VCALENDAR, without an error. RFC 5545 3.6.2 has RRULE in a VTODO as in a VEVENT, and servers differ in whether they
# expand tasks (RFC 4791 9.6.5). A program that asks for the tasks of a month so misses each repeating one. caldav needs Debian's packages of Python; they are
# unpacked, not installed.
set -euo pipefail
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
chmod 755 .
apt-get download -qq python3-caldav=0.11.0-1 python3-recurring-ical-events=2.0.1-1 python3-icalendar=4.0.3-5 python3-vobject \
  python3-x-wr-timezone python3-lxml python3-requests python3-urllib3 python3-chardet python3-idna python3-certifi python3-tz python3-tzlocal \
  python3-dateutil python3-six python3-click >/dev/null 2>&1
for package in *.deb; do dpkg-deb -x "$package" root; done
cat >run.py <<'PY'
from datetime import datetime
from caldav.objects import Event, Todo

TEXT = """BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//Example//EN
BEGIN:{kind}
UID:1
DTSTAMP:20260101T000000Z
DTSTART:20260105T090000Z
{end}:20260105T100000Z
SUMMARY:Report
RRULE:FREQ=WEEKLY
END:{kind}
END:VCALENDAR
"""
for model, kind, end in ((Event, "VEVENT", "DTEND"), (Todo, "VTODO", "DUE")):
    item = model(client=None, data=TEXT.format(kind=kind, end=end))
    item.expand_rrule(datetime(2026, 2, 1), datetime(2026, 3, 1))
    print(kind, item.data.count("BEGIN:" + kind))
PY
output=$(PYTHONPATH="$directory/root/usr/lib/python3/dist-packages" /usr/bin/python3 run.py 2>errors || cat errors)
echo "caldav $(dpkg-deb -f python3-caldav_*.deb Version), recurring-ical-events $(dpkg-deb -f python3-recurring-ical-events_*.deb Version)"
echo "$output"
expected='VEVENT 4
VTODO 0'
[ "$output" = "$expected" ] || { echo 'The behaviour has changed.' >&2; exit 1; }
