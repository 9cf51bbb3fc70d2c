#!/usr/bin/env bash
# ical-generator 10.2.0 writes an alarm at a date (`trigger: Date`) as local time without a zone, if the event has a `timezone`: 07:00 UTC for an event in
# Berlin becomes `TRIGGER;VALUE=DATE-TIME:20260701T090000`. RFC 5545 (3.8.6.3) demands UTC here, and TRIGGER takes no TZID, so the
# zone is lost: a reader takes the time as that of its own device. A guest in New York is reminded six hours late, five hours after
# the meeting began. The same library writes UNTIL of the same event in UTC, and the alarm too if the event has no zone.
# One would expect 20260701T070000Z in both cases.
# Remedy: state alarms as seconds before the start (`trigger: 3600`).
set -euo pipefail
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund ical-generator@10.2.0 ical.js@2.2.1 luxon@3.7.2 >/dev/null
cat >run.mjs <<'JS'
import createCalendar from 'ical-generator';
import ICAL from 'ical.js';
import { DateTime } from 'luxon';
for (const timezone of ['Europe/Berlin', null]) {
  const calendar = createCalendar();
  const event = calendar.createEvent({
    start: DateTime.fromISO('2026-07-01T10:00', { zone: 'Europe/Berlin' }),
    timezone,
    summary: 'Review',
    repeating: { freq: 'DAILY', until: DateTime.fromISO('2026-07-03T10:00', { zone: 'Europe/Berlin' }) },
  });
  event.createAlarm({ type: 'display', trigger: DateTime.fromISO('2026-07-01T07:00Z') });
  const text = calendar.toString();
  console.log(`zone of the event ${timezone ?? 'none'}`);
  for (const line of text.split('\r\n')) if (/^(DTSTART|RRULE|TRIGGER)/.test(line)) console.log(`  ${line}`);
  const [alarm] = new ICAL.Component(ICAL.parse(text)).getFirstSubcomponent('vevent').getAllSubcomponents('valarm');
  const trigger = alarm.getFirstPropertyValue('trigger');
  console.log(`  on a device in New York, by ical.js: ${trigger.toJSDate().toISOString()}`);
}
JS
output=$(TZ=America/New_York node run.mjs)
echo "ical-generator $(node -p "JSON.parse(fs.readFileSync('node_modules/ical-generator/package.json')).version")"
echo "$output"
expected='zone of the event Europe/Berlin
  DTSTART;TZID=Europe/Berlin:20260701T100000
  RRULE:FREQ=DAILY;UNTIL=20260703T080000Z
  TRIGGER;VALUE=DATE-TIME:20260701T090000
  on a device in New York, by ical.js: 2026-07-01T13:00:00.000Z
zone of the event none
  DTSTART:20260701T080000Z
  RRULE:FREQ=DAILY;UNTIL=20260703T080000Z
  TRIGGER;VALUE=DATE-TIME:20260701T070000Z
  on a device in New York, by ical.js: 2026-07-01T07:00:00.000Z'
[ "$output" = "$expected" ] || { echo 'The behaviour has changed.' >&2; exit 1; }
