#!/usr/bin/env bash
# ical.js 2.2.1 and node-ical 0.27.2 each know one kind of duration. RFC 5545 (3.3.6) has two: days and weeks are nominal (the same wall time on
# another day), hours, minutes and seconds are exact. ical.js adds hours to the wall time, so that a night shift of PT8H on the night when summer time ends
# lasts nine hours, and seven in spring. node-ical takes a day for 24 hours, so that P1D from 22:00 ends at 21:00 or 23:00. Where one is right the other is
# wrong, so that two programs that exchange such an event see different ends, and so different free times, on these nights.
# One would expect that both follow the RFC: the ends that the last line of each case states, by Temporal.
# Remedy: compute the end with Temporal or luxon, days first, then the exact part; write DTEND instead of DURATION.
set -euo pipefail
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund ical.js@2.2.1 node-ical@0.27.2 temporal-polyfill@1.0.8 >/dev/null
cat >run.mjs <<'JS'
import ICAL from 'ical.js';
import nodeIcal from 'node-ical';
import { Temporal } from 'temporal-polyfill';
const zone = [
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
];
for (const day of ['20260328', '20261024']) {
  for (const duration of ['PT8H', 'P1D']) {
    const event = ['BEGIN:VEVENT', 'UID:1', 'DTSTAMP:20260101T000000Z', `DTSTART;TZID=Europe/Berlin:${day}T220000`, `DURATION:${duration}`, 'END:VEVENT'];
    const text = `${['BEGIN:VCALENDAR', 'VERSION:2.0', 'PRODID:-//Example//EN', ...zone, ...event, 'END:VCALENDAR'].join('\r\n')}\r\n`;
    const ends = {
      'ical.js': new ICAL.Event(new ICAL.Component(ICAL.parse(text)).getFirstSubcomponent('vevent')).endDate.toJSDate(),
      'node-ical': nodeIcal.sync.parseICS(text)[1].end,
      Temporal: new Date(Temporal.ZonedDateTime.from(`${day}T220000[Europe/Berlin]`).add(duration).epochMilliseconds),
    };
    for (const [name, end] of Object.entries(ends)) console.log(`${duration} from ${day}T220000, ${name}: ${end.toISOString()}`);
  }
}
JS
output=$(TZ=UTC node run.mjs)
for name in ical.js node-ical; do echo "$name $(node -p "JSON.parse(fs.readFileSync('node_modules/$name/package.json')).version")"; done
echo "$output"
expected='PT8H from 20260328T220000, ical.js: 2026-03-29T04:00:00.000Z
PT8H from 20260328T220000, node-ical: 2026-03-29T05:00:00.000Z
PT8H from 20260328T220000, Temporal: 2026-03-29T05:00:00.000Z
P1D from 20260328T220000, ical.js: 2026-03-29T20:00:00.000Z
P1D from 20260328T220000, node-ical: 2026-03-29T21:00:00.000Z
P1D from 20260328T220000, Temporal: 2026-03-29T20:00:00.000Z
PT8H from 20261024T220000, ical.js: 2026-10-25T05:00:00.000Z
PT8H from 20261024T220000, node-ical: 2026-10-25T04:00:00.000Z
PT8H from 20261024T220000, Temporal: 2026-10-25T04:00:00.000Z
P1D from 20261024T220000, ical.js: 2026-10-25T21:00:00.000Z
P1D from 20261024T220000, node-ical: 2026-10-25T20:00:00.000Z
P1D from 20261024T220000, Temporal: 2026-10-25T21:00:00.000Z'
[ "$output" = "$expected" ] || { echo 'The behaviour has changed.' >&2; exit 1; }
