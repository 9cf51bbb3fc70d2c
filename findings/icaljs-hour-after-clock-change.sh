#!/usr/bin/env bash
# ical.js 2.2.1 converts instants to a zone (`Time.convertToZone`) with the offset of the wrong side of a clock change, for as long as the
# zone is away from UTC: it compares the UTC time with the wall times of the changes. With the VTIMEZONE of Berlin, 01:30 UTC on the day when
# summer time ends is 03:30 instead of 02:30, and on the day when it begins 02:30, a time that this day does not have, instead of 03:30.
# The way back does not undo it, so that an instant changes by an hour when it is converted twice.
# One would expect the wall times that Intl of Node gives (RFC 5545, 3.6.5: the onset is local time with TZOFFSETFROM).
# Remedy: convert with Intl or an IANA database, or compare instants: onset minus TZOFFSETFROM.
set -euo pipefail
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund ical.js@2.2.1 >/dev/null
cat >run.mjs <<'JS'
import ICAL from 'ical.js';
const text = [
  'BEGIN:VCALENDAR',
  'BEGIN:VTIMEZONE',
  'TZID:Europe/Berlin',
  'BEGIN:STANDARD',
  'DTSTART:19961027T030000',
  'TZOFFSETFROM:+0200',
  'TZOFFSETTO:+0100',
  'RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU',
  'END:STANDARD',
  'BEGIN:DAYLIGHT',
  'DTSTART:19810329T020000',
  'TZOFFSETFROM:+0100',
  'TZOFFSETTO:+0200',
  'RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU',
  'END:DAYLIGHT',
  'END:VTIMEZONE',
  'END:VCALENDAR',
].join('\r\n');
const calendar = new ICAL.Component(ICAL.parse(text));
const zone = new ICAL.Timezone(calendar.getFirstSubcomponent('vtimezone'));
const clock = new Intl.DateTimeFormat('sv', { timeZone: 'Europe/Berlin', timeStyle: 'short' });
for (const instant of ['2027-03-28T00:30:00Z', '2027-03-28T01:30:00Z', '2027-10-31T01:30:00Z', '2027-10-31T02:30:00Z']) {
  const local = ICAL.Time.fromDateTimeString(instant).convertToZone(zone);
  const back = local.convertToZone(ICAL.Timezone.utcTimezone);
  console.log(`${instant}: Intl ${clock.format(new Date(instant))}, ical.js ${local.toString().slice(11, 16)}, back ${back}`);
}
JS
output=$(node run.mjs)
echo "ical.js $(node -p "JSON.parse(fs.readFileSync('node_modules/ical.js/package.json')).version")"
echo "$output"
expected='2027-03-28T00:30:00Z: Intl 01:30, ical.js 01:30, back 2027-03-28T00:30:00Z
2027-03-28T01:30:00Z: Intl 03:30, ical.js 02:30, back 2027-03-28T00:30:00Z
2027-10-31T01:30:00Z: Intl 02:30, ical.js 03:30, back 2027-10-31T02:30:00Z
2027-10-31T02:30:00Z: Intl 03:30, ical.js 03:30, back 2027-10-31T02:30:00Z'
[ "$output" = "$expected" ] || { echo 'The behaviour has changed.' >&2; exit 1; }
