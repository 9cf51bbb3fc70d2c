import { strToU8, type Zippable, zipSync } from 'fflate';
import type { Element, ElementContent, Root } from 'hast';
import { toHtml } from 'hast-util-to-html';
import { cleanHtml, parseHtml, showVisible } from '../html/index.js';
import { BodyWriter } from './body.js';
import { attribute } from './css.js';
import { Paragraph } from './paragraph.js';
import { DocxParts, linkTarget, STYLES_XML } from './parts.js';
import { withoutControls, wVal, xmlAttribute, xmlText } from './xml.js';

/** The source of a document. */
export interface DocxSource {
  html: string;
  title: string;
  author: string;
  /** RFC 3339. */
  created: string;
  /** RFC 3339. */
  modified: string;
}

const DECLARATION = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';
const DRAWING = 'http://schemas.openxmlformats.org/drawingml/2006';
const WORD_TYPE = 'application/vnd.openxmlformats-officedocument.wordprocessingml';
const W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"';

/** A4 with margins of an inch, twips. */
const PAGE = { width: 11_906, height: 16_838, margin: 1_440 };
/** All entries have the first date that ZIP can express, so that equal notes give equal bytes. ZIP stores local time. */
const zipEpoch = (): Date => new Date(1980, 0, 1);
/** Maximum length of the main part, characters. Word processors fail on larger ones. */
const MAX_XML = 64 * 1024 * 1024;

/** The document exceeds the maximum size. */
export class DocxTooLargeError extends Error {
  constructor() {
    super('the document is too large');
    this.name = 'DocxTooLargeError';
  }
}

/**
 * Writes a Word document. Equal sources give equal bytes. It reads nothing except the source.
 *
 * @throws HtmlTooComplexError for HTML beyond the limits of the HTML policy
 * @throws DocxTooLargeError
 */
export function writeDocx(source: DocxSource): Uint8Array {
  const { root } = parseHtml(source.html);
  showVisible(root);
  const parts = new DocxParts();
  const body = new BodyWriter(parts, PAGE.width - 2 * PAGE.margin).write(root.children as ElementContent[]);
  if (body.length > MAX_XML) throw new DocxTooLargeError();
  const text = (xml: string): Uint8Array => strToU8(DECLARATION + xml);
  const files: Zippable = {
    '[Content_Types].xml': text(contentTypes()),
    '_rels/.rels': text(packageRelationships()),
    'docProps/core.xml': text(coreProperties(source)),
    'docProps/app.xml': text(
      `<Properties xmlns="${OFFICE}/extended-properties"><Application>Workspace</Application></Properties>`,
    ),
    'word/document.xml': text(documentXml(titleXml(source.title, root) + body)),
    'word/styles.xml': text(`<w:styles ${W}>${STYLES_XML}</w:styles>`),
    'word/settings.xml': text(settings()),
    'word/numbering.xml': text(`<w:numbering ${W}>${parts.numberings.toXml()}</w:numbering>`),
    'word/_rels/document.xml.rels': text(documentRelationships(parts)),
  };
  // Images are compressed already.
  for (const [path, bytes] of parts.files()) files[`word/${path}`] = [bytes, { level: 0 }];
  return zipSync(files, { mtime: zipEpoch(), level: 6 });
}

/** The title precedes the text, unless the text begins with it. */
function titleXml(title: string, root: Root): string {
  const text = title.trim();
  const first = root.children.find((child) => child.type !== 'text' || child.value.trim() !== '');
  if (text === '' || (first?.type === 'element' && first.tagName === 'h1' && textOf(first).trim() === text))
    return '';
  const paragraph = new Paragraph({ style: 'Title', indent: 0, ownIndent: 0 });
  paragraph.text(text, {});
  return paragraph.toXml();
}

function textOf(node: Root | Root['children'][number]): string {
  if (node.type === 'text') return node.value;
  return 'children' in node ? node.children.map(textOf).join('') : '';
}

function documentXml(body: string): string {
  const { width, height, margin } = PAGE;
  const section =
    `<w:sectPr><w:pgSz w:w="${width}" w:h="${height}"/>` +
    `<w:pgMar w:top="${margin}" w:right="${margin}" w:bottom="${margin}" w:left="${margin}" w:header="708" w:footer="708" w:gutter="0"/></w:sectPr>`;
  // The last element of a document is a paragraph.
  const content = body.endsWith('</w:p>') ? body : `${body}<w:p/>`;
  return (
    `<w:document ${W} xmlns:r="${OFFICE}/relationships" xmlns:wp="${DRAWING}/wordprocessingDrawing" xmlns:a="${DRAWING}/main" ` +
    `xmlns:pic="${DRAWING}/picture" xmlns:w14="http://schemas.microsoft.com/office/word/2010/wordml" ` +
    `xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" mc:Ignorable="w14"><w:body>${content}${section}</w:body></w:document>`
  );
}

