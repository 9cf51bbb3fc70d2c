#!/usr/bin/env bash
# ical.js 2.2.1 obeys BYSETPOS in monthly rules alone. In a yearly, weekly, daily or hourly rule it ignores it without an error and returns each day
# that the other parts select: "the last working day of the year" becomes each working day, "the last of Monday, Wednesday and Friday" three days a
# week. In a monthly rule with BYHOUR it returns both times of the day, and the first day of each month, which is no Friday. The rule itself is kept,
# so that the fault shows only where instances are computed: reminders, free times, and COUNT, which is used up early. RFC 5545 (3.3.10) has BYSETPOS
# for each FREQ. One would expect the days that rrule 2.8.1 and rrule-temporal 2.2.8 agree on.
# Remedy: expand rules with BYSETPOS by one of these.
set -euo pipefail
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund ical.js@2.2.1 rrule@2.8.1 rrule-temporal@2.2.8 >/dev/null
cat >run.mjs <<'JS'
import ICAL from 'ical.js';
import rrule from 'rrule';
import { RRuleTemporal } from 'rrule-temporal';
for (const [rule, start] of [
  ['FREQ=YEARLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1;COUNT=3', '2026-12-31T09:00:00Z'],
  ['FREQ=WEEKLY;BYDAY=MO,WE,FR;BYSETPOS=-1;COUNT=3', '2026-01-09T09:00:00Z'],
  ['FREQ=MONTHLY;BYDAY=FR;BYHOUR=9,17;BYSETPOS=-1;COUNT=3', '2026-01-30T17:00:00Z'],
  ['FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1;COUNT=3', '2026-01-30T09:00:00Z'],
]) {
  const source = `DTSTART:${start.replace(/[-:]/g, '')}\nRRULE:${rule}`;
  const iterator = ICAL.Recur.fromString(rule).iterator(ICAL.Time.fromDateTimeString(start));
  const days = {
    'ical.js': Array.from({ length: 3 }, () => iterator.next().toString()),
    rrule: rrule.rrulestr(source).all().map((day) => day.toISOString()),
    'rrule-temporal': new RRuleTemporal({ rruleString: source }).all().map((day) => day.toString()),
  };
  console.log(rule);
  for (const [name, list] of Object.entries(days)) console.log(`  ${name}: ${list.map((day) => day.slice(0, 16)).join(', ')}`);
}
JS
output=$(node run.mjs)
echo "ical.js $(node -p "JSON.parse(fs.readFileSync('node_modules/ical.js/package.json')).version")"
echo "$output"
expected='FREQ=YEARLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1;COUNT=3
  ical.js: 2026-12-31T09:00, 2027-01-01T09:00, 2027-01-04T09:00
  rrule: 2026-12-31T09:00, 2027-12-31T09:00, 2028-12-29T09:00
  rrule-temporal: 2026-12-31T09:00, 2027-12-31T09:00, 2028-12-29T09:00
FREQ=WEEKLY;BYDAY=MO,WE,FR;BYSETPOS=-1;COUNT=3
  ical.js: 2026-01-09T09:00, 2026-01-12T09:00, 2026-01-14T09:00
  rrule: 2026-01-09T09:00, 2026-01-16T09:00, 2026-01-23T09:00
  rrule-temporal: 2026-01-09T09:00, 2026-01-16T09:00, 2026-01-23T09:00
FREQ=MONTHLY;BYDAY=FR;BYHOUR=9,17;BYSETPOS=-1;COUNT=3
  ical.js: 2026-01-30T17:00, 2026-02-01T17:00, 2026-02-27T09:00
  rrule: 2026-01-30T17:00, 2026-02-27T17:00, 2026-03-27T17:00
  rrule-temporal: 2026-01-30T17:00, 2026-02-27T17:00, 2026-03-27T17:00
FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1;COUNT=3
  ical.js: 2026-01-30T09:00, 2026-02-27T09:00, 2026-03-31T09:00
  rrule: 2026-01-30T09:00, 2026-02-27T09:00, 2026-03-31T09:00
  rrule-temporal: 2026-01-30T09:00, 2026-02-27T09:00, 2026-03-31T09:00'
[ "$output" = "$expected" ] || { echo 'The behaviour has changed.' >&2; exit 1; }
