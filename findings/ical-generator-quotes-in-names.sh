#!/usr/bin/env bash
# ical-generator 10.2.0 escapes a quotation mark in the name of an attendee or organizer with a backslash: `CN="Ann \"Annie\" Lee"`. A parameter value of
# iCalendar has no such escape (RFC 5545, 3.1 and 3.2: no DQUOTE at all); RFC 6868 writes `^'`. The first inner mark so ends the value, and
# readers differ in what they make of the rest: node-ical 0.27.2 drops the line, so that the invitation has no Ann and no organizer, and
# nobody learns of it; ical.js 2.2.1 keeps the address and calls her `Ann \`. Names with a nickname in quotation marks are common in directories.
# One would expect the name as it was given, or without the marks.
# Remedy: replace quotation marks in names by typographic ones before ical-generator gets them.
set -euo pipefail
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund ical-generator@10.2.0 node-ical@0.27.2 ical.js@2.2.1 >/dev/null
cat >run.mjs <<'JS'
import ICAL from 'ical.js';
import createCalendar from 'ical-generator';
import nodeIcal from 'node-ical';
const listNames = (found) => [found ?? []].flat().map(({ params }) => params.CN).join() || 'none';
for (const name of ['Ann "Annie" Lee', 'Ann Lee', 'Ann “Annie” Lee']) {
  const calendar = createCalendar();
  calendar.createEvent({
    id: '1',
    start: new Date('2026-07-01T08:00:00Z'),
    summary: 'Review',
    organizer: { name, email: 'ann@acme.example' },
    attendees: [{ name, email: 'ann@acme.example' }, { name: 'Bob', email: 'bob@acme.example' }],
  });
  const text = calendar.toString();
  const event = new ICAL.Component(ICAL.parse(text)).getFirstSubcomponent('vevent');
  const names = event.getAllProperties('attendee').map((property) => property.getFirstParameter('cn'));
  const { attendee, organizer } = nodeIcal.sync.parseICS(text)[1];
  console.log(name);
  console.log(`  written: ${text.split('\r\n').find((line) => line.startsWith('ORGANIZER'))}`);
  console.log(`  node-ical: attendees ${listNames(attendee)}, organizer ${listNames(organizer)}`);
  console.log(`  ical.js: attendees ${names.join()}`);
}
JS
output=$(node run.mjs)
for name in ical-generator node-ical ical.js; do echo "$name $(node -p "JSON.parse(fs.readFileSync('node_modules/$name/package.json')).version")"; done
echo "$output"
expected='Ann "Annie" Lee
  written: ORGANIZER;CN="Ann \"Annie\" Lee":mailto:ann@acme.example
  node-ical: attendees Bob, organizer none
  ical.js: attendees Ann \,Bob
Ann Lee
  written: ORGANIZER;CN="Ann Lee":mailto:ann@acme.example
  node-ical: attendees Ann Lee,Bob, organizer Ann Lee
  ical.js: attendees Ann Lee,Bob
Ann “Annie” Lee
  written: ORGANIZER;CN="Ann “Annie” Lee":mailto:ann@acme.example
  node-ical: attendees Ann “Annie” Lee,Bob, organizer Ann “Annie” Lee
  ical.js: attendees Ann “Annie” Lee,Bob'
[ "$output" = "$expected" ] || { echo 'The behaviour has changed.' >&2; exit 1; }
