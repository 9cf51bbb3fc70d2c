#!/usr/bin/env bash
# ical.js 2.2.1 does not decode `\;` in vCards: the note "Key 4\; ask Bob" is read with its backslash. When the card is written, the
# backslash is escaped in turn, so that each later reader shows it too. In properties with several components (ORG) and in iCalendar the
# same library decodes it. vCard 3 has `\;` as the only way to write a semicolon in a text (RFC 2426, 5), and vCard 4 lets a writer
# choose it (RFC 6350, 3.4); vobject and Apple's Contacts write notes so. It meets NOTE, TITLE, FN and NICKNAME, of both versions.
# One would expect "Key 4; ask Bob", as vcard-parser 1.0.0 reads it.
# Remedy: replace `\;` by `;` in the text values of what ICAL.parse returned.
set -euo pipefail
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund ical.js@2.2.1 vcard-parser@1.0.0 >/dev/null
cat >run.mjs <<'JS'
import ICAL from 'ical.js';
import parser from 'vcard-parser';
const writeLines = (...lines) => `${lines.join('\r\n')}\r\n`;
for (const version of ['3.0', '4.0']) {
  const text = writeLines('BEGIN:VCARD', `VERSION:${version}`, 'FN:Ann Lee', 'ORG:Lee\\; Sons;Sales', 'NOTE:Key 4\\; ask Bob', 'END:VCARD');
  const card = new ICAL.Component(ICAL.parse(text));
  console.log(`vCard ${version}, ical.js: note ${card.getFirstPropertyValue('note')}, organization ${card.getFirstPropertyValue('org')[0]}`);
  console.log(`vCard ${version}, written: ${card.getFirstProperty('note').toICALString()}`);
  console.log(`vCard ${version}, vcard-parser: note ${parser.parse(text).note[0].value}`);
}
const event = writeLines('BEGIN:VEVENT', 'SUMMARY:Key 4\\; ask Bob', 'END:VEVENT');
console.log(`iCalendar, ical.js: summary ${new ICAL.Component(ICAL.parse(event)).getFirstPropertyValue('summary')}`);
JS
output=$(node run.mjs)
echo "ical.js $(node -p "JSON.parse(fs.readFileSync('node_modules/ical.js/package.json')).version")"
echo "$output"
expected='vCard 3.0, ical.js: note Key 4\; ask Bob, organization Lee; Sons
vCard 3.0, written: NOTE:Key 4\\; ask Bob
vCard 3.0, vcard-parser: note Key 4; ask Bob
vCard 4.0, ical.js: note Key 4\; ask Bob, organization Lee; Sons
vCard 4.0, written: NOTE:Key 4\\; ask Bob
vCard 4.0, vcard-parser: note Key 4; ask Bob
iCalendar, ical.js: summary Key 4; ask Bob'
[ "$output" = "$expected" ] || { echo 'The behaviour has changed.' >&2; exit 1; }
