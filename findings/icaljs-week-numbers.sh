#!/usr/bin/env bash
# ical.js 2.2.1 (Thunderbird uses it) ignores BYWEEKNO beside BYDAY: `FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO`, an example of RFC 5545 (3.8.5.3, "Monday of
# week number 20"), gives every Monday of every year. The series begins a week after its start. So an appointment of one day in the year is there each
# week, and a count of three is used up within a month. Without BYDAY there is no instance at all, also not the first one. Nothing is reported: the
# rule is read, and `toString` has the week. rrule 2.8.1 gives one instance a year.
# One would expect the Mondays that the RFC lists, or an error for a part of the rule that is not computed.
# Remedy: give rules with BYWEEKNO to rrule, or to `iterator` only after a check of `parts.BYWEEKNO`.
set -euo pipefail
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund ical.js@2.2.1 rrule@2.8.1 >/dev/null
cat >run.mjs <<'JS'
import ICAL from 'ical.js';
import rrule from 'rrule';
const { RRule } = rrule;
for (const [text, start] of [
  ['FREQ=YEARLY;COUNT=3;BYDAY=MO;BYWEEKNO=20', '1997-05-12'],
  ['FREQ=YEARLY;COUNT=3;BYDAY=MO;BYWEEKNO=1', '2025-12-29'],
  ['FREQ=YEARLY;COUNT=3;BYWEEKNO=20', '1997-05-12'],
]) {
  const rule = ICAL.Recur.fromString(text);
  const iterator = rule.iterator(ICAL.Time.fromString(`${start}T09:00:00Z`));
  const dates = [];
  for (let date = iterator.next(); date && dates.length < 5; date = iterator.next()) dates.push(date.toString().slice(0, 10));
  console.log(`${rule} from ${start}`);
  console.log(`  ical.js: ${dates.join(', ') || 'none'}`);
  const all = new RRule({ ...RRule.parseString(text), dtstart: new Date(`${start}T09:00:00Z`) }).all();
  console.log(`  rrule: ${all.map((date) => date.toISOString().slice(0, 10)).join(', ')}`);
}
JS
output=$(timeout 60 node run.mjs)
for name in ical.js rrule; do echo "$name $(node -p "JSON.parse(fs.readFileSync('node_modules/$name/package.json')).version")"; done
echo "$output"
expected='FREQ=YEARLY;COUNT=3;BYDAY=MO;BYWEEKNO=20 from 1997-05-12
  ical.js: 1997-05-19, 1997-05-26, 1997-06-02
  rrule: 1997-05-12, 1998-05-11, 1999-05-17
FREQ=YEARLY;COUNT=3;BYDAY=MO;BYWEEKNO=1 from 2025-12-29
  ical.js: 2026-01-05, 2026-01-12, 2026-01-19
  rrule: 2025-12-29, 2027-01-04, 2028-01-03
FREQ=YEARLY;COUNT=3;BYWEEKNO=20 from 1997-05-12
  ical.js: none
  rrule: 1997-05-12, 1997-05-13, 1997-05-14'
[ "$output" = "$expected" ] || { echo 'The behaviour has changed.' >&2; exit 1; }
