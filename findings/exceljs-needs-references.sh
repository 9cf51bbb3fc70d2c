#!/usr/bin/env bash
# ExcelJS 4.4.0 rejects a workbook whose rows and cells have no reference (the attribute `r`): "Invalid row number in model".
# ECMA-376 part 1, 18.3.1.73 and 18.3.1.4, makes both optional; without them a row or cell follows the one before. SheetJS 0.18.5
# reads the same file. One would expect that each reader opens what the schema allows.
# Remedy for a writer of XLSX: state the reference of each row and cell.
set -euo pipefail
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund exceljs@4.4.0 xlsx@0.18.5 fflate@0.8.2 >/dev/null
cat >run.cjs <<'JS'
const { strToU8, zipSync } = require('fflate');
const ExcelJS = require('exceljs');
const XLSX = require('xlsx');
const xml = '<?xml version="1.0"?>';
const office = 'http://schemas.openxmlformats.org';
const type = 'application/vnd.openxmlformats-officedocument.spreadsheetml';
const relation = (name, target) =>
  `${xml}<Relationships xmlns="${office}/package/2006/relationships"><Relationship Id="r1" Type="${office}/officeDocument/2006/relationships/${name}" Target="${target}"/></Relationships>`;
const workbook = (rows) =>
  Buffer.from(
    zipSync({
      '[Content_Types].xml': strToU8(
        `${xml}<Types xmlns="${office}/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/xl/workbook.xml" ContentType="${type}.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="${type}.worksheet+xml"/></Types>`,
      ),
      '_rels/.rels': strToU8(relation('officeDocument', 'xl/workbook.xml')),
      'xl/_rels/workbook.xml.rels': strToU8(relation('worksheet', 'worksheets/sheet1.xml')),
      'xl/workbook.xml': strToU8(
        `${xml}<workbook xmlns="${office}/spreadsheetml/2006/main" xmlns:r="${office}/officeDocument/2006/relationships"><sheets><sheet name="A" sheetId="1" r:id="r1"/></sheets></workbook>`,
      ),
      'xl/worksheets/sheet1.xml': strToU8(
        `${xml}<worksheet xmlns="${office}/spreadsheetml/2006/main"><sheetData>${rows}</sheetData></worksheet>`,
      ),
    }),
  );
(async () => {
  for (const [name, rows] of [
    ['with references', '<row r="1"><c r="A1"><v>1</v></c><c r="B1"><v>2</v></c></row><row r="2"><c r="A2"><v>3</v></c></row>'],
    ['without references', '<row><c><v>1</v></c><c><v>2</v></c></row><row><c><v>3</v></c></row>'],
  ]) {
    const file = workbook(rows);
    const sheet = XLSX.read(file).Sheets.A;
    console.log(`${name}: SheetJS ${JSON.stringify(XLSX.utils.sheet_to_json(sheet, { header: 1 }))}`);
    const book = new ExcelJS.Workbook();
    const result = await book.xlsx.load(file).then(
      () => JSON.stringify(book.worksheets[0].getSheetValues().slice(1).map((row) => row.slice(1))),
      (error) => error.message,
    );
    console.log(`${name}: ExcelJS ${result}`);
  }
})();
JS
output=$(node run.cjs)
echo "exceljs $(node -p "require('exceljs/package.json').version"), xlsx $(node -p "require('xlsx/package.json').version")"
echo "$output"
expected='with references: SheetJS [[1,2],[3]]
with references: ExcelJS [[1,2],[3]]
without references: SheetJS [[1,2],[3]]
without references: ExcelJS Invalid row number in model'
[ "$output" = "$expected" ] || { echo 'The behaviour has changed.' >&2; exit 1; }
