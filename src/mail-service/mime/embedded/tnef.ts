import { TextDecoder } from 'node:util';
import type { AttachmentStream } from 'mailparser';
import type { EmbeddedFile } from './embedded-file.js';

// Transport Neutral Encapsulation Format (MS-OXTNEF), which Outlook and Exchange send as `winmail.dat` to receivers outside.

const SIGNATURE = 0x223e9f78;
/** Levels and ids of attributes (2.1.3.2). */
const MESSAGE = 1;
const [BODY, OEM_CODEPAGE, MESSAGE_PROPERTIES] = [0x2800c, 0x69007, 0x69003] as const;
const [RENDER_DATA, TITLE, DATA, FILE_PROPERTIES] = [0x69002, 0x18010, 0x6800f, 0x69005] as const;
/** Ids of properties (MS-OXPROPS). */
const [TEXT, HTML, LONG_NAME, NAME, MEDIA_TYPE] = [0x1000, 0x1013, 0x3707, 0x3704, 0x370e] as const;
const INTERNET_CODEPAGE = 0x3fde;
/** Types of properties with their bytes; 0: a length precedes each value. */
const SIZES: ReadonlyMap<number, number> = new Map([
  ...[0x02, 0x03, 0x04, 0x0a, 0x0b].map((type) => [type, 4] as const),
  ...[0x05, 0x06, 0x07, 0x14, 0x40].map((type) => [type, 8] as const),
  [0x48, 16],
  ...[0x0d, 0x1e, 0x1f, 0x102].map((type) => [type, 0] as const),
]);
const UNICODE = 0x1f;
const UTF16 = 1200;
/** Codepages that `TextDecoder` knows by other names than `windows-`. */
const CODEPAGES: ReadonlyMap<number, string> = new Map([
  [UTF16, 'utf-16le'],
  [65_001, 'utf-8'],
  [932, 'shift_jis'],
  [936, 'gbk'],
  [949, 'euc-kr'],
  [950, 'big5'],
  [866, 'ibm866'],
  [20_866, 'koi8-r'],
  [21_866, 'koi8-u'],
  ...[2, 3, 4, 5, 6, 7, 8, 13, 15].map((part) => [28_590 + part, `iso-8859-${part}`] as const),
  ...[50_220, 50_221, 50_222].map((page) => [page, 'iso-2022-jp'] as const),
  ...[20_932, 51_932].map((page) => [page, 'euc-jp'] as const),
  [51_936, 'gbk'],
  [51_949, 'euc-kr'],
  [54_936, 'gb18030'],
]);
const MULTIPLE = 0x1000;
const NAMED = 0x8000;
const MAX_FILES = 200;
/** Attributes of a stream, and properties of an attribute: each costs about 100 ns, and streams have some hundred. */
const MAX_PARTS = 20_000;

type Named = Pick<AttachmentStream, 'contentType' | 'filename'>;

/** The type of an attachment in lower case; the parser sets no string for a type that it cannot read. */
export const typeOf = ({ contentType }: Named): string =>
  typeof contentType === 'string' ? contentType.toLowerCase() : '';

/** Whether an attachment is a stream of TNEF. */
export const isTnef = (attachment: Named): boolean =>
  /^application\/(?:vnd\.)?ms-tnef$/.test(typeOf(attachment)) ||
  /^win\.?mail\.dat$/i.test(attachment.filename ?? '');

/** The readable content of a TNEF stream. */
export interface TnefContent {
  text: string | null;
  html: string | null;
  files: EmbeddedFile[];
}

type Properties = Map<number, { type: number; bytes: Buffer }>;

interface OpenFile {
  title: Buffer | null;
  data: Buffer | null;
  properties: Properties;
}

