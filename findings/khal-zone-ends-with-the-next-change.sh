#!/usr/bin/env bash
# khal 0.10.5 (Debian 12, with icalendar 4.0.3) writes a series with a time zone that ends. The VTIMEZONE of a weekly meeting without an end has the last
# clock change before the first instance and the next one after it, and no rule: from January on it is winter time, from March summer time for
# ever. Whoever computes with the zone that is in the file (RFC 5545, 3.6.5: it must describe all times that use it) so has each
# instance of later winters an hour early; here ical.js 2.2.1. khal itself shows the right hour, because it looks the name up. The zone that a server
# or another program had written gets lost in the same way when khal changes an event.
# One would expect the rules of the zone, as long as the series has instances.
# Remedy: look TZID up in the IANA database, and use VTIMEZONE only for names that are not in it.
# khal needs Debian's packages of Python; they are unpacked, not installed.
set -euo pipefail
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
chmod 755 .
apt-get download -qq khal=1:0.10.5-1.1 python3-icalendar=4.0.3-5 python3-pkg-resources python3-atomicwrites python3-click python3-click-log \
  python3-colorama python3-configobj python3-dateutil python3-tz python3-tzlocal python3-pytz-deprecation-shim python3-urwid python3-xdg \
  python3-six >/dev/null 2>&1
for package in *.deb; do dpkg-deb -x "$package" root; done
npm init -y >/dev/null
npm install --silent --no-audit --no-fund ical.js@2.2.1 >/dev/null
mkdir events
cat >khal.conf <<CONF
[calendars]
[[work]]
path = $directory/events
[sqlite]
path = $directory/khal.db
[locale]
local_timezone = Europe/Berlin
default_timezone = Europe/Berlin
timeformat = %H:%M
dateformat = %Y-%m-%d
longdateformat = %Y-%m-%d
datetimeformat = %Y-%m-%d %H:%M
longdatetimeformat = %Y-%m-%d %H:%M
[default]
default_calendar = work
CONF
run() { HOME="$directory" PYTHONPATH="$directory/root/usr/lib/python3/dist-packages" /usr/bin/python3 -m khal -c khal.conf "$@"; }
cat >run.mjs <<'JS'
import { readdirSync, readFileSync } from 'node:fs';
import ICAL from 'ical.js';
const calendar = new ICAL.Component(ICAL.parse(readFileSync(`events/${readdirSync('events')[0]}`, 'utf8')));
for (const change of calendar.getFirstSubcomponent('vtimezone').getAllSubcomponents())
  console.log(`in the zone: ${change.name} ${change.getFirstPropertyValue('dtstart')}, ${change.hasProperty('rrule') ? 'a rule' : 'no rule'}`);
const iterator = new ICAL.Event(calendar.getFirstSubcomponent('vevent')).iterator();
for (let start = iterator.next(); start.year < 2028; start = iterator.next()) {
  const day = start.toString().slice(0, 10);
  if (!['2027-01-11', '2027-07-05', '2027-12-06'].includes(day)) continue;
  const hour = new Intl.DateTimeFormat('en-GB', { timeZone: 'Europe/Berlin', timeStyle: 'short' }).format(start.toJSDate());
  console.log(`ical.js ${day}: ${start.toJSDate().toISOString()}, which is ${hour} in Berlin`);
}
JS
run new -a work 2027-01-11 09:00 10:00 Meeting -r weekly >/dev/null 2>&1
output=$(node run.mjs; run list --day-format '' --format 'khal {start-date}: {start-time}' 2027-12-06 2027-12-07 2>/dev/null | grep khal)
echo "khal $(dpkg-deb -f khal_*.deb Version), ical.js $(node -p "require('./node_modules/ical.js/package.json').version")"
echo "$output"
expected='in the zone: standard 2026-10-25T02:00:00, no rule
in the zone: daylight 2027-03-28T03:00:00, no rule
ical.js 2027-01-11: 2027-01-11T08:00:00.000Z, which is 09:00 in Berlin
ical.js 2027-07-05: 2027-07-05T07:00:00.000Z, which is 09:00 in Berlin
ical.js 2027-12-06: 2027-12-06T07:00:00.000Z, which is 08:00 in Berlin
khal 2027-12-06: 09:00'
[ "$output" = "$expected" ] || { echo 'The behaviour has changed.' >&2; exit 1; }