function settings(): string {
  const compatibility = `<w:compat><w:compatSetting w:name="compatibilityMode" w:uri="http://schemas.microsoft.com/office/word" w:val="15"/></w:compat>`;
  return `<w:settings ${W}>${wVal('defaultTabStop', 425)}${compatibility}</w:settings>`;
}

function coreProperties({ title, author, created, modified }: DocxSource): string {
  const date = (name: string, value: string): string =>
    `<dcterms:${name} xsi:type="dcterms:W3CDTF">${xmlText(value.replace(/\.\d+(?=Z$)/, ''))}</dcterms:${name}>`;
  return (
    `<cp:coreProperties xmlns:cp="${PACKAGE}/metadata/core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/" ` +
    'xmlns:dcterms="http://purl.org/dc/terms/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">' +
    `<dc:title>${xmlText(title)}</dc:title><dc:creator>${xmlText(author)}</dc:creator><cp:lastModifiedBy>${xmlText(author)}</cp:lastModifiedBy>` +
    `${date('created', created)}${date('modified', modified)}</cp:coreProperties>`
  );
}

function contentTypes(): string {
  const defaults = Object.entries({
    rels: 'application/vnd.openxmlformats-package.relationships+xml',
    xml: 'application/xml',
    png: 'image/png',
    jpeg: 'image/jpeg',
    gif: 'image/gif',
  }).map(([extension, type]) => `<Default Extension="${extension}" ContentType="${type}"/>`);
  const overrides = Object.entries({
    '/word/document.xml': `${WORD_TYPE}.document.main+xml`,
    '/word/styles.xml': `${WORD_TYPE}.styles+xml`,
    '/word/settings.xml': `${WORD_TYPE}.settings+xml`,
    '/word/numbering.xml': `${WORD_TYPE}.numbering+xml`,
    '/docProps/core.xml': 'application/vnd.openxmlformats-package.core-properties+xml',
    '/docProps/app.xml': 'application/vnd.openxmlformats-officedocument.extended-properties+xml',
  }).map(([part, type]) => `<Override PartName="${part}" ContentType="${type}"/>`);
  return `<Types xmlns="${PACKAGE}/content-types">${defaults.join('')}${overrides.join('')}</Types>`;
}

function relationships(entries: [id: string, type: string, target: string][], more = ''): string {
  const own = entries.map(
    ([id, type, target]) => `<Relationship Id="${id}" Type="${type}" Target="${target}"/>`,
  );
  return `<Relationships xmlns="${PACKAGE}/relationships">${own.join('')}${more}</Relationships>`;
}

const packageRelationships = (): string =>
  relationships([
    ['document', `${OFFICE}/relationships/officeDocument`, 'word/document.xml'],
    ['core', `${PACKAGE}/relationships/metadata/core-properties`, 'docProps/core.xml'],
    ['app', `${OFFICE}/relationships/extended-properties`, 'docProps/app.xml'],
  ]);

const documentRelationships = (parts: DocxParts): string =>
  relationships(
    [
      ['styles', `${OFFICE}/relationships/styles`, 'styles.xml'],
      ['settings', `${OFFICE}/relationships/settings`, 'settings.xml'],
      ['numbering', `${OFFICE}/relationships/numbering`, 'numbering.xml'],
    ],
    parts.relationshipsXml(),
  );

const REFERENCES = ['src', 'href', 'cite'];

/**
 * Returns the note as an HTML page without external references, for programs that load references from the network and from
 * files. Links remain: converters do not load them.
 */
export function closedPage({ html, title, author }: DocxSource): string {
  // Stored notes were cleaned by the rules at that time, which may have changed since.
  const { root } = parseHtml(cleanHtml(html));
  removeReferences(root);
  const heading = title.trim() === '' ? '' : `<h1>${xmlText(title)}</h1>`;
  return (
    `<!doctype html><html><head><meta charset="utf-8"><title>${xmlText(title)}</title>` +
    `<meta name="author" content="${xmlAttribute(author)}"></head><body>${heading}${withoutControls(toHtml(root))}</body></html>`
  );
}

function removeReferences(parent: Root | Element): void {
  parent.children = parent.children.map((child) => {
    if (child.type !== 'element') return child;
    const source = attribute(child, 'src');
    if (child.tagName === 'img' && !(source && /^\s*data:image\//i.test(source)))
      return { type: 'text', value: attribute(child, 'alt') ?? '' };
    const link = child.tagName === 'a' ? linkTarget(attribute(child, 'href') ?? '') : undefined;
    for (const name of REFERENCES) if (child.tagName !== 'img') delete child.properties[name];
    if (link !== undefined) child.properties['href'] = link;
    removeReferences(child);
    return child;
  });
}
