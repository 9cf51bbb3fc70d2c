#!/usr/bin/env bash
# ical.js 2.2.1 continues a yearly series of 29 February on 1 March of common years. RFC 5545 3.3.10 (RRULE): an instance with an
# invalid date must be ignored, so that the series goes on in 2028; rrule 2.8.1 does so. ical.js ignores the day 31 of short months
# correctly in a monthly series. A birthday of 29 February so is on another day, and three times too often.
set -euo pipefail
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund ical.js@2.2.1 rrule@2.8.1 >/dev/null
cat >run.mjs <<'JS'
import ICAL from 'ical.js';
import rrule from 'rrule';
for (const [rule, day] of [['FREQ=YEARLY;COUNT=3', '2024-02-29'], ['FREQ=MONTHLY;COUNT=3', '2024-01-31']]) {
  const days = ICAL.Recur.fromString(rule).iterator(ICAL.Time.fromDateString(day));
  console.log(`${rule} from ${day}: ical.js ${[1, 2, 3].map(() => days.next().toString()).join(' ')}`);
  const { all } = { all: rrule.rrulestr(`DTSTART:${day.replaceAll('-', '')}T000000Z\nRRULE:${rule}`).all() };
  console.log(`${rule} from ${day}: rrule ${all.map((date) => date.toISOString().slice(0, 10)).join(' ')}`);
}
JS
output=$(node run.mjs)
echo "ical.js $(node -p "require('./node_modules/ical.js/package.json').version"), rrule $(node -p "require('./node_modules/rrule/package.json').version")"
echo "$output"
expected='FREQ=YEARLY;COUNT=3 from 2024-02-29: ical.js 2024-02-29 2025-03-01 2026-03-01
FREQ=YEARLY;COUNT=3 from 2024-02-29: rrule 2024-02-29 2028-02-29 2032-02-29
FREQ=MONTHLY;COUNT=3 from 2024-01-31: ical.js 2024-01-31 2024-03-31 2024-05-31
FREQ=MONTHLY;COUNT=3 from 2024-01-31: rrule 2024-01-31 2024-03-31 2024-05-31'
[ "$output" = "$expected" ] || { echo 'The behaviour has changed.' >&2; exit 1; }
