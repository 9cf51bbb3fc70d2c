import { unzipSync, strFromU8 } from 'fflate';
import { SaxesParser } from 'saxes';
import { type DocxSource, writeDocx } from '../../../src/lib/docx/writer.js';

export interface Xml {
  name: string;
  attributes: Record<string, string>;
  children: Xml[];
  text: string;
}

/** @throws for XML that is not well-formed */
function parseXml(text: string): Xml {
  const root: Xml = { name: '', attributes: {}, children: [], text: '' };
  const open = [root];
  const parser = new SaxesParser({ xmlns: true });
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('opentag', ({ name, attributes }) => {
    const node: Xml = {
      name,
      attributes: Object.fromEntries(Object.entries(attributes).map(([key, a]) => [key, a.value])),
      children: [],
      text: '',
    };
    open.at(-1)!.children.push(node);
    open.push(node);
  });
  parser.on('text', (part) => {
    open.at(-1)!.text += part;
  });
  parser.on('closetag', () => void open.pop());
  parser.write(text).close();
  return root.children[0]!;
}

export const child = (node: Xml, name: string): Xml | undefined =>
  node.children.find((each) => each.name === name);

/** All descendants with this name, in document order. */
export function all(node: Xml, name: string): Xml[] {
  return node.children.flatMap((each) => [...(each.name === name ? [each] : []), ...all(each, name)]);
}

/** The visible text: line breaks as `\n`, tabs as `\t`. */
export function textOf(node: Xml): string {
  if (node.name === 'w:t') return node.text;
  if (node.name === 'w:br') return '\n';
  if (node.name === 'w:tab') return '\t';
  return node.children.map(textOf).join('');
}

/** `w:val` of the first descendant with this name. */
export const val = (node: Xml, name: string): string | undefined => all(node, name)[0]?.attributes['w:val'];

export interface Docx {
  files: Record<string, Uint8Array>;
  part(path: string): Xml;
  body: Xml;
  /** Paragraphs outside tables, by style and text. */
  lines: [style: string | undefined, text: string][];
}

export function readDocx(bytes: Uint8Array): Docx {
  const files = unzipSync(bytes);
  const part = (path: string): Xml => parseXml(strFromU8(files[path]!));
  const body = child(part('word/document.xml'), 'w:body')!;
  return {
    files,
    part,
    body,
    lines: body.children
      .filter(({ name }) => name === 'w:p')
      .map((p) => [child(p, 'w:pPr') && val(child(p, 'w:pPr')!, 'w:pStyle'), textOf(p)]),
  };
}

export const source = (html: string, other: Partial<DocxSource> = {}): DocxSource => ({
  html,
  title: '',
  author: 'Alice Martin',
  created: '2026-11-21T09:30:00.123Z',
  modified: '2026-11-22T10:00:00.000Z',
  ...other,
});

export const convert = (html: string, other: Partial<DocxSource> = {}): Docx =>
  readDocx(writeDocx(source(html, other)));

/** The paragraph with this text, at any depth. */
export function paragraph(docx: Docx, text: string): Xml {
  const found = all(docx.body, 'w:p').filter((p) => textOf(p).trim() === text);
  if (found.length !== 1) throw new Error(`${found.length} paragraphs have the text ${JSON.stringify(text)}`);
  return found[0]!;
}

/** The run with exactly this text. */
export function run(docx: Docx, text: string): Xml {
  const found = all(docx.body, 'w:r').find((r) => textOf(r) === text);
  if (!found) throw new Error(`no run has the text ${JSON.stringify(text)}`);
  return found;
}

/** Names of a run's properties. */
export const properties = (node: Xml): string[] =>
  (child(node, 'w:rPr') ?? child(node, 'w:pPr'))?.children.map(({ name }) => name) ?? [];
