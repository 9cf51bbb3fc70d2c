#!/usr/bin/env bash
# mammoth 1.13.0 converts a letter without the words that a mail merge has put in, and with those that are hidden. A field has two forms in ECMA-376
# part 1: marks around its result (17.16.18, `w:fldChar`) and one element (17.16.19, `w:fldSimple`). The text of the first form is kept, that of the
# second is left out, in HTML and in raw text, so that "the fee is 100 EUR a month" becomes "the fee is  a month". The same goes for a text with a
# direction of its own (`w:bdo`) and for the base of ruby, which is the text itself; `w:cr` joins the words around it. For these there is a message that
# names an element, not that text is missing. Hidden text (`w:vanish`), which Word does not show, is in the output without a message.
# One would expect the text that Word shows.
# Remedy: before conversion, replace these elements in `word/document.xml` by their children (ruby by its base, `w:cr` by `w:br`), and take runs with
# `w:vanish` out; treat the message "An unrecognised element was ignored" as an error.
set -euo pipefail
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund mammoth@1.13.0 fflate@0.8.2 >/dev/null
cat >run.mjs <<'JS'
import { strToU8, zipSync } from 'fflate';
import mammoth from 'mammoth';
const office = 'http://schemas.openxmlformats.org';
const type = 'application/vnd.openxmlformats';
const xml = '<?xml version="1.0" encoding="UTF-8"?>';
const write = (content) =>
  Buffer.from(
    zipSync({
      '[Content_Types].xml': strToU8(
        `${xml}<Types xmlns="${office}/package/2006/content-types"><Default Extension="rels" ContentType="${type}-package.relationships+xml"/><Override PartName="/word/document.xml" ContentType="${type}-officedocument.wordprocessingml.document.main+xml"/></Types>`,
      ),
      '_rels/.rels': strToU8(
        `${xml}<Relationships xmlns="${office}/package/2006/relationships"><Relationship Id="r1" Type="${office}/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>`,
      ),
      'word/document.xml': strToU8(`${xml}<w:document xmlns:w="${office}/wordprocessingml/2006/main"><w:body><w:p>${content}</w:p></w:body></w:document>`),
    }),
  );
const run = (text, properties = '') => `<w:r>${properties}<w:t xml:space="preserve">${text}</w:t></w:r>`;
const mark = (kind) => `<w:r><w:fldChar w:fldCharType="${kind}"/></w:r>`;
for (const [name, content] of Object.entries({
  fldChar: `${run('the fee is ')}${mark('begin')}<w:r><w:instrText>MERGEFIELD fee</w:instrText></w:r>${mark('separate')}${run('100 EUR')}${mark('end')}${run(' a month')}`,
  fldSimple: `${run('the fee is ')}<w:fldSimple w:instr="MERGEFIELD fee">${run('100 EUR')}</w:fldSimple>${run(' a month')}`,
  bdo: `${run('the fee is ')}<w:bdo w:val="ltr">${run('100 EUR')}</w:bdo>${run(' a month')}`,
  ruby: `${run('from ')}<w:r><w:ruby><w:rubyPr/><w:rt>${run('とうきょう')}</w:rt><w:rubyBase>${run('東京')}</w:rubyBase></w:ruby></w:r>${run(' on')}`,
  cr: '<w:r><w:t>one</w:t><w:cr/><w:t>two</w:t></w:r>',
  vanish: `${run('the fee is 100 EUR')}${run(' (80 if they ask)', '<w:rPr><w:vanish/></w:rPr>')}`,
})) {
  const buffer = write(content);
  const { value, messages } = await mammoth.convertToHtml({ buffer });
  const raw = await mammoth.extractRawText({ buffer });
  console.log(`${name}: ${value}, raw "${raw.value.trim()}", ${messages.map(({ message }) => message).join('; ') || 'no message'}`);
}
JS
output=$(node run.mjs)
echo "mammoth $(node -p "require('mammoth/package.json').version")"
echo "$output"
expected='fldChar: <p>the fee is 100 EUR a month</p>, raw "the fee is 100 EUR a month", no message
fldSimple: <p>the fee is  a month</p>, raw "the fee is  a month", An unrecognised element was ignored: w:fldSimple
bdo: <p>the fee is  a month</p>, raw "the fee is  a month", An unrecognised element was ignored: w:bdo
ruby: <p>from  on</p>, raw "from  on", An unrecognised element was ignored: w:ruby
cr: <p>onetwo</p>, raw "onetwo", An unrecognised element was ignored: w:cr
vanish: <p>the fee is 100 EUR (80 if they ask)</p>, raw "the fee is 100 EUR (80 if they ask)", no message'
[ "$output" = "$expected" ] || { echo 'The behaviour has changed.' >&2; exit 1; }
