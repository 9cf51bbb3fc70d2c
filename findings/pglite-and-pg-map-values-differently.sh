#!/usr/bin/env bash
# PGlite 0.5.14 and pg 8.23.1 (over the socket of PGlite, so one and the same database) give other values for one query, and store other values for
# one parameter. Tests that run on PGlite in the process pass, and the service with pg stores the day before. Seen with a process in New York:
# - a Date as a parameter for `date` or `timestamp`: PGlite sends it in UTC, pg in the zone of the process, so the day differs late in the evening;
# - a `date` from a row: PGlite gives midnight UTC, pg local midnight, so `getDate()` of PGlite is the day before;
# - an array for `jsonb`: PGlite sends JSON, pg an array of PostgreSQL, which the server rejects;
# - an object for `text`: pg sends JSON, PGlite stores "[object Object]" without an error;
# - `bigint`, and so each `count(*)`: a number (a BigInt above 2^53) by PGlite, a text by pg, so that `total + 1` is 3 or "21".
# One would expect one mapping, since the database and its types are the same.
# Remedy: state the type in SQL and use text on both sides: `$1::text::date`, `to_char`, JSON.stringify, Number(); test through pg.
set -euo pipefail
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @electric-sql/pglite@0.5.14 @electric-sql/pglite-socket@0.2.17 pg@8.23.1 --legacy-peer-deps >/dev/null
cat >run.mjs <<'JS'
import { PGlite } from '@electric-sql/pglite';
import { PGLiteSocketServer } from '@electric-sql/pglite-socket';
import pg from 'pg';
const database = await PGlite.create();
const server = new PGLiteSocketServer({ db: database, host: '127.0.0.1', port: 0 });
await server.start();
const client = new pg.Client({ host: '127.0.0.1', port: Number(server.getServerConn().split(':').pop()), user: 'postgres', database: 'postgres' });
await client.connect();
const evening = new Date('2026-01-05T23:30:00-05:00');
const writeValue = (value) => (value instanceof Date ? `Date, getDate() ${value.getDate()}` : `${typeof value} ${JSON.stringify(value)}`);
for (const [text, ...parameters] of [
  ['select $1::date::text as value', evening],
  ['select $1::timestamp::text as value', evening],
  ["select date '2026-01-05' as value"],
  ['select $1::jsonb as value', [1, 2]],
  ['select $1::text as value', { a: 1 }],
  ['select count(*) as value from (values (1), (2)) list'],
]) {
  console.log(text);
  for (const [name, source] of [['PGlite', database], ['pg', client]]) {
    const answer = await source.query(text, parameters).then(({ rows }) => writeValue(rows[0].value), ({ message }) => `error: ${message}`);
    console.log(`  ${name}: ${answer}`);
  }
}
await client.end();
await server.stop();
await database.close();
JS
output=$(TZ=America/New_York node run.mjs)
for name in @electric-sql/pglite pg; do echo "$name $(node -p "JSON.parse(fs.readFileSync('node_modules/$name/package.json')).version")"; done
echo "$output"
expected='select $1::date::text as value
  PGlite: string "2026-01-06"
  pg: string "2026-01-05"
select $1::timestamp::text as value
  PGlite: string "2026-01-06 04:30:00"
  pg: string "2026-01-05 23:30:00"
select date '"'2026-01-05'"' as value
  PGlite: Date, getDate() 4
  pg: Date, getDate() 5
select $1::jsonb as value
  PGlite: object [1,2]
  pg: error: invalid input syntax for type json
select $1::text as value
  PGlite: string "[object Object]"
  pg: string "{\"a\":1}"
select count(*) as value from (values (1), (2)) list
  PGlite: number 2
  pg: string "2"'
[ "$output" = "$expected" ] || { echo 'The behaviour has changed.' >&2; exit 1; }
