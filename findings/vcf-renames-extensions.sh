#!/usr/bin/env bash
# vcf 2.1.2 changes the names of extension properties when it writes a card that it has read: `X-ABLabel`, by which Apple's Contacts
# names the label of a grouped value, becomes `X-AB-LABEL`, which no program knows. Reading turns names into camel case
# (`xAbLabel`) and writing splits them at capitals. One would expect that a card which is read and written keeps its properties.
set -euo pipefail
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund vcf@2.1.2 >/dev/null
cat >run.cjs <<'JS'
const VCard = require('vcf');
const lines = ['BEGIN:VCARD', 'VERSION:4.0', 'FN:Ann', 'item1.TEL:+1-555', 'item1.X-ABLabel:Boat', 'X-PHONETIC-FIRST-NAME:An', 'END:VCARD'];
console.log(new VCard().parse(`${lines.join('\r\n')}\r\n`).toString('4.0').split(/\r?\n/).filter((line) => /X-/.test(line)).join('\n'));
JS
output=$(node run.cjs)
echo "vcf $(node -p "require('vcf/package.json').version")"
echo "$output"
expected='item1.X-AB-LABEL:Boat
X-PHONETIC-FIRST-NAME:An'
[ "$output" = "$expected" ] || { echo 'The behaviour has changed.' >&2; exit 1; }
