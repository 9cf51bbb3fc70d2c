#!/usr/bin/env bash
# `Intl.DateTimeFormat` of Node 24.21.0 (ICU 78) accepts abbreviations that are no names of the IANA database, although ECMA-402 allows the
# names of that database alone. They are three-letter identifiers of Java's first release, and some mean another place than their users
# expect: BST is Dhaka (not British Summer Time), AST is Anchorage (not Halifax), NST is Auckland (not Newfoundland). A check "is this a time
# zone?" that tries the constructor accepts them. PostgreSQL 18.7 (as PGlite 0.5.17) accepts the same texts in AT TIME ZONE, and means the
# expected offset, so that Node and the database differ by hours. EST, which IANA has, agrees.
set -euo pipefail
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund node@24.21.0 @electric-sql/pglite@0.5.17 >/dev/null
cat >run.mjs <<'JS'
import { PGlite } from '@electric-sql/pglite';
const database = new PGlite();
const at = new Date('2026-06-15T12:00:00Z');
console.log(`Node ${process.versions.node}, ICU ${process.versions.icu.split('.')[0]}`);
for (const timeZone of ['BST', 'AST', 'NST', 'EST']) {
  const format = new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', minute: '2-digit' });
  const { rows } = await database.query(
    `SELECT to_char($1::timestamptz AT TIME ZONE '${timeZone}', 'HH24:MI') AS time`,
    [at.toISOString()],
  );
  console.log(`${timeZone}: Node ${format.format(at)} (${format.resolvedOptions().timeZone}), PostgreSQL ${rows[0].time}`);
}
JS
output=$(node_modules/.bin/node run.mjs)
echo "$output"
expected='Node 24.21.0, ICU 78
BST: Node 18:00 (Asia/Dhaka), PostgreSQL 13:00
AST: Node 04:00 (America/Anchorage), PostgreSQL 08:00
NST: Node 00:00 (Pacific/Auckland), PostgreSQL 08:30
EST: Node 07:00 (America/Panama), PostgreSQL 07:00'
[ "$output" = "$expected" ] || { echo 'The behaviour has changed.' >&2; exit 1; }
