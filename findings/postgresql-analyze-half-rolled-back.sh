#!/usr/bin/env bash
# PostgreSQL 18.7 (as PGlite 0.5.17) rolls an ANALYZE back by half. In a transaction that fails, the statistics of the columns are gone, but the
# number of pages and rows in pg_class stays, because ANALYZE writes it in place. The planner then multiplies a right number of rows by guesses, and a job
# that decides by `reltuples` whether a table needs an ANALYZE takes it for analyzed.
# One would expect that a failed transaction leaves nothing.
# Remedy: each ANALYZE in a transaction of its own, not several in one function or DO block with other work.
set -euo pipefail
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @electric-sql/pglite@0.5.17 >/dev/null
cat >run.mjs <<'JS'
import { PGlite } from '@electric-sql/pglite';
const database = new PGlite();
const show = async (moment) => {
  const { rows } = await database.query(
    `SELECT reltuples::int AS rows, (SELECT count(*)::int FROM pg_stats WHERE tablename = 'orders') AS columns FROM pg_class WHERE relname = 'orders'`,
  );
  console.log(`${moment}: ${rows[0].rows} rows known, statistics of ${rows[0].columns} columns`);
};
console.log((await database.query('SELECT version() AS value')).rows[0].value.split(' (')[0]);
await database.exec('CREATE TABLE orders (id int, customer int)');
await database.exec('INSERT INTO orders SELECT n, n % 7 FROM generate_series(1, 20000) n');
await show('before');
const failed = await database.exec('BEGIN; ANALYZE orders; SELECT 1 / 0; COMMIT').then(() => false, () => true);
await database.exec('ROLLBACK');
await show(failed ? 'after a failed transaction' : 'after a transaction');
await database.exec('ANALYZE orders');
await show('after an ANALYZE of its own');
JS
output=$(node run.mjs)
echo "$output"
expected='PostgreSQL 18.7
before: -1 rows known, statistics of 0 columns
after a failed transaction: 20000 rows known, statistics of 0 columns
after an ANALYZE of its own: 20000 rows known, statistics of 2 columns'
[ "$output" = "$expected" ] || { echo 'The behaviour has changed.' >&2; exit 1; }
