import { type SaxesAttributeNS, SaxesParser } from 'saxes';
import { Turns } from '../turns/index.js';

/** An element with the expanded names of XML namespaces. It is frozen: requests may share it. */
export interface XmlElement {
  /** The namespace; empty without one. */
  readonly space: string;
  /** The local name. */
  readonly name: string;
  /** Values of attributes without a namespace, by name. */
  readonly attributes: Readonly<Record<string, string>>;
  /** Attributes with a namespace. */
  readonly qualified: readonly XmlAttribute[];
  readonly children: readonly XmlElement[];
  /** The character data of the element itself, without that of its children. */
  readonly text: string;
  /** Character data and children in the order of the document. */
  readonly content: readonly (string | XmlElement)[];
}

/** An element whose end tag was not read yet. */
interface OpenElement extends Omit<XmlElement, 'children' | 'text' | 'content'> {
  children: XmlElement[];
  text: string;
  content: (string | XmlElement)[];
}

function freeze(element: OpenElement): void {
  for (const part of [element.attributes, element.qualified, element.children, element.content, element])
    Object.freeze(part);
}

export interface XmlAttribute {
  space: string;
  name: string;
  value: string;
}

const DECLARATION = 'http://www.w3.org/2000/xmlns/';

export type XmlErrorCode = 'malformed' | 'doctype' | 'too_deep' | 'too_many_nodes';

/** The text is no XML, or is beyond a limit. */
export class XmlError extends Error {
  constructor(
    readonly code: XmlErrorCode,
    message: string,
  ) {
    super(message);
  }
}

export interface XmlLimits {
  /** Levels of elements. */
  depth: number;
  /** Elements and attributes. */
  nodes: number;
}

type Attributes = Pick<XmlElement, 'attributes' | 'qualified'>;

/** Most elements of a request. */
const WITHOUT_ATTRIBUTES: Attributes = { attributes: {}, qualified: [] };

function attributesOf(given: readonly SaxesAttributeNS[]): Attributes {
  const plain = given.filter(({ uri }) => uri === '');
  return {
    attributes: Object.fromEntries(plain.map(({ local, value }) => [local, value])),
    qualified: given
      .filter(({ uri }) => uri !== '' && uri !== DECLARATION)
      .map(({ uri, local, value }) => ({ space: uri, name: local, value })),
  };
}

/** Characters that are read without a pause for other work. */
const PIECE = 16 * 1024;

/**
 * Reads a document into elements. A document type, and with it every entity that a document could declare, is an error. The length of
 * the text is the caller's limit.
 * @throws XmlError
 */
export async function readXml(text: string, { depth, nodes }: XmlLimits): Promise<XmlElement> {
  const parser = new SaxesParser({ xmlns: true });
  const open: OpenElement[] = [];
  let root: XmlElement | undefined;
  let count = 0;
  parser.on('doctype', () => {
    throw new XmlError('doctype', 'The document has a document type.');
  });
  parser.on('opentag', ({ uri, local, attributes }) => {
    const own = Object.values(attributes);
    count += 1 + own.length;
    if (count > nodes)
      throw new XmlError('too_many_nodes', `The document has more than ${nodes} elements and attributes.`);
    if (open.length >= depth) throw new XmlError('too_deep', `The document has more than ${depth} levels.`);
    const { attributes: plain, qualified } = own.length === 0 ? WITHOUT_ATTRIBUTES : attributesOf(own);
    const element: OpenElement = {
      space: uri,
      name: local,
      attributes: plain,
      qualified,
      children: [],
      text: '',
      content: [],
    };
    if (open.length === 0) root = element;
    else {
      open.at(-1)?.children.push(element);
      open.at(-1)?.content.push(element);
    }
    open.push(element);
  });
  const append = (part: string): void => {
    const current = open.at(-1);
    if (!current) return;
    current.text += part;
    current.content.push(part);
  };
  parser.on('text', append);
  parser.on('cdata', append);
  parser.on('closetag', () => {
    const closed = open.pop();
    if (closed) freeze(closed);
  });
  try {
    const turns = new Turns();
    for (let at = 0; at < text.length; at += PIECE) {
      parser.write(text.slice(at, at + PIECE));
      await turns.pause();
    }
    parser.close();
  } catch (error) {
    if (error instanceof XmlError) throw error;
    throw new XmlError('malformed', 'The body is no well-formed XML.');
  }
  if (!root) throw new XmlError('malformed', 'The document has no element.');
  return root;
}
