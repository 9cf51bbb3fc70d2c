#!/usr/bin/env bash
# ExcelJS 4.4.0 stops reading a sheet at an inline text with a reading aid. Japanese texts have phonetic runs (`rPh`) with the kana. In the shared
# texts of a workbook ExcelJS reads them; inside of a cell (`t="inlineStr"`, as writers that stream make it) the cell is empty, and the rest of its
# row and all rows after it are not there. `load` succeeds, there is no warning, and the sheet looks like a short one. A list of customers is so
# imported up to the first name with kana. ECMA-376 part 1 has the same type (CT_Rst) for shared and inline texts. SheetJS 0.18.5 and read-excel-file
# 9.3.17 read all.
# One would expect all rows, or an error.
# Remedy: compare `sheet.rowCount` with the last row of `dimension` in the file, or read imports with another library.
set -euo pipefail
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund exceljs@4.4.0 xlsx@0.18.5 read-excel-file@9.3.17 fflate@0.8.2 >/dev/null
cat >run.cjs <<'JS'
const { strToU8, zipSync } = require('fflate');
const ExcelJS = require('exceljs');
const { readSheet } = require('read-excel-file/node');
const XLSX = require('xlsx');
const xml = '<?xml version="1.0" encoding="UTF-8"?>';
const office = 'http://schemas.openxmlformats.org';
const main = `xmlns="${office}/spreadsheetml/2006/main"`;
const type = 'application/vnd.openxmlformats-officedocument.spreadsheetml';
const relation = (id, name, target) => `<Relationship Id="${id}" Type="${office}/officeDocument/2006/relationships/${name}" Target="${target}"/>`;
const relations = (...list) => `${xml}<Relationships xmlns="${office}/package/2006/relationships">${list.join('')}</Relationships>`;
const part = (name, kind) => `<Override PartName="/xl/${name}.xml" ContentType="${type}.${kind}+xml"/>`;
const files = (rows, shared) => ({
  '[Content_Types].xml': `${xml}<Types xmlns="${office}/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>${part('workbook', 'sheet.main')}${part('worksheets/sheet1', 'worksheet')}${part('sharedStrings', 'sharedStrings')}</Types>`,
  '_rels/.rels': relations(relation('r1', 'officeDocument', 'xl/workbook.xml')),
  'xl/_rels/workbook.xml.rels': relations(relation('r1', 'worksheet', 'worksheets/sheet1.xml'), relation('r2', 'sharedStrings', 'sharedStrings.xml')),
  'xl/workbook.xml': `${xml}<workbook ${main} xmlns:r="${office}/officeDocument/2006/relationships"><sheets><sheet name="A" sheetId="1" r:id="r1"/></sheets></workbook>`,
  'xl/sharedStrings.xml': `${xml}<sst ${main} count="1" uniqueCount="1"><si>${shared}</si></sst>`,
  'xl/worksheets/sheet1.xml': `${xml}<worksheet ${main}><dimension ref="A1:B3"/><sheetData>${rows}</sheetData></worksheet>`,
});
const plain = '<t>東京</t>';
const phonetic = `${plain}<rPh sb="0" eb="2"><t>トウキョウ</t></rPh>`;
const inline = (text) => `t="inlineStr"><is>${text}</is>`;
(async () => {
  for (const [name, cell, shared] of [
    ['inline', inline(plain), plain],
    ['shared, with kana', 't="s"><v>0</v>', phonetic],
    ['inline, with kana', inline(phonetic), plain],
  ]) {
    const rows = `<row r="1"><c r="A1"><v>1</v></c></row><row r="2"><c r="A2" ${cell}</c><c r="B2"><v>2</v></c></row><row r="3"><c r="A3"><v>3</v></c></row>`;
    const file = Buffer.from(zipSync(Object.fromEntries(Object.entries(files(rows, shared)).map(([path, text]) => [path, strToU8(text)]))));
    const book = new ExcelJS.Workbook();
    await book.xlsx.load(file);
    const write = (values) => JSON.stringify(values.map((row) => Array.from(row, (value) => value ?? null).filter((value, place) => place === 0 || value !== null)));
    console.log(name);
    console.log(`  ExcelJS: ${write(book.worksheets[0].getSheetValues().slice(1).map((row) => row.slice(1)))}`);
    console.log(`  SheetJS: ${write(XLSX.utils.sheet_to_json(XLSX.read(file).Sheets.A, { header: 1 }))}`);
    console.log(`  read-excel-file: ${write(await readSheet(file))}`);
  }
})();
JS
output=$(node run.cjs)
for name in exceljs xlsx read-excel-file; do echo "$name $(node -p "JSON.parse(fs.readFileSync('node_modules/$name/package.json')).version")"; done
echo "$output"
expected='inline
  ExcelJS: [[1],["東京",2],[3]]
  SheetJS: [[1],["東京",2],[3]]
  read-excel-file: [[1],["東京",2],[3]]
shared, with kana
  ExcelJS: [[1],["東京",2],[3]]
  SheetJS: [[1],["東京",2],[3]]
  read-excel-file: [[1],["東京",2],[3]]
inline, with kana
  ExcelJS: [[1],[null]]
  SheetJS: [[1],["東京",2],[3]]
  read-excel-file: [[1],["東京",2],[3]]'
[ "$output" = "$expected" ] || { echo 'The behaviour has changed.' >&2; exit 1; }
