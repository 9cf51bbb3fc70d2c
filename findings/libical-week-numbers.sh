#!/usr/bin/env bash
# libical 3.0.16 (Debian 12; Evolution, KDE's calendar and Cyrus use it) finds other weeks than those of BYWEEKNO. A rule that names only the week,
# `FREQ=YEARLY;BYWEEKNO=10`, gives Saturdays of week 27, in July, for a series that starts on Monday, 2 March 2026 (week 10). With BYWEEKNO=20 and a
# start in May the first instance is in a January four years later. With BYDAY a week in the middle of the year is right, so that a first test passes;
# the ends are not: week 53 also comes in years of 52 weeks, and the series of week 1 that starts on Monday, 29 December 2025 begins with a Tuesday
# and goes back to the Monday, so that a program which takes the first instance for the earliest shows a wrong start. dateutil 2.8.2 gives the weeks
# that were named.
# One would expect each instance in the named week (RFC 5545, 3.3.10: weeks as in ISO 8601), on a day of BYDAY, and instances that ascend.
# Remedy: compute the dates and write them as RDATE for programs with libical; BYWEEKNO with BYDAY is safe for the weeks 2 to 51.
# The Debian packages are unpacked, not installed.
set -euo pipefail
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
chmod 755 .
apt-get download -qq libical3=3.0.16-1+b1 libicu72 python3-dateutil=2.8.2-2 python3-six >/dev/null 2>&1
for package in *.deb; do dpkg-deb -x "$package" root; done
cat >run.py <<'PY'
from ctypes import CDLL, POINTER, c_char_p, c_int, c_long
from datetime import datetime, timezone

from dateutil.rrule import rrulestr

expand = CDLL("libical.so.3").icalrecur_expand_recurrence
expand.argtypes = [c_char_p, c_long, c_int, POINTER(c_long)]


def write(dates):
    return ", ".join(f"{date:%a %Y-%m-%d} (week {date.isocalendar()[1]})" for date in dates)


for rule, first in (
    ("FREQ=YEARLY;BYWEEKNO=10;BYDAY=MO", "2026-03-02"),
    ("FREQ=YEARLY;BYWEEKNO=10", "2026-03-02"),
    ("FREQ=YEARLY;BYWEEKNO=20", "2026-05-11"),
    ("FREQ=YEARLY;BYWEEKNO=53;BYDAY=MO", "2020-12-28"),
    ("FREQ=YEARLY;BYWEEKNO=1;BYDAY=MO", "2025-12-29"),
):
    start = datetime.fromisoformat(f"{first}T09:00:00+00:00")
    found = (c_long * 3)()
    expand(rule.encode(), int(start.timestamp()), 3, found)
    print(f"{rule} from {first}")
    print(f"  libical: {write(datetime.fromtimestamp(instant, timezone.utc) for instant in found)}")
    print(f"  dateutil: {write(rrulestr(f'{rule};COUNT=3', dtstart=start))}")
PY
libraries=$(echo "$directory"/root/usr/lib/*/)
output=$(LD_LIBRARY_PATH="${libraries%/}" PYTHONPATH="$directory/root/usr/lib/python3/dist-packages" /usr/bin/python3 run.py)
echo "libical $(dpkg-deb -f libical3_*.deb Version), dateutil $(dpkg-deb -f python3-dateutil_*.deb Version)"
echo "$output"
expected='FREQ=YEARLY;BYWEEKNO=10;BYDAY=MO from 2026-03-02
  libical: Mon 2026-03-02 (week 10), Mon 2027-03-08 (week 10), Mon 2028-03-06 (week 10)
  dateutil: Mon 2026-03-02 (week 10), Mon 2027-03-08 (week 10), Mon 2028-03-06 (week 10)
FREQ=YEARLY;BYWEEKNO=10 from 2026-03-02
  libical: Sat 2026-07-04 (week 27), Sat 2027-07-03 (week 26), Sun 2028-07-02 (week 26)
  dateutil: Mon 2026-03-02 (week 10), Tue 2026-03-03 (week 10), Wed 2026-03-04 (week 10)
FREQ=YEARLY;BYWEEKNO=20 from 2026-05-11
  libical: Sat 2030-01-26 (week 4), Sat 2031-01-25 (week 4), Sat 2032-01-24 (week 4)
  dateutil: Mon 2026-05-11 (week 20), Tue 2026-05-12 (week 20), Wed 2026-05-13 (week 20)
FREQ=YEARLY;BYWEEKNO=53;BYDAY=MO from 2020-12-28
  libical: Mon 2020-12-28 (week 53), Mon 2025-12-29 (week 1), Mon 2026-12-28 (week 53)
  dateutil: Mon 2020-12-28 (week 53), Mon 2026-12-28 (week 53), Mon 2032-12-27 (week 53)
FREQ=YEARLY;BYWEEKNO=1;BYDAY=MO from 2025-12-29
  libical: Tue 2025-12-30 (week 1), Mon 2025-12-29 (week 1), Mon 2027-01-04 (week 1)
  dateutil: Mon 2025-12-29 (week 1), Mon 2027-01-04 (week 1), Mon 2028-01-03 (week 1)'
[ "$output" = "$expected" ] || { echo 'The behaviour has changed.' >&2; exit 1; }
