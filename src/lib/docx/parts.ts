import type { Element, ElementContent } from 'hast';
import { percentDecoded } from '../text/index.js';
import { attribute } from './css.js';
import { type DecodedImage, decodeImage } from './image.js';
import { Numberings } from './lists.js';
import { wVal, xmlAttribute } from './xml.js';

/** A paragraph or character style. The properties are in the order of the schema. */
interface StyleSpec {
  id: string;
  name: string;
  type?: 'paragraph' | 'character';
  basedOn?: string;
  next?: string;
  paragraph?: string;
  run?: string;
}

const runStyle = (bold: string, halfPoints?: number, color?: string): string =>
  bold +
  (color ? wVal('color', color) : '') +
  (halfPoints ? wVal('sz', halfPoints) + wVal('szCs', halfPoints) : '');
const BOLD = '<w:b/><w:bCs/>';
const DARK = '1F3864';
const HEADING_SIZES = [36, 30, 26, 24, 22, 22];
const BORDER = 'w:val="single" w:sz="4" w:space="0" w:color="A6A6A6"';

const spacing = (before: number, after: number): string =>
  `<w:spacing w:before="${before}" w:after="${after}"/>`;

/** Word's own names for its built-in styles, so that navigation, table of contents and themes work. */
const STYLES: StyleSpec[] = [
  {
    id: 'Title',
    name: 'Title',
    next: 'Normal',
    paragraph: '<w:keepNext/>' + spacing(0, 240),
    run: runStyle(BOLD, 48, DARK),
  },
  ...HEADING_SIZES.map((size, i) => ({
    id: `Heading${i + 1}`,
    name: `heading ${i + 1}`,
    next: 'Normal',
    paragraph: `<w:keepNext/><w:keepLines/>${spacing(i === 0 ? 360 : 240, 80)}${wVal('outlineLvl', i)}`,
    run: runStyle(BOLD + (i === 5 ? '<w:i/><w:iCs/>' : ''), size, DARK),
  })),
  { id: 'ListParagraph', name: 'List Paragraph', paragraph: spacing(0, 60) },
  {
    id: 'Quote',
    name: 'Quote',
    paragraph:
      '<w:pBdr><w:left w:val="single" w:sz="18" w:space="10" w:color="BFBFBF"/></w:pBdr><w:ind w:left="360"/>',
    run: '<w:color w:val="404040"/>',
  },
  {
    id: 'Code',
    name: 'Code',
    paragraph:
      `<w:pBdr>${['top', 'left', 'bottom', 'right'].map((side) => `<w:${side} w:val="single" w:sz="4" w:space="4" w:color="D9D9D9"/>`).join('')}</w:pBdr>` +
      `<w:shd w:val="clear" w:color="auto" w:fill="F6F6F6"/>${spacing(80, 160)}`,
    run: '<w:rFonts w:ascii="Consolas" w:hAnsi="Consolas" w:cs="Courier New"/><w:noProof/><w:sz w:val="20"/><w:szCs w:val="20"/>',
  },
  {
    id: 'Caption',
    name: 'caption',
    paragraph: spacing(0, 120),
    run: '<w:i/><w:iCs/><w:color w:val="404040"/><w:sz w:val="18"/><w:szCs w:val="18"/>',
  },
  {
    id: 'HorizontalRule',
    name: 'Horizontal Rule',
    paragraph: '<w:pBdr><w:bottom w:val="single" w:sz="6" w:space="1" w:color="A6A6A6"/></w:pBdr>',
  },
  {
    id: 'Hyperlink',
    name: 'Hyperlink',
    type: 'character',
    run: '<w:color w:val="0563C1"/><w:u w:val="single"/>',
  },
  {
    id: 'CodeText',
    name: 'Code Text',
    type: 'character',
    run: '<w:rFonts w:ascii="Consolas" w:hAnsi="Consolas" w:cs="Courier New"/><w:noProof/><w:shd w:val="clear" w:color="auto" w:fill="F2F2F2"/>',
  },
];

