#!/usr/bin/env bash
# mammoth 1.13.0 converts the numbers of a document into lists that each begin at 1. A numbering that goes on after a paragraph between its
# items, as the clauses of a contract do, so starts again: clause 3 becomes 1, and its items a) and b) become 1 and 2. The document has one
# numbering for all (ECMA-376 part 1, 17.9.18, `w:numId`), the output has no `start` and no `type`, and there is no message. A reference in the text,
# "see clause 3 b", then points to nothing, and raw text has no numbers at all. The same happens to a level that starts at another
# number (`w:start`).
# One would expect `<ol start="3">` and `<ol type="a">`, or a message that numbers are lost.
# Remedy: count the items of each `w:numId` in an own pass over the document, or write the numbers into the text before conversion.
set -euo pipefail
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund mammoth@1.13.0 docx@9.15.2 >/dev/null
cat >run.mjs <<'JS'
import { Document, Packer, Paragraph } from 'docx';
import mammoth from 'mammoth';
const writeItem = (text, level = 0) => new Paragraph({ text, numbering: { reference: 'clauses', level } });
const levels = [{ level: 0, format: 'decimal', text: '%1.' }, { level: 1, format: 'lowerLetter', text: '%2)' }];
const children = [
  writeItem('Term'),
  writeItem('Fees'),
  new Paragraph('Fees are due monthly.'),
  writeItem('Liability'),
  writeItem('limited', 1),
  writeItem('excluded', 1),
  new Paragraph('See clause 3 b.'),
  writeItem('Notice'),
];
const buffer = await Packer.toBuffer(new Document({ numbering: { config: [{ reference: 'clauses', levels }] }, sections: [{ children }] }));
const { value, messages } = await mammoth.convertToHtml({ buffer });
console.log(value);
console.log(`messages: ${messages.length}`);
JS
output=$(node run.mjs)
echo "mammoth $(node -p "require('mammoth/package.json').version")"
echo "$output"
expected='<ol><li>Term</li><li>Fees</li></ol><p>Fees are due monthly.</p><ol><li>Liability<ol><li>limited</li><li>excluded</li></ol></li></ol><p>See clause 3 b.</p><ol><li>Notice</li></ol>
messages: 0'
[ "$output" = "$expected" ] || { echo 'The behaviour has changed.' >&2; exit 1; }
