#!/usr/bin/env bash
# A yearly rule with a day of the month and no month, `FREQ=YEARLY;BYMONTHDAY=13`, is one date a year for some libraries and twelve for others. RFC
# 5545 (3.3.10) has a table by which BYMONTHDAY expands a yearly rule, that is to each month, and a sentence by which a missing BYMONTH is taken from
# DTSTART. libical 3.0.16 (Debian 12) always takes the month of the start, rrule 2.8.1 always takes each month. ical.js 2.2.1 does both: the month of
# the start, but each month as soon as BYDAY is added, so that a part that limits a rule makes it longer. A payment "on the 1st and the 15th" is due
# twice a year in one program and 24 times in another, and a birthday that a calendar exports in this form comes each month.
# One would expect the same dates from the same rule.
# Remedy: write BYMONTH with each yearly BYMONTHDAY, or FREQ=MONTHLY where each month is meant; for rules of others decide by PRODID, or ask.
# The Debian packages are unpacked, not installed.
set -euo pipefail
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
chmod 755 .
apt-get download -qq libical3=3.0.16-1+b1 libicu72 >/dev/null 2>&1
for package in *.deb; do dpkg-deb -x "$package" root; done
npm init -y >/dev/null
npm install --silent --no-audit --no-fund ical.js@2.2.1 rrule@2.8.1 >/dev/null
cat >run.py <<'PY'
from ctypes import CDLL, POINTER, c_char_p, c_int, c_long
from datetime import datetime, timezone
from sys import argv

expand = CDLL("libical.so.3").icalrecur_expand_recurrence
expand.argtypes = [c_char_p, c_long, c_int, POINTER(c_long)]
found = (c_long * 5)()
expand(argv[1].encode(), int(datetime.fromisoformat(f"{argv[2]}T09:00:00+00:00").timestamp()), 5, found)
print(", ".join(f"{datetime.fromtimestamp(instant, timezone.utc):%Y-%m-%d}" for instant in found))
PY
cat >run.mjs <<'JS'
import ICAL from 'ical.js';
import rrule from 'rrule';
const { RRule } = rrule;
const [text, start] = process.argv.slice(2);
const iterator = ICAL.Recur.fromString(text).iterator(ICAL.Time.fromString(`${start}T09:00:00Z`));
console.log(`  ical.js: ${Array.from({ length: 5 }, () => iterator.next().toString().slice(0, 10)).join(', ')}`);
const all = new RRule({ ...RRule.parseString(`${text};COUNT=5`), dtstart: new Date(`${start}T09:00:00Z`) }).all();
console.log(`  rrule: ${all.map((date) => date.toISOString().slice(0, 10)).join(', ')}`);
JS
libraries=$(echo "$directory"/root/usr/lib/*/)
run() {
  echo "$1 from $2"
  echo "  libical: $(LD_LIBRARY_PATH="${libraries%/}" /usr/bin/python3 run.py "$1" "$2")"
  node run.mjs "$1" "$2"
}
output=$(
  run 'FREQ=YEARLY;BYMONTHDAY=13' 2026-02-13
  run 'FREQ=YEARLY;BYMONTHDAY=1,15' 2026-03-01
  run 'FREQ=YEARLY;BYMONTHDAY=13;BYDAY=FR' 2026-02-13
)
echo "libical $(dpkg-deb -f libical3_*.deb Version)"
for name in ical.js rrule; do echo "$name $(node -p "JSON.parse(fs.readFileSync('node_modules/$name/package.json')).version")"; done
echo "$output"
expected='FREQ=YEARLY;BYMONTHDAY=13 from 2026-02-13
  libical: 2026-02-13, 2027-02-13, 2028-02-13, 2029-02-13, 2030-02-13
  ical.js: 2026-02-13, 2027-02-13, 2028-02-13, 2029-02-13, 2030-02-13
  rrule: 2026-02-13, 2026-03-13, 2026-04-13, 2026-05-13, 2026-06-13
FREQ=YEARLY;BYMONTHDAY=1,15 from 2026-03-01
  libical: 2026-03-01, 2026-03-15, 2027-03-01, 2027-03-15, 2028-03-01
  ical.js: 2026-03-01, 2026-03-15, 2027-03-01, 2027-03-15, 2028-03-01
  rrule: 2026-03-01, 2026-03-15, 2026-04-01, 2026-04-15, 2026-05-01
FREQ=YEARLY;BYMONTHDAY=13;BYDAY=FR from 2026-02-13
  libical: 2026-02-13, 2032-02-13, 2037-02-13, 2043-02-13, 2054-02-13
  ical.js: 2026-02-13, 2026-03-13, 2026-11-13, 2027-08-13, 2028-10-13
  rrule: 2026-02-13, 2026-03-13, 2026-11-13, 2027-08-13, 2028-10-13'
[ "$output" = "$expected" ] || { echo 'The behaviour has changed.' >&2; exit 1; }