function styleXml({ id, name, type = 'paragraph', next, paragraph, run }: StyleSpec): string {
  return (
    `<w:style w:type="${type}" w:styleId="${id}">${wVal('name', name)}` +
    wVal('basedOn', type === 'paragraph' ? 'Normal' : 'DefaultParagraphFont') +
    (next ? wVal('next', next) : '') +
    '<w:qFormat/>' +
    (paragraph ? `<w:pPr>${paragraph}</w:pPr>` : '') +
    (run ? `<w:rPr>${run}</w:rPr>` : '') +
    '</w:style>'
  );
}

const DEFAULTS =
  '<w:docDefaults><w:rPrDefault><w:rPr><w:rFonts w:ascii="Calibri" w:hAnsi="Calibri" w:eastAsia="Microsoft YaHei" w:cs="Arial"/>' +
  '<w:sz w:val="22"/><w:szCs w:val="22"/><w:lang w:val="en-US" w:eastAsia="zh-CN" w:bidi="ar-SA"/></w:rPr></w:rPrDefault>' +
  '<w:pPrDefault><w:pPr><w:spacing w:after="120" w:line="264" w:lineRule="auto"/></w:pPr></w:pPrDefault></w:docDefaults>';

const BASES =
  '<w:style w:type="paragraph" w:default="1" w:styleId="Normal"><w:name w:val="Normal"/><w:qFormat/></w:style>' +
  '<w:style w:type="character" w:default="1" w:styleId="DefaultParagraphFont"><w:name w:val="Default Paragraph Font"/><w:uiPriority w:val="1"/><w:semiHidden/></w:style>' +
  '<w:style w:type="table" w:default="1" w:styleId="TableNormal"><w:name w:val="Normal Table"/><w:uiPriority w:val="99"/><w:semiHidden/>' +
  '<w:tblPr><w:tblInd w:w="0" w:type="dxa"/><w:tblCellMar><w:top w:w="0" w:type="dxa"/><w:left w:w="108" w:type="dxa"/><w:bottom w:w="0" w:type="dxa"/><w:right w:w="108" w:type="dxa"/></w:tblCellMar></w:tblPr></w:style>' +
  '<w:style w:type="table" w:styleId="TableGrid"><w:name w:val="Table Grid"/><w:basedOn w:val="TableNormal"/><w:pPr><w:spacing w:after="0" w:line="240" w:lineRule="auto"/></w:pPr>' +
  `<w:tblPr><w:tblBorders>${['top', 'left', 'bottom', 'right', 'insideH', 'insideV'].map((side) => `<w:${side} ${BORDER}/>`).join('')}</w:tblBorders></w:tblPr></w:style>`;

/** The content of `w:styles`. */
export const STYLES_XML: string = DEFAULTS + BASES + STYLES.map(styleXml).join('');

