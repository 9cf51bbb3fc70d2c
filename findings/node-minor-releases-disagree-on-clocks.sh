#!/usr/bin/env bash
# Two releases of Node 24 answer other hours for one instant: the binary contains the time zones of its ICU, 2025b in 24.9.0 and 2026c in
# 24.21.0. By the newer rules British Columbia and Alberta keep summer time in the winter, and Morocco GMT. Processes of two minor releases, as during a
# rolling restart, plan one meeting an hour apart, and none of them reports an error. PostgreSQL has rules of its own (18.7 as PGlite 0.5.17).
# Times of the future are stored as wall times with a zone, and the release of the rules is part of what a deployment pins.
set -euo pipefail
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
cat >run.cjs <<'JS'
const at = new Date('2027-01-15T12:00:00Z');
const hours = ['America/Vancouver', 'America/Edmonton', 'Africa/Casablanca', 'Europe/Berlin'].map(
  (timeZone) => `${timeZone} ${new Intl.DateTimeFormat('en-GB', { timeZone, timeStyle: 'short' }).format(at)}`,
);
console.log(`Node ${process.versions.node}, zones ${process.versions.tz}: ${hours.join(', ')}`);
JS
cat >database.mjs <<'JS'
import { PGlite } from '@electric-sql/pglite';
const zones = ['America/Vancouver', 'America/Edmonton', 'Africa/Casablanca', 'Europe/Berlin'];
const database = new PGlite();
const hours = [];
for (const zone of zones) {
  const { rows } = await database.query(
    `SELECT to_char('2027-01-15T12:00:00Z'::timestamptz AT TIME ZONE '${zone}', 'HH24:MI') AS time`,
  );
  hours.push(`${zone} ${rows[0].time}`);
}
console.log(`PostgreSQL: ${hours.join(', ')}`);
JS
npm init -y >/dev/null
output=$(
  for version in 24.9.0 24.21.0; do
    npm install --silent --no-audit --no-fund "node@$version" @electric-sql/pglite@0.5.17 >/dev/null
    node_modules/.bin/node run.cjs
  done
  node_modules/.bin/node database.mjs
)
echo "$output"
expected='Node 24.9.0, zones 2025b: America/Vancouver 04:00, America/Edmonton 05:00, Africa/Casablanca 13:00, Europe/Berlin 13:00
Node 24.21.0, zones 2026c: America/Vancouver 05:00, America/Edmonton 06:00, Africa/Casablanca 12:00, Europe/Berlin 13:00
PostgreSQL: America/Vancouver 05:00, America/Edmonton 06:00, Africa/Casablanca 12:00, Europe/Berlin 13:00'
[ "$output" = "$expected" ] || { echo 'The behaviour has changed.' >&2; exit 1; }
