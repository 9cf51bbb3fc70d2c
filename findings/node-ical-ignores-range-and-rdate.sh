#!/usr/bin/env bash
# node-ical 0.27.2 (`expandRecurringEvent`) takes a change with RANGE=THISANDFUTURE for a change of one instance, and drops RDATE. RFC 5545 (3.2.13) has
# such a RECURRENCE-ID change the instance and all that follow, and 3.8.5.2 has RDATE add instances. A meeting that is moved from 09:00
# to 11:00 for good is there once at 11:00 and then at 09:00 again; the additional day is missing. Neither is an error, and the property RANGE is not
# in what the parser returns, so that a program cannot see it.
# One would expect the instances that ical.js 2.2.1 gives.
# Remedy: refuse sources that have RANGE= or RDATE, or expand them by ical.js.
set -euo pipefail
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund node-ical@0.27.2 ical.js@2.2.1 >/dev/null
cat >run.mjs <<'JS'
import ICAL from 'ical.js';
import nodeIcal from 'node-ical';
const writeEvent = (...lines) => ['BEGIN:VEVENT', 'UID:1', 'DTSTAMP:20260101T000000Z', ...lines, 'END:VEVENT'];
const text = [
  'BEGIN:VCALENDAR',
  'VERSION:2.0',
  'PRODID:-//Example//EN',
  ...writeEvent('DTSTART:20260105T090000Z', 'DTEND:20260105T100000Z', 'RRULE:FREQ=WEEKLY;COUNT=4', 'RDATE:20260108T090000Z'),
  ...writeEvent('RECURRENCE-ID;RANGE=THISANDFUTURE:20260112T090000Z', 'DTSTART:20260112T110000Z', 'DTEND:20260112T120000Z'),
  'END:VCALENDAR',
  '',
].join('\r\n');
const range = { from: new Date('2026-01-01T00:00:00Z'), to: new Date('2026-03-01T00:00:00Z') };
const found = nodeIcal.expandRecurringEvent(nodeIcal.sync.parseICS(text)[1], range);
console.log(`node-ical: ${found.map(({ start }) => start.toISOString().slice(5, 16)).join(', ')}`);
const [event, change] = new ICAL.Component(ICAL.parse(text)).getAllSubcomponents('vevent').map((component) => new ICAL.Event(component));
event.relateException(change);
const iterator = event.iterator();
const starts = [];
for (let next = iterator.next(); next; next = iterator.next()) starts.push(event.getOccurrenceDetails(next).startDate.toString().slice(5, 16));
console.log(`ical.js: ${starts.join(', ')}`);
JS
output=$(node run.mjs)
for name in node-ical ical.js; do echo "$name $(node -p "JSON.parse(fs.readFileSync('node_modules/$name/package.json')).version")"; done
echo "$output"
expected='node-ical: 01-05T09:00, 01-12T11:00, 01-19T09:00, 01-26T09:00
ical.js: 01-05T09:00, 01-08T09:00, 01-12T11:00, 01-19T11:00, 01-26T11:00'
[ "$output" = "$expected" ] || { echo 'The behaviour has changed.' >&2; exit 1; }