const RELATIONSHIPS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
/** Maximum length of an address. Word reports documents with longer ones as damaged. */
const MAX_ADDRESS = 2_000;
const LINK_PROTOCOLS = new Set(['http:', 'https:', 'mailto:', 'tel:']);
/** All other characters of an address are percent-encoded. */
const NOT_IN_URI = /[^\w!#$%&'()*+,\-./:;=?@[\]~]|%(?![0-9a-f]{2})/giu;

interface Picture {
  image: DecodedImage;
  relationship: string;
  path: string;
}

/** The parts that the text references: link targets, pictures, numberings. Equal ones are stored once. */
export class DocxParts {
  readonly numberings = new Numberings();
  private readonly links = new Map<string, string>();
  private readonly pictures = new Map<string, Picture | null>();
  private lastId = 0;

  /** @returns a number that is unique in the document */
  nextId(): number {
    return ++this.lastId;
  }

  /** The relationship id of a link; undefined for an address that is not allowed in a document. */
  link(href: string | undefined): string | undefined {
    const target = href === undefined ? undefined : linkTarget(href);
    if (target === undefined) return undefined;
    let id = this.links.get(target);
    if (id === undefined) {
      id = `link${this.links.size + 1}`;
      this.links.set(target, id);
    }
    return id;
  }

  /** The picture of a `data:` URL; null for other addresses, which are not loaded. */
  picture(source: string): Picture | null {
    let picture = this.pictures.get(source);
    if (picture === undefined) {
      const image = decodeImage(source);
      const n = this.pictures.size + 1;
      picture = image ? { image, relationship: `image${n}`, path: `media/image${n}.${image.format}` } : null;
      this.pictures.set(source, picture);
    }
    return picture;
  }

  /** The files of the pictures by their path below `word/`. */
  files(): [path: string, bytes: Uint8Array][] {
    return [...this.pictures.values()].flatMap((each) =>
      each ? [[each.path, each.image.bytes] as [string, Uint8Array]] : [],
    );
  }

  /** The entries of `word/_rels/document.xml.rels` for links and pictures. */
  relationshipsXml(): string {
    const links = [...this.links].map(
      ([target, id]) =>
        `<Relationship Id="${id}" Type="${RELATIONSHIPS}/hyperlink" Target="${xmlAttribute(target)}" TargetMode="External"/>`,
    );
    const pictures = [...this.pictures.values()].map((each) =>
      each
        ? `<Relationship Id="${each.relationship}" Type="${RELATIONSHIPS}/image" Target="${each.path}"/>`
        : '',
    );
    return [...links, ...pictures].join('');
  }
}

/** Normalises an address for a document: absolute, with an allowed scheme, in ASCII; undefined for others. */
export function linkTarget(href: string): string | undefined {
  if (!URL.canParse(href)) return undefined;
  const url = new URL(href);
  if (!LINK_PROTOCOLS.has(url.protocol)) return undefined;
  const target = url.href.replace(NOT_IN_URI, (mark) => encodeURIComponent(mark.toWellFormed()));
  return target.length > MAX_ADDRESS ? undefined : target;
}

/** Bookmarks of one document: Word becomes slow with more. */
const MAX_BOOKMARKS = 1_000;

/** The elements of a text that its own links name, such as the headings of a table of contents. */
export class Bookmarks {
  /** Names of bookmarks by id. Word allows ASCII letters, digits and `_`. */
  private readonly names = new Map<string, string>();
  private readonly written = new Set<string>();

  collect(nodes: readonly ElementContent[]): void {
    const [ids, fragments] = [new Set<string>(), new Set<string>()];
    visit(nodes, (element) => {
      for (const id of idsOf(element)) ids.add(id);
      const fragment = fragmentOf(attribute(element, 'href'));
      if (fragment !== undefined) fragments.add(fragment);
    });
    for (const id of fragments)
      if (ids.has(id) && this.names.size < MAX_BOOKMARKS) this.names.set(id, `target${this.names.size + 1}`);
  }

  /** The bookmarks of an element. The first element with an id has it. */
  of(element: Element): string[] {
    if (this.names.size === 0) return [];
    return idsOf(element).flatMap((id) => {
      const name = this.names.get(id);
      if (name === undefined || this.written.has(id)) return [];
      this.written.add(id);
      return [name];
    });
  }

  /** `#` and the name of the bookmark that a link names; undefined for another link. */
  link(href: string | undefined): string | undefined {
    const name = this.names.get(fragmentOf(href) ?? '');
    return name === undefined ? undefined : `#${name}`;
  }
}

const idsOf = (element: Element): string[] =>
  (element.tagName === 'a' ? ['id', 'name'] : ['id']).flatMap((name) => attribute(element, name) ?? []);

function fragmentOf(href: string | undefined): string | undefined {
  return href?.startsWith('#') && href.length > 1 ? percentDecoded(href.slice(1)) : undefined;
}

function visit(nodes: readonly ElementContent[], see: (element: Element) => void): void {
  for (const node of nodes)
    if (node.type === 'element') {
      see(node);
      visit(node.children, see);
    }
}
