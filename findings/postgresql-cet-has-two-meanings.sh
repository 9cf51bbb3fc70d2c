#!/usr/bin/env bash
# PostgreSQL 18.7 (as PGlite 0.5.17) gives one name two meanings. `CET`, `EET`, `MET` and `WET` are time zones with summer time in
# `SET timezone`, and abbreviations of a fixed offset in `AT TIME ZONE`, where an abbreviation wins over a zone of the same name.
# Both accept the name that a client sent, so 09:00 in June in the zone `CET` is 07:00 UTC by one and 08:00 UTC by the other.
# One would expect that a name selects the same rules everywhere.
# Remedy: compute with one source of rules, outside SQL or by names that are no abbreviations (`Europe/Brussels`).
set -euo pipefail
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @electric-sql/pglite@0.5.17 >/dev/null
cat >run.mjs <<'JS'
import { PGlite } from '@electric-sql/pglite';
const database = new PGlite();
const value = async (sql) => (await database.query(sql)).rows[0].value;
console.log((await value('SELECT version() AS value')).split(' (')[0]);
for (const [zone, place] of [['CET', 'Europe/Brussels'], ['EET', 'Europe/Athens'], ['MET', 'Europe/Brussels'], ['WET', 'Europe/Lisbon']]) {
  const atTimeZone = (name) =>
    value(`SELECT to_char((timestamp '2026-06-15 09:00' AT TIME ZONE '${name}') AT TIME ZONE 'UTC', 'HH24:MI') AS value`);
  await database.exec(`SET timezone = '${zone}'`);
  const session = await value(
    `SELECT to_char((timestamp '2026-06-15 09:00')::timestamptz AT TIME ZONE 'UTC', 'HH24:MI') AS value`,
  );
  console.log(`${zone}: SET timezone ${session}, AT TIME ZONE ${await atTimeZone(zone)}, ${place} ${await atTimeZone(place)}`);
}
JS
output=$(node run.mjs)
echo "$output"
expected='PostgreSQL 18.7
CET: SET timezone 07:00, AT TIME ZONE 08:00, Europe/Brussels 07:00
EET: SET timezone 06:00, AT TIME ZONE 07:00, Europe/Athens 06:00
MET: SET timezone 07:00, AT TIME ZONE 08:00, Europe/Brussels 07:00
WET: SET timezone 08:00, AT TIME ZONE 09:00, Europe/Lisbon 08:00'
[ "$output" = "$expected" ] || { echo 'The behaviour has changed.' >&2; exit 1; }
