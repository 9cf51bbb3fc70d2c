#!/usr/bin/env bash
# ical.js 2.2.1 writes the comma of a URI in vCard 4 with a backslash: a photo becomes `PHOTO:data:image/jpeg;base64\,/9j/4AAQ`, a position
# `GEO:geo:52.52\,13.40`. Each is one URI, which has no escapes (RFC 6350, 6.2.4, whose example has the bare comma), and a backslash is no
# character of a URI (RFC 3986). ical.js reads its own output, so that a test in both directions passes; another reader gets an address
# that means something else. Here `fetch` takes the backslash as a part of the type, so the photo is the letters of the base64 instead of an image. In
# vCard 3 and in iCalendar the same library writes URIs as they are.
# One would expect the line as it was read.
# Remedy: replace `\,` by `,` in the lines of PHOTO, LOGO, SOUND, KEY, URL, GEO and other URIs after writing, before they are folded.
set -euo pipefail
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund ical.js@2.2.1 vcf@2.1.2 >/dev/null
cat >run.mjs <<'JS'
import ICAL from 'ical.js';
import VCard from 'vcf';
for (const version of ['3.0', '4.0']) {
  const photo = 'data:image/jpeg;base64,/9j/4AAQ';
  const lines = ['BEGIN:VCARD', `VERSION:${version}`, 'FN:Ann Lee', `PHOTO;VALUE=uri:${photo}`, 'URL:https://acme.example/map/52,13', 'END:VCARD'];
  const written = new ICAL.Component(ICAL.parse(`${lines.join('\r\n')}\r\n`)).toString();
  for (const line of written.split('\r\n')) if (/^(PHOTO|URL)/.test(line)) console.log(`vCard ${version}: ${line}`);
  const read = new VCard().parse(`${written}\r\n`).get('photo').valueOf();
  const answer = await fetch(read);
  console.log(`vCard ${version}, the photo by vcf and fetch: ${Buffer.from(await answer.arrayBuffer()).toString('hex')}`);
}
JS
output=$(node run.mjs)
echo "ical.js $(node -p "JSON.parse(fs.readFileSync('node_modules/ical.js/package.json')).version")"
echo "$output"
expected='vCard 3.0: PHOTO;VALUE=URI:data:image/jpeg;base64,/9j/4AAQ
vCard 3.0: URL:https://acme.example/map/52,13
vCard 3.0, the photo by vcf and fetch: ffd8ffe00010
vCard 4.0: PHOTO:data:image/jpeg;base64\,/9j/4AAQ
vCard 4.0: URL:https://acme.example/map/52\,13
vCard 4.0, the photo by vcf and fetch: 2f396a2f34414151'
[ "$output" = "$expected" ] || { echo 'The behaviour has changed.' >&2; exit 1; }
