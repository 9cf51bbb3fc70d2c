import { parse } from 'content-disposition';
import fc from 'fast-check';
import { asciiFileName, fileReply, safeFileName } from '../../../src/platform/http/replies/file-reply.js';
import { runs } from '../../support/property-runs.ts';

const name = (title: string): string => safeFileName(title, '.docx', 'note');
const header = (title: string): string => {
  const options = { contentType: 'x/y', title, extension: '.docx', otherwise: 'note' };
  return fileReply(null, options).options.headers!['Content-Disposition']!;
};

describe('a safe file name', () => {
  it.each([
    ['Plan', 'Plan.docx'],
    ['  Q1 \t report\n', 'Q1 report.docx'],
    ['', 'note.docx'],
    [' . .. ', 'note.docx'],
    ['///', 'note.docx'],
    ['../../etc/passwd', '_.._etc_passwd.docx'],
    ['C:\\Windows\\x', 'C_Windows_x.docx'],
    ['.htaccess', 'htaccess.docx'],
    ['a<b>:"c"|?*', 'a_b_c_.docx'],
    ['con', '_con.docx'],
    ['NUL.txt', '_NUL.txt.docx'],
    ['com1', '_com1.docx'],
    ['console', 'console.docx'],
    ['gpj.exe\u202Excod', 'gpj.exexcod.docx'],
    ['a\u200B\uFEFF\u2066b\u2069\0\u0007\u001B\u0085c', 'abc.docx'],
    ['\uD800x', 'x.docx'],
    ['\u3164', 'note.docx'],
    ['_\u2800.', 'note.docx'],
    ['e\u0301', 'é.docx'],
    ['می\u200Cخواهم', 'می\u200Cخواهم.docx'],
    ['中文 笔记', '中文 笔记.docx'],
    ['👩‍💻 work', '👩‍💻 work.docx'],
  ])('%j is %j', (title, expected) => {
    expect(name(title)).toBe(expected);
  });

  it.each([
    ['Report.docx', 'filename=Report.docx'],
    ['Report.DOCX ', 'filename=Report.docx'],
    ['Report.docx.docx', 'filename=Report.docx.docx'],
    ['.docx', 'filename=note.docx'],
    ['docx', 'filename=docx.docx'],
  ])('of the title %j has its extension once: %s', (title, expected) => {
    expect(header(title)).toBe(`attachment; ${expected}`);
  });

  it('is short enough, and cut between characters', () => {
    expect(name('x'.repeat(500))).toBe(`${'x'.repeat(120)}.docx`);
    expect(name('字'.repeat(500))).toBe(`${'字'.repeat(65)}.docx`);
    expect(name('👩‍💻'.repeat(100))).toMatch(/^(?:👩‍💻)+\.docx$/u);
    expect(Buffer.byteLength(name('👩‍💻'.repeat(100)))).toBeLessThanOrEqual(200);
    expect(name(`${'x'.repeat(119)} y`)).toBe(`${'x'.repeat(119)}.docx`);
  });

  it('is harmless whatever the title (property)', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (title) => {
        const made = name(title);
        expect(made).toMatch(
          /^[^.\s/\\:*?"<>|\p{Cc}\p{Cs}\u202A-\u202E\u2066-\u2069][^/\\:*?"<>|\p{Cc}\p{Cs}\u202A-\u202E\u2066-\u2069]*\.docx$/u,
        );
        expect(Buffer.byteLength(made)).toBeLessThanOrEqual(200);
        expect(asciiFileName(made, 'note')).toMatch(/^[ -~]+\.docx$/);
      }),
      { numRuns: runs(2000) },
    );
  });
});

describe('the header', () => {
  it.each([
    ['Plan', 'attachment; filename=Plan.docx'],
    ['My plan', 'attachment; filename="My plan.docx"'],
    ['Über uns', 'attachment; filename="Uber uns.docx"; filename*=UTF-8\'\'%C3%9Cber%20uns.docx'],
    ['笔记', "attachment; filename=note.docx; filename*=UTF-8''%E7%AC%94%E8%AE%B0.docx"],
  ])('for %s', (title, expected) => {
    expect(header(title)).toBe(expected);
  });

  it('is one line of ASCII from which a reader gets the name (property)', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), (title) => {
        expect(header(title)).toMatch(/^attachment; filename=[ -~]+$/);
        const { type, parameters } = parse(header(title));
        expect([type, parameters['filename']]).toEqual(['attachment', name(title)]);
      }),
      { numRuns: runs(1000) },
    );
  });
});
