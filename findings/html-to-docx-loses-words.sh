#!/usr/bin/env bash
# html-to-docx 1.8.0 and its successor @turbodocx/html-to-docx 1.23.1 leave words of a valid page out of the document, without an error. Text in `q`, `small`,
# `cite`, `abbr`, `kbd` and `time` is not there, though each is ordinary text with a meaning (HTML Living Standard, 4.5), nor are the caption and the foot of a
# table, where an invoice has its total, and the caption of a figure. 1.8.0 also drops the second paragraph of an item of a list. What
# they know (`b`, `em`, `s`, headings, rows of `tbody`) is kept, so that a first look finds nothing. A contract that says "not later than <time>30
# June</time>" loses the day.
# One would expect that an element without a rule of its own is converted as the text that it contains, as a browser shows it.
# Remedy: before conversion, replace inline elements other than those known by their children, and move `tfoot` into `tbody`.
set -euo pipefail
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund html-to-docx@1.8.0 @turbodocx/html-to-docx@1.23.1 fflate@0.8.3 >/dev/null 2>&1
cat >run.mjs <<'JS'
import { strFromU8, unzipSync } from 'fflate';
import first from 'html-to-docx';
import second from '@turbodocx/html-to-docx';
const pages = {
  inline: '<p>Pay <b>today</b>, not later than <time>30 June</time>, <small>net of <abbr>VAT</abbr></small>, said <cite>Acme</cite>: <q>agreed</q>; <kbd>Esc</kbd> leaves.</p>',
  table: '<table><caption>Invoice</caption><tbody><tr><td>Room</td><td>40</td></tr></tbody><tfoot><tr><td>Total</td><td>47</td></tr></tfoot></table>',
  figure: '<figure><figcaption>The plan</figcaption></figure><p>End</p>',
  list: '<ul><li><p>One</p><p>Two</p></li></ul>',
};
const read = async (result) => Buffer.from(result.arrayBuffer ? await result.arrayBuffer() : result);
for (const [name, page] of Object.entries(pages)) {
  const all = page.replace(/<[^>]*>/g, ' ').match(/\w+/g);
  for (const [library, convert] of [['html-to-docx', first], ['@turbodocx/html-to-docx', second]]) {
    const archive = unzipSync(await read(await convert(`<!DOCTYPE html><html><body>${page}</body></html>`)));
    const words = strFromU8(archive['word/document.xml']).replace(/<[^>]*>/g, ' ').match(/\w+/g);
    console.log(`${name}, ${library}: without ${all.filter((word) => !words.includes(word)).join(' ') || 'nothing'}`);
  }
}
JS
output=$(node run.mjs)
for name in html-to-docx @turbodocx/html-to-docx; do echo "$name $(node -p "JSON.parse(fs.readFileSync('node_modules/$name/package.json')).version")"; done
echo "$output"
expected='inline, html-to-docx: without 30 June net of VAT Acme agreed Esc
inline, @turbodocx/html-to-docx: without 30 June net of VAT Acme agreed Esc
table, html-to-docx: without Invoice Total 47
table, @turbodocx/html-to-docx: without Invoice Total 47
figure, html-to-docx: without The plan
figure, @turbodocx/html-to-docx: without The plan
list, html-to-docx: without Two
list, @turbodocx/html-to-docx: without nothing'
[ "$output" = "$expected" ] || { echo 'The behaviour has changed.' >&2; exit 1; }
