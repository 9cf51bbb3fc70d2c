#!/usr/bin/env bash
# ical.js 2.2.1 drops `RSCALE` and `SKIP` (RFC 7529) from a rule without an error: it expands the rule as if `SKIP=OMIT` stood there,
# and writes it back without both. Salary on the last day of each month, SKIP=BACKWARD from 31 January, so is missing in five months,
# and the source loses the information with the first edit. One would expect the days, or an error, as rrule 2.8.1 raises ("Unknown
# RRULE property").
set -euo pipefail
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund ical.js@2.2.1 rrule@2.8.1 >/dev/null
cat >run.mjs <<'JS'
import ICAL from 'ical.js';
import rrule from 'rrule';
const rule = 'RSCALE=GREGORIAN;FREQ=MONTHLY;SKIP=BACKWARD;COUNT=4';
const parsed = ICAL.Recur.fromString(rule);
const days = parsed.iterator(ICAL.Time.fromDateString('2025-01-31'));
console.log(`instances: ${[1, 2, 3, 4].map(() => days.next().toString()).join(' ')}`);
console.log(`written back: ${parsed.toString()}`);
try {
  rrule.rrulestr(`DTSTART:20250131T000000Z\nRRULE:${rule}`);
} catch (error) {
  console.log(`rrule: ${error.message}`);
}
JS
output=$(node run.mjs)
echo "ical.js $(node -p "require('./node_modules/ical.js/package.json').version")"
echo "$output"
expected="instances: 2025-01-31 2025-03-31 2025-05-31 2025-07-31
written back: FREQ=MONTHLY;COUNT=4
rrule: Unknown RRULE property 'RSCALE'"
[ "$output" = "$expected" ] || { echo 'The behaviour has changed.' >&2; exit 1; }
