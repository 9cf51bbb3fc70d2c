import type { Element, ElementContent } from 'hast';
import { percentDecoded } from '../text/index.js';
import { attribute } from './css.js';
import { decodeImage, type DecodedImage } from './image.js';
import { Numberings } from './lists.js';
import { xmlAttribute } from './xml.js';

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
