#!/usr/bin/env bash
# ExcelJS 4.4.0 reads a date that is written as text of ISO 8601 as its year, a number of days: each date of 2026 is 18 July 1905, with its time gone, and
# without the style of a date the number 2026. ECMA-376 part 1 (18.18.11, `t="d"`) has such cells, and "Strict" workbooks use them; openpyxl 3.0.9 writes
# them with `iso_dates`. There is no error, and all dates of one year become equal, so that an import of due dates looks filled in. SheetJS 0.18.5 and
# read-excel-file 9.3.17 read the same file right.
# One would expect 5 January 2026, or an error for a type of cell that is not read.
# Remedy: read imports with another library, or refuse sheets that have `t="d"`.
# The Debian packages are unpacked, not installed.
set -euo pipefail
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
chmod 755 .
apt-get download -qq python3-openpyxl=3.0.9-1 python3-et-xmlfile >/dev/null 2>&1
for package in *.deb; do dpkg-deb -x "$package" root; done
npm init -y >/dev/null
npm install --silent --no-audit --no-fund exceljs@4.4.0 xlsx@0.18.5 read-excel-file@9.3.17 >/dev/null
cat >write.py <<'PY'
from datetime import date, datetime

from openpyxl import Workbook

book = Workbook()
book.iso_dates = True
book.active.append([date(2026, 1, 5), datetime(2026, 11, 30, 10, 30)])
book.save("dates.xlsx")
PY
cat >run.cjs <<'JS'
const ExcelJS = require('exceljs');
const { readSheet } = require('read-excel-file/node');
const XLSX = require('xlsx');
const write = (cells) => cells.map((cell) => cell.toISOString()).join(', ');
(async () => {
  const book = new ExcelJS.Workbook();
  await book.xlsx.readFile('dates.xlsx');
  console.log(`ExcelJS: ${write(book.worksheets[0].getRow(1).values.slice(1))}`);
  const sheet = XLSX.readFile('dates.xlsx', { cellDates: true }).Sheets.Sheet;
  console.log(`SheetJS: ${write(XLSX.utils.sheet_to_json(sheet, { header: 1 })[0])}`);
  console.log(`read-excel-file: ${write((await readSheet('dates.xlsx'))[0])}`);
})();
JS
PYTHONPATH="$directory/root/usr/lib/python3/dist-packages" /usr/bin/python3 write.py
output=$(TZ=UTC node run.cjs)
echo "openpyxl $(dpkg-deb -f python3-openpyxl_*.deb Version)"
for name in exceljs xlsx read-excel-file; do echo "$name $(node -p "JSON.parse(fs.readFileSync('node_modules/$name/package.json')).version")"; done
echo "$output"
expected='ExcelJS: 1905-07-18T00:00:00.000Z, 1905-07-18T00:00:00.000Z
SheetJS: 2026-01-05T00:00:00.000Z, 2026-11-30T10:30:00.000Z
read-excel-file: 2026-01-05T00:00:00.000Z, 2026-11-30T10:30:00.000Z'
[ "$output" = "$expected" ] || { echo 'The behaviour has changed.' >&2; exit 1; }
