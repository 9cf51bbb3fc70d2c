// Exports a rich note, prints it with LibreOffice and checks the pages, in place of Word.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { LibreOfficeDocx } from '../../dist/platform/docx/libreoffice-docx.js';
import { writeDocx } from '../../dist/lib/docx/writer.js';
import { cleanHtml } from '../../dist/lib/html/clean.js';
import { RICH_NOTE } from './rich-note.mjs';

const DIRECTORY = mkdtempSync(path.join(tmpdir(), 'docx-render-'));
const SOURCE = {
  ...RICH_NOTE,
  html: cleanHtml(RICH_NOTE.html),
  author: 'Alice Martin',
  created: '2026-11-21T09:30:00.000Z',
  modified: '2026-11-21T09:30:00.000Z',
};

/** Lines that the pages contain in this order, with or without other lines between them; consecutive spaces count as one. */
const LINES = [
  /^Rich note$/,
  /^Heading one$/,
  /^Heading two$/,
  /^Plain, bold, italic, H2O, marked, code and a link\.$/,
  /^• bullet$/,
  /^◦ deeper$/,
  /^c\. third$/,
  /^1\. inner first$/,
  /^2\. inner second$/,
  /^d\. fourth$/,
  /^Between the lists\.$/,
  /^1\. restarted$/,
  /^7\. seventh$/,
  /^8\. eighth$/,
  /^☒ done task$/,
  /^☐ open task$/,
  /^Quoted$/,
  /^Quoted twice$/,
  /^first line$/,
  /^second line$/,
  /^Name Q1 Q2$/,
  /^Both rows Both columns$/,
  /^left right$/,
  /^A picture:/,
  /مرحبا بالعالم/,
  /שלום עולם/,
  /中文字符, 日本語のテキスト, 한국어/,
  /^Summary$/,
  /^Detail$/,
  /^Term$/,
  /^Definition$/,
  /^Repeated header Sevens$/,
  /^Row 1 7$/,
  /^Row 60 420$/,
  /^The end\.$/,
];

let passed = 0;
let failed = 0;

function check(what, holds, seen) {
  if (holds) passed++;
  else failed++;
  if (!holds) process.stdout.write(`FAILED: ${what}${seen === undefined ? '' : `\n  seen: ${seen}`}\n`);
}

const run = (program, ...args) =>
  execFileSync(program, args, {
    cwd: DIRECTORY,
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: 120_000,
  }).toString();

/** Opens a document and prints it. @returns the text of each page, and the metadata of the PDF */
function render(name, bytes) {
  writeFileSync(path.join(DIRECTORY, `${name}.docx`), bytes);
  const profile = pathToFileURL(path.join(DIRECTORY, 'profile')).href;
  run(
    'soffice',
    `-env:UserInstallation=${profile}`,
    '--headless',
    '--norestore',
    '--convert-to',
    'pdf',
    `${name}.docx`,
  );
  const visible = (text) =>
    text.replaceAll(/[\u200E\u200F\u202A-\u202E\u2066-\u2069]/g, '').replaceAll(/[ \t\u00A0]+/g, ' ');
  const pages = visible(run('pdftotext', '-layout', `${name}.pdf`, '-'))
    .split('\f')
    .slice(0, -1);
  return { pages, info: run('pdfinfo', `${name}.pdf`) };
}

function linesInOrder(pages, expected) {
  const lines = pages
    .join('\n')
    .split('\n')
    .map((line) => line.trim());
  let at = 0;
  for (const line of expected) {
    const found = lines.findIndex((text, i) => i >= at && line.test(text));
    check(`${line} in its place`, found >= 0, lines.slice(at, at + 3).join(' | '));
    if (found >= 0) at = found + 1;
  }
}

/** The number of red pixels at 36 dpi: the picture is a cross in 80 × 40 pixels of 96 dpi, which are 30 × 15 pixels here. */
function redPixels(name, pages) {
  let red = 0;
  run('pdftoppm', '-r', '36', `${name}.pdf`, name);
  for (let page = 1; page <= pages; page++) {
    const file = readFileSync(path.join(DIRECTORY, `${name}-${page}.ppm`));
    const start = file.indexOf('\n255\n') + 5;
    for (let i = start; i + 2 < file.length; i += 3)
      if (file[i] > 230 && file[i + 1] < 40 && file[i + 2] < 40) red++;
  }
  return red;
}

async function external() {
  const engine = new LibreOfficeDocx('soffice', { workers: 1, queue: 1, timeoutMs: 60_000, memoryMb: 256 });
  try {
    const { pages } = render('external', Buffer.from(await engine.convert(SOURCE)));
    check(
      'the external converter keeps the text',
      /Heading one[\s\S]*bold[\s\S]*Both columns[\s\S]*The end\./.test(pages.join('\n')),
    );
  } finally {
    await engine.close();
  }
}

try {
  const { pages, info } = render('embedded', writeDocx(SOURCE));
  check('the pages', pages.length >= 3 && pages.length <= 5, `${pages.length} pages`);
  check('the title', /^Title:\s+Rich note$/m.test(info), info);
  check('the author', /^Author:\s+Alice Martin$/m.test(info), info);
  check('the page size', /^Page size:.*\(A4\)$/m.test(info), info);
  linesInOrder(pages, LINES);
  const headers = pages.filter((text) => text.includes('Repeated header')).length;
  const rows = pages.filter((text) => /Row \d+ /.test(text)).length;
  check(
    'the header row on each page of its table',
    headers >= 2 && headers === rows,
    `${headers} of ${rows}`,
  );
  const red = redPixels('embedded', pages.length);
  check('the picture in its size', red > 200 && red < 600, `${red} red pixels`);
  await external();
} finally {
  rmSync(DIRECTORY, { recursive: true, force: true });
}
process.stdout.write(`${passed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 && passed > 0 ? 0 : 1;
