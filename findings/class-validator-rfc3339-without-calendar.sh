#!/usr/bin/env bash
# `isRFC3339` of class-validator 0.15.1 (validator 13.15.35) does not know the calendar: it accepts 30 February and 31 April. It also
# accepts a space in place of the `T`, which the grammar of RFC 3339 (5.6) does not have, and a leap second in any minute, where the RFC (5.7)
# has 23:59:60 UTC alone. Its sibling `isISO8601` knows the calendar with `strict: true`, but accepts week dates and times without a zone, which
# are no instants. A service that takes instants has to ask both: PostgreSQL rejects 30 February with the error 22008, which becomes a 500
# where only `@IsRFC3339` stands before it.
set -euo pipefail
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund class-validator@0.15.1 validator@13.15.35 >/dev/null
cat >run.cjs <<'JS'
const { isISO8601, isRFC3339 } = require('class-validator');
for (const text of [
  '2026-02-28T10:00:00Z',
  '2026-02-30T10:00:00Z',
  '2026-04-31T10:00:00Z',
  '2026-02-28 10:00:00Z',
  '2026-02-28T10:17:60Z',
  '2026-W09-6T10:00:00',
  '2026-02-28T24:00:00Z',
])
  console.log(`${text}: isRFC3339 ${isRFC3339(text)}, isISO8601 strict ${isISO8601(text, { strict: true })}`);
JS
output=$(node run.cjs)
echo "class-validator $(node -p "require('class-validator/package.json').version"), validator $(node -p "require('validator/package.json').version")"
echo "$output"
expected='2026-02-28T10:00:00Z: isRFC3339 true, isISO8601 strict true
2026-02-30T10:00:00Z: isRFC3339 true, isISO8601 strict false
2026-04-31T10:00:00Z: isRFC3339 true, isISO8601 strict false
2026-02-28 10:00:00Z: isRFC3339 true, isISO8601 strict true
2026-02-28T10:17:60Z: isRFC3339 true, isISO8601 strict false
2026-W09-6T10:00:00: isRFC3339 false, isISO8601 strict true
2026-02-28T24:00:00Z: isRFC3339 false, isISO8601 strict false'
[ "$output" = "$expected" ] || { echo 'The behaviour has changed.' >&2; exit 1; }
