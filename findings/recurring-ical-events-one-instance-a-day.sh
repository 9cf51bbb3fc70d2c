#!/usr/bin/env bash
# recurring-ical-events 2.0.1 (Debian 12; the Python library caldav expands with it) returns one instance of a series a day, the last one, if the event has
# SEQUENCE. A dose at 9 and at 15 o'clock, a shift each eight hours, and an additional instance by RDATE on a day that has one lose the others, without
# an error. Without SEQUENCE all are there. It tells instances apart by their date instead of their time, takes two of a day for two versions of one, and
# keeps the one whose SEQUENCE is not lower, that is, the later one. RFC 5545 lets a series have several instances a day (3.3.10: BYHOUR, FREQ=HOURLY), and
# gives SEQUENCE to each event (3.8.7.4); most calendar programs and servers write it, so that a test without it passes and the calendars of users fail.
# One would expect the same instances with and without SEQUENCE.
# Remedy: delete SEQUENCE from the component before expansion, if the calendar has one component of each UID.
# The library needs Debian's packages of Python; they are unpacked, not installed.
set -euo pipefail
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
chmod 755 .
apt-get download -qq python3-recurring-ical-events=2.0.1-1 python3-icalendar=4.0.3-5 python3-x-wr-timezone python3-tz python3-dateutil python3-six \
  python3-click >/dev/null 2>&1
for package in *.deb; do dpkg-deb -x "$package" root; done
cat >run.py <<'PY'
import icalendar
import recurring_ical_events

HEAD = ['BEGIN:VCALENDAR', 'VERSION:2.0', 'PRODID:-//Example//EN', 'BEGIN:VEVENT', 'UID:1', 'DTSTAMP:20260101T000000Z',
        'DTSTART:20260105T090000Z', 'DTEND:20260105T093000Z', 'SUMMARY:Dose']
for rule in (['RRULE:FREQ=DAILY;BYHOUR=9,15;COUNT=4'], ['RRULE:FREQ=HOURLY;INTERVAL=8;COUNT=5'], ['RRULE:FREQ=DAILY;COUNT=2', 'RDATE:20260106T150000Z']):
    for sequence in ([], ['SEQUENCE:0']):
        calendar = icalendar.Calendar.from_ical('\r\n'.join(HEAD + rule + sequence + ['END:VEVENT', 'END:VCALENDAR', '']))
        events = recurring_ical_events.of(calendar).between((2026, 1, 5), (2026, 1, 8))
        starts = ', '.join(sorted(event['DTSTART'].dt.strftime('%d %H:%M') for event in events))
        print(' '.join(rule), *sequence, '->', starts)
PY
output=$(PYTHONPATH="$directory/root/usr/lib/python3/dist-packages" /usr/bin/python3 run.py)
echo "recurring-ical-events $(dpkg-deb -f python3-recurring-ical-events_*.deb Version), icalendar $(dpkg-deb -f python3-icalendar_*.deb Version)"
echo "$output"
expected='RRULE:FREQ=DAILY;BYHOUR=9,15;COUNT=4 -> 05 09:00, 05 15:00, 06 09:00, 06 15:00
RRULE:FREQ=DAILY;BYHOUR=9,15;COUNT=4 SEQUENCE:0 -> 05 15:00, 06 15:00
RRULE:FREQ=HOURLY;INTERVAL=8;COUNT=5 -> 05 09:00, 05 17:00, 06 01:00, 06 09:00, 06 17:00
RRULE:FREQ=HOURLY;INTERVAL=8;COUNT=5 SEQUENCE:0 -> 05 17:00, 06 17:00
RRULE:FREQ=DAILY;COUNT=2 RDATE:20260106T150000Z -> 05 09:00, 06 09:00, 06 15:00
RRULE:FREQ=DAILY;COUNT=2 RDATE:20260106T150000Z SEQUENCE:0 -> 05 09:00, 06 15:00'
[ "$output" = "$expected" ] || { echo 'The behaviour has changed.' >&2; exit 1; }
