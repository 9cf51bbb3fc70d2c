#!/usr/bin/env bash
# pandoc 2.17.1.1 (Debian 12) reads each non-breaking space (U+00A0) of a DOCX run whose font is Symbol as a euro sign, and an ordinary space as a non-breaking one.
# It takes every character of such a run for a position of the font, where 0xA0 is the euro. Word writes bullets of pasted lists as a middle dot of Symbol
# and some non-breaking spaces, often in one run, so that "• First" becomes "•€€€ First" in the Markdown. In `w:t` the text is Unicode (ECMA-376 part 1,
# 17.3.3.31); positions of a font are in `w:sym` (17.3.3.30), or in the private range U+F000 to U+F0FF. mammoth 1.11.0 keeps the spaces.
# Remedy: give the font Symbol only to the bullet itself in documents that others convert, or to U+F0B7.
# The Debian packages are unpacked, not installed.
set -euo pipefail
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
chmod 755 .
apt-get download -qq pandoc=2.17.1.1-2~deb12u1 pandoc-data=2.17.1.1-2~deb12u1 libyaml-0-2 liblua5.3-0 libgmp10 >/dev/null 2>&1
for package in *.deb; do dpkg-deb -x "$package" root; done
npm init -y >/dev/null
npm install --silent --no-audit --no-fund docx@9.5.1 mammoth@1.11.0 >/dev/null
cat >run.cjs <<'JS'
const { Document, Packer, Paragraph, TextRun } = require('docx');
const mammoth = require('mammoth');
const { writeFileSync } = require('node:fs');
const paragraph = (font, text) =>
  new Paragraph({ children: [new TextRun({ font, text }), new TextRun({ font: 'Calibri', text: 'First' })] });
(async () => {
  const texts = ['\u00b7\u00a0\u00a0', '\u00b7  '];
  const children = ['Symbol', 'Calibri'].flatMap((font) => texts.map((text) => paragraph(font, text)));
  writeFileSync('list.docx', await Packer.toBuffer(new Document({ sections: [{ children }] })));
  const { value } = await mammoth.extractRawText({ path: 'list.docx' });
  console.log(`mammoth: ${JSON.stringify(value.trim().split(/\n+/)).replaceAll('\u00a0', '~')}`);
})();
JS
output=$(node run.cjs)
libraries=$(find "$directory/root/usr/lib" -maxdepth 1 -type d -name '*-linux-gnu')
read_text() { LD_LIBRARY_PATH="$libraries" root/usr/bin/pandoc --data-dir=root/usr/share/pandoc/data --wrap=none -t plain "$1"; }
output+=$'\n'"pandoc: $(read_text list.docx | grep . | sed 's/\xc2\xa0/~/g' | paste -sd '|')"
echo "pandoc $(dpkg-deb -f pandoc_*.deb Version)"
for name in docx mammoth; do echo "$name $(node -p "JSON.parse(fs.readFileSync('node_modules/$name/package.json')).version")"; done
echo "$output"
expected='mammoth: ["·~~First","·  First","·~~First","·  First"]
pandoc: •€€First|•~~First|·~~First|· First'
[ "$output" = "$expected" ] || { echo 'The behaviour has changed.' >&2; exit 1; }
