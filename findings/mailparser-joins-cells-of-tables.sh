#!/usr/bin/env bash
# mailparser 3.14.2 makes the text of a mail that is HTML alone without a separator between the cells and rows of a table: "Room 12, Guests 2" in four
# cells becomes "Room12Guests2", and two cells with 40 and 17 become the number 4017. Definition lists run together in the same way. Bookings, invoices and
# reports are tables, so that a search for a word does not find the mail, a preview shows another number, and who answers quotes it. It
# calls html-to-text without options, whose default lays out no table, and no option of simpleParser reaches it.
# One would expect at least a blank between two cells, as between the blocks of the same mail.
# Remedy: parse with `skipHtmlToText: true` and convert `html` by html-to-text with the format `dataTable` for tables.
set -euo pipefail
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund mailparser@3.14.2 html-to-text@10.0.1 >/dev/null
cat >run.mjs <<'JS'
import { convert } from 'html-to-text';
import { simpleParser } from 'mailparser';
const writeRow = (...cells) => `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`;
const table = `<table>${writeRow('Room', '12')}${writeRow('Guests', '2')}${writeRow('40', '17')}</table>`;
const html = `<p>Your booking</p>${table}<dl><dt>Due</dt><dd>5 May</dd></dl>`;
const selectors = [
  { selector: 'table', format: 'dataTable' },
  { selector: 'dt', format: 'block' },
  { selector: 'dd', format: 'block' },
];
const { text } = await simpleParser(`Content-Type: text/html; charset=utf-8\r\n\r\n${html}`);
console.log(`mailparser: ${JSON.stringify(text)}`);
console.log(`html-to-text with formats: ${JSON.stringify(convert(html, { selectors }))}`);
JS
output=$(node run.mjs)
echo "mailparser $(node -p "JSON.parse(fs.readFileSync('node_modules/mailparser/package.json')).version")"
echo "$output"
expected='mailparser: "Your booking\n\nRoom12Guests24017\n\nDue5 May"
html-to-text with formats: "Your booking\n\nRoom     12\nGuests   2\n40       17\n\nDue\n\n5 May"'
[ "$output" = "$expected" ] || { echo 'The behaviour has changed.' >&2; exit 1; }
