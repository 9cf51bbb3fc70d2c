#!/usr/bin/env bash
# luxon 3.7.2 reads a wall time that a day has twice (the hour after summer time ends) as the first or the second one depending on the season in which the
# program runs, because its first guess is the offset that the zone has now. 02:30 on 25 October 2026 in Berlin is 00:30 UTC for a process in July
# and 01:30 UTC for the same process in January. Its documentation says that either may come; that it changes with the clock is what
# surprises: two runs over the same calendar store different instants, a reminder that is computed anew moves by an hour, and a test that was
# written in summer fails in winter.
# One would expect one answer: RFC 5545 (3.3.5) names the first of the two, as Temporal does by default ("compatible").
# Remedy: after parsing, take the earliest of `getPossibleOffsets()`.
set -euo pipefail
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund luxon@3.7.2 temporal-polyfill@1.0.8 >/dev/null
cat >run.mjs <<'JS'
import { DateTime, Settings } from 'luxon';
import { Temporal } from 'temporal-polyfill';
for (const [text, zone] of [['2026-10-25T02:30', 'Europe/Berlin'], ['2026-11-01T01:30', 'America/New_York']]) {
  for (const [season, now] of [['January', '2026-01-15T12:00:00Z'], ['July', '2026-07-15T12:00:00Z']]) {
    Settings.now = () => Date.parse(now);
    const time = DateTime.fromISO(text, { zone });
    const [first] = time.getPossibleOffsets().sort((one, other) => one - other);
    console.log(`${text} ${zone}, in ${season}: ${time.toUTC().toISO()}, the first possible ${first.toUTC().toISO()}`);
  }
  console.log(`${text} ${zone}, Temporal: ${Temporal.ZonedDateTime.from(`${text}[${zone}]`).toInstant()}`);
}
JS
output=$(node run.mjs)
echo "luxon $(node -p "require('luxon/package.json').version")"
echo "$output"
expected='2026-10-25T02:30 Europe/Berlin, in January: 2026-10-25T01:30:00.000Z, the first possible 2026-10-25T00:30:00.000Z
2026-10-25T02:30 Europe/Berlin, in July: 2026-10-25T00:30:00.000Z, the first possible 2026-10-25T00:30:00.000Z
2026-10-25T02:30 Europe/Berlin, Temporal: 2026-10-25T00:30:00Z
2026-11-01T01:30 America/New_York, in January: 2026-11-01T06:30:00.000Z, the first possible 2026-11-01T05:30:00.000Z
2026-11-01T01:30 America/New_York, in July: 2026-11-01T05:30:00.000Z, the first possible 2026-11-01T05:30:00.000Z
2026-11-01T01:30 America/New_York, Temporal: 2026-11-01T05:30:00Z'
[ "$output" = "$expected" ] || { echo 'The behaviour has changed.' >&2; exit 1; }
