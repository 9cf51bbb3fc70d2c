#!/usr/bin/env bash
# date-holidays 3.37.0 knows Japan's rule that a weekday between two national holidays is a holiday too (Act on National Holidays,
# article 3, paragraph 3) for 2015 and 2026, but not for 21 September 2032, which its own data places between Respect for the Aged
# Day and the autumnal equinox. One would expect that the rule holds for each year that the library computes.
set -euo pipefail
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund date-holidays@3.37.0 >/dev/null
cat >run.cjs <<'JS'
const Holidays = require('date-holidays');
for (const year of [2015, 2026, 2032]) {
  const days = new Holidays('JP').getHolidays(year).filter(({ date, type }) => date.slice(5, 7) === '09' && type === 'public');
  console.log(days.map(({ date }) => date.slice(0, 10)).join(' '));
}
JS
output=$(node run.cjs)
echo "date-holidays $(node -p "require('./node_modules/date-holidays/package.json').version")"
echo "$output"
expected='2015-09-21 2015-09-22 2015-09-23
2026-09-21 2026-09-22 2026-09-23
2032-09-20 2032-09-22'
[ "$output" = "$expected" ] || { echo 'The behaviour has changed.' >&2; exit 1; }
