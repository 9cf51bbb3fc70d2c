import fc from 'fast-check';
import { SaxesParser } from 'saxes';
import { xmlAttribute, xmlText as docxText } from '../../src/lib/docx/xml.js';
import { isPlainText } from '../../src/lib/forms/fields.js';
import { xmlText as xlsxText } from '../../src/lib/xlsx/index.js';
import { NOT_XML } from '../../src/lib/xml/index.js';

/** Text with many special characters. */
const text = fc.string({
  unit: fc.oneof(
    fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)),
    fc.integer({ min: 0, max: 0x9f }).map((code) => String.fromCharCode(code)),
    fc.constantFrom('&', '<', '>', '"', '_x000D_', '\ud800', '\udc00', '😀', '\ufffe', '\uffff'),
  ),
});

/** @throws unless the content is well-formed XML 1.0. @returns its text */
function parsed(content: string): string {
  const parser = new SaxesParser();
  let result = '';
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('text', (part) => (result += part));
  parser.write(`<t>${content}</t>`).close();
  return result;
}

describe('text in XML', () => {
  test('any text becomes well-formed content of documents and workbooks', () => {
    fc.assert(
      fc.property(text, (value) => {
        parsed(docxText(value));
        parsed(xlsxText(value));
        expect(() => parsed(`<a b="${xmlAttribute(value)}"/>`)).not.toThrow();
      }),
    );
  });

  test('the class of excluded characters is that of an XML parser', () => {
    const excluded = new RegExp(`[${NOT_XML}]`);
    const differing = Array.from({ length: 0x10000 }, (_, code) => String.fromCharCode(code)).filter(
      (char) => {
        if (/[\ud800-\udfff]/.test(char) || '<&'.includes(char)) return false;
        let accepted = true;
        try {
          parsed(char);
        } catch {
          accepted = false;
        }
        return accepted === excluded.test(char);
      },
    );
    expect(differing).toEqual([]);
  });

  test('a workbook returns accepted answers unchanged', () => {
    const decoded = (content: string) =>
      content.replace(/_x([\da-fA-F]{4})_/g, (_, hex: string) =>
        String.fromCharCode(Number.parseInt(hex, 16)),
      );
    fc.assert(
      fc.property(text, (value) => {
        fc.pre(isPlainText(value) && value.isWellFormed());
        expect(decoded(parsed(xlsxText(value)))).toBe(value);
      }),
    );
  });
});
