#!/usr/bin/env bash
# PostgreSQL 18.7 (as PGlite 0.5.17) calls intervals equal that do different things. For comparison a month is 30 days and a day is 24 hours, so `1 day` and
# `24 hours` are one value for `=`, DISTINCT, GROUP BY, joins, hashes and unique indexes; `1 month` and `30 days` are another. Added to a time they
# differ: on the day of a clock change by an hour, in most months by days. A table that is unique by (event, reminder) refuses a reminder
# "24 hours before" beside "1 day before", an upsert takes one for the other and keeps the stored one, and a list of distinct terms of notice loses "1
# month", depending on which row comes first. RFC 5545 (3.3.6) tells nominal durations (P1D) and exact ones (PT24H) apart, and so does ISO 8601, in
# which `interval` is read and written.
# One would expect that equal values cannot be told apart by adding them.
# Remedy: compare and index a text (`before::text` after SET intervalstyle, or the ISO text as it came), or months, days and seconds in columns of their own.
set -euo pipefail
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @electric-sql/pglite@0.5.17 >/dev/null
cat >run.mjs <<'JS'
import { PGlite } from '@electric-sql/pglite';
const database = new PGlite();
const ask = async (text) => Object.values((await database.query(text)).rows[0])[0];
console.log((await ask('select version()')).split(' ').slice(0, 2).join(' '));
await database.exec("set timezone = 'Europe/Berlin'; set datestyle = iso; set intervalstyle = iso_8601");
for (const [one, other, start] of [
  ['P1D', 'PT24H', '2026-10-24 12:00'],
  ['P1M', 'P30D', '2026-01-15 12:00'],
]) {
  const equal = await ask(`select interval '${one}' = interval '${other}'`);
  const [first, second] = [one, other].map((span) => `select to_char(timestamptz '${start}' + interval '${span}', 'DD Mon HH24:MI')`);
  console.log(`${one} = ${other}: ${equal}; after ${start}: ${await ask(first)} and ${await ask(second)}`);
}
const list = (...spans) => `select string_agg(span::text, ' ') from (select distinct on (span) span from unnest(array['${spans.join("','")}']::interval[]) with ordinality as t (span, place) order by span, place) d`;
console.log(`distinct of P1D PT24H P1M P30D: ${await ask(list('P1D', 'PT24H', 'P1M', 'P30D'))}`);
console.log(`distinct of P30D PT24H P1M P1D: ${await ask(list('P30D', 'PT24H', 'P1M', 'P1D'))}`);
await database.exec('create table reminder (event int, before interval, unique (event, before))');
await database.exec("insert into reminder values (1, 'P1D')");
console.log(`second reminder: ${await database.exec("insert into reminder values (1, 'PT24H')").then(() => 'stored', ({ message }) => message)}`);
await database.exec("insert into reminder values (1, 'PT24H') on conflict (event, before) do update set before = reminder.before");
console.log(`stored after an upsert of PT24H: ${await ask("select string_agg(before::text, ' ') from reminder")}`);
JS
output=$(node run.mjs)
echo "pglite $(node -p "JSON.parse(fs.readFileSync('node_modules/@electric-sql/pglite/package.json')).version")"
echo "$output"
expected='PostgreSQL 18.7
P1D = PT24H: true; after 2026-10-24 12:00: 25 Oct 12:00 and 25 Oct 11:00
P1M = P30D: true; after 2026-01-15 12:00: 15 Feb 12:00 and 14 Feb 12:00
distinct of P1D PT24H P1M P30D: P1D P1M
distinct of P30D PT24H P1M P1D: PT24H P30D
second reminder: duplicate key value violates unique constraint "reminder_event_before_key"
stored after an upsert of PT24H: P1D'
[ "$output" = "$expected" ] || { echo 'The behaviour has changed.' >&2; exit 1; }