/** Reads a TNEF stream, without messages within it. One that ends early has what precedes its end; without its signature it has nothing. */
export function readTnef(bytes: Buffer): TnefContent {
  const files: OpenFile[] = [];
  let properties: Properties = new Map();
  let body: Buffer | null = null;
  let codepage = 1252;
  for (const { level, id, value } of attributesOf(bytes)) {
    const file = files.at(-1);
    if (level === MESSAGE) {
      if (id === BODY) body = value;
      if (id === OEM_CODEPAGE && value.length >= 4) codepage = value.readUInt32LE(0);
      if (id === MESSAGE_PROPERTIES) properties = propertiesOf(value);
    } else if (id === RENDER_DATA) {
      if (files.length === MAX_FILES) break;
      files.push({ title: null, data: null, properties: new Map() });
    } else if (file && id === TITLE) file.title = value;
    else if (file && id === DATA) file.data = value;
    else if (file && id === FILE_PROPERTIES) file.properties = propertiesOf(value);
  }
  const html = properties.get(HTML);
  const stated = properties.get(INTERNET_CODEPAGE)?.bytes;
  const ofHtml = stated?.length === 4 ? stated.readUInt32LE(0) : codepage;
  const textOf = (held: Properties, name: number): string | null => {
    const property = held.get(name);
    return property ? decode(property.bytes, property.type === UNICODE ? UTF16 : codepage) : null;
  };
  return {
    // Who wants the files only does not wait for the texts.
    get text() {
      return textOf(properties, TEXT) ?? (body && decode(body, codepage));
    },
    get html() {
      return html ? decode(html.bytes, html.type === UNICODE ? UTF16 : ofHtml) : null;
    },
    files: files.flatMap(({ title, data, properties: held }) => {
      const name = textOf(held, LONG_NAME) ?? (title && decode(title, codepage)) ?? textOf(held, NAME);
      return data ? [{ name: name ?? '', contentType: textOf(held, MEDIA_TYPE), read: () => [data] }] : [];
    }),
  };
}

function* attributesOf(bytes: Buffer): Generator<{ level: number; id: number; value: Buffer }> {
  if (bytes.length < 6 || bytes.readUInt32LE(0) !== SIGNATURE) return;
  for (let at = 6, n = 0; at + 9 <= bytes.length && n < MAX_PARTS; n += 1) {
    const [level, id, length] = [bytes.readUInt8(at), bytes.readUInt32LE(at + 1), bytes.readUInt32LE(at + 5)];
    yield { level, id, value: bytes.subarray(at + 9, at + 9 + length) };
    // A checksum of two bytes follows.
    at += 11 + length;
  }
}

/** The properties of an attribute (2.1.3.4), each with its first value. They end where they cannot be read. */
function propertiesOf(bytes: Buffer): Properties {
  const found: Properties = new Map();
  let at = 4;
  const number = (): number => ((at += 4) <= bytes.length ? bytes.readUInt32LE(at - 4) : Number.NaN);
  for (let n = 0; at + 4 <= bytes.length && n < MAX_PARTS; n += 1) {
    const [type, id] = [bytes.readUInt16LE(at) & ~MULTIPLE, bytes.readUInt16LE(at + 2)];
    const isMultiple = (bytes.readUInt16LE(at) & MULTIPLE) !== 0;
    at += 4;
    if (id >= NAMED) {
      at += 16;
      const isNumber = number() === 0;
      const length = isNumber ? 4 : number();
      at += upToFour(length);
    }
    const size = SIZES.get(type);
    const count = isMultiple || size === 0 ? number() : 1;
    if (size === undefined || !(count <= bytes.length)) return found;
    for (let value = 0; value < count; value += 1) {
      const length = size || number();
      if (!(at + length <= bytes.length)) return found;
      if (value === 0 && !found.has(id)) found.set(id, { type, bytes: bytes.subarray(at, at + length) });
      at += upToFour(length);
    }
    if (!(at <= bytes.length)) return found;
  }
  return found;
}

const upToFour = (length: number): number => Math.ceil(length / 4) * 4;

function decode(bytes: Buffer, codepage: number): string {
  const text = decoderFor(CODEPAGES.get(codepage) ?? `windows-${codepage}`).decode(bytes);
  const end = text.indexOf('\0');
  return end < 0 ? text : text.slice(0, end);
}

function decoderFor(label: string): TextDecoder {
  try {
    return new TextDecoder(label);
  } catch {
    return new TextDecoder('windows-1252');
  }
}
