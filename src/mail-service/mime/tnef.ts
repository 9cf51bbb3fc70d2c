import { TextDecoder } from 'node:util';

/** A file in a TNEF stream. */
export interface TnefFile {
  filename: string;
  /** '' if it is absent. */
  contentType: string;
  content: Buffer;
}

/** The content of a TNEF stream (MS-OXTNEF, `winmail.dat`), which Outlook sends in place of MIME parts. */
export interface Tnef {
  files: TnefFile[];
  /** The stream has a message or an object that is none of the files. */
  hasMore: boolean;
}

const SIGNATURE = 0x22_3e_9f_78;
const HEADER = 6;
/** Level, id and length before the data of an attribute, and the checksum after it. */
const ATTRIBUTE = 9;
const CHECKSUM = 2;
const MAX_FILES = 200;
/** Attributes, properties and values that are read, within milliseconds: some requests read them in the main thread. */
const MAX_STEPS = 20_000;
/** Bytes of a name that are read. */
const MAX_NAME = 1_000;

/** Attributes of attachments, of level 2, and the code page of texts. */
const RENDERING = 0x9002;
const TITLE = 0x8010;
const DATA = 0x800f;
const PROPERTIES = 0x9005;
const CODE_PAGE = 0x9007;

/** Properties of an attachment. */
const LONG_FILENAME = 0x3707;
const FILENAME = 0x3704;
const DISPLAY_NAME = 0x3001;
const MEDIA_TYPE = 0x370e;
const OBJECT_DATA = 0x3701;
const NAMES: ReadonlySet<number> = new Set([LONG_FILENAME, FILENAME, DISPLAY_NAME, MEDIA_TYPE]);

/** Types of properties. */
const STRING8 = 0x1e;
const UNICODE = 0x1f;
const BINARY = 0x102;
const OBJECT = 0x0d;
const MULTIPLE = 0x1000;
/** Sizes of the other types, in bytes with their padding. */
const SIZES: Readonly<Record<number, number>> = {
  2: 4,
  3: 4,
  4: 4,
  5: 8,
  6: 8,
  7: 8,
  10: 4,
  11: 4,
  20: 8,
  64: 8,
  72: 16,
};

interface Reading {
  /** Of texts that are not in Unicode. */
  codePage: number;
  /** The attachment whose attributes are read. */
  file: Partial<TnefFile> | undefined;
  /** Steps. */
  left: number;
}

/** @returns undefined for bytes that are no TNEF; what follows a malformed attribute is ignored */
export function readTnef(bytes: Buffer): Tnef | undefined {
  if (bytes.length < HEADER || bytes.readUInt32LE(0) !== SIGNATURE) return undefined;
  const reading: Reading = { codePage: 1252, file: undefined, left: MAX_STEPS };
  const found: Tnef = { files: [], hasMore: false };
  const end = (): void => {
    const { file } = reading;
    reading.file = undefined;
    if (!file) return;
    if (file.content === undefined || found.files.length >= MAX_FILES) found.hasMore = true;
    else found.files.push({ filename: '', contentType: '', ...file, content: file.content });
  };
  for (let at = HEADER; at + ATTRIBUTE <= bytes.length; reading.left -= 1) {
    if (reading.left <= 0) {
      found.hasMore = true;
      break;
    }
    const id = bytes.readUInt16LE(at + 1);
    const start = at + ATTRIBUTE;
    const stop = start + bytes.readUInt32LE(at + 5);
    if (stop > bytes.length) break;
    const data = bytes.subarray(start, stop);
    if (id === CODE_PAGE && data.length >= 4) reading.codePage = data.readUInt32LE(0);
    if (bytes[at] === 2) {
      if (id === RENDERING) end();
      const file = (reading.file ??= {});
      if (id === TITLE) file.filename ||= textOf(data, reading.codePage);
      if (id === DATA) file.content = data;
      if (id === PROPERTIES) readProperties(data, file, reading);
    }
    at = stop + CHECKSUM;
  }
  end();
  return found;
}

/** Reads names, type and content from the properties of an attachment. */
function readProperties(data: Buffer, file: Partial<TnefFile>, reading: Reading): void {
  const names: Record<number, string> = {};
  for (const [id, type, value] of propertiesOf(data, reading)) {
    if (NAMES.has(id)) {
      const bytes = value.subarray(0, MAX_NAME);
      const text = type === UNICODE ? bytes.toString('utf16le').replace(/\0.*$/s, '') : '';
      names[id] = type === STRING8 ? textOf(bytes, reading.codePage) : text;
    }
    // An object is a message or a document within a document, which no other program reads.
    if (id === OBJECT_DATA && type === BINARY) file.content ??= value;
  }
  const name = names[LONG_FILENAME] || names[FILENAME] || names[DISPLAY_NAME] || '';
  if (name !== '') file.filename = name;
  if (names[MEDIA_TYPE]) file.contentType = names[MEDIA_TYPE];
}

/** The properties in their encoding: id, type, value. Ends at a malformed one. */
function* propertiesOf(
  data: Buffer,
  reading: Reading,
): Generator<readonly [id: number, type: number, value: Buffer]> {
  let at = 4;
  const integer = (): number => {
    const value = at + 4 <= data.length ? data.readUInt32LE(at) : Number.NaN;
    at += 4;
    return value;
  };
  const value = (): Buffer => {
    const size = integer();
    const start = at;
    at += Math.ceil(size / 4) * 4;
    return data.subarray(start, start + size);
  };
  const count = data.length < 4 ? 0 : data.readUInt32LE(0);
  for (let n = 0; n < count && at + 4 <= data.length; n += 1) {
    reading.left -= 1;
    const type = data.readUInt16LE(at);
    const id = data.readUInt16LE(at + 2);
    at += 4;
    // A named property has a GUID, and a number or a text.
    if (id >= 0x8000) {
      at += 16;
      if (integer() === 0) at += 4;
      else value();
    }
    const base = type & ~MULTIPLE;
    const isLong = [STRING8, UNICODE, BINARY, OBJECT].includes(base);
    const size = SIZES[base];
    if (!isLong && size === undefined) return;
    const values = isLong || (type & MULTIPLE) !== 0 ? integer() : 1;
    for (let each = 0; each < values && at <= data.length; each += 1, reading.left -= 1) {
      if (reading.left <= 0) return;
      if (isLong) yield [id, base, value()];
      else at += size as number;
    }
    if (!(at <= data.length) || reading.left <= 0) return;
  }
}

/** The text of bytes up to U+0000, in a code page of Windows. */
function textOf(bytes: Buffer, codePage: number): string {
  const start = bytes.subarray(0, MAX_NAME);
  const end = start.indexOf(0);
  const text = end < 0 ? start : start.subarray(0, end);
  return decoderOf(codePage).decode(text);
}

const CHARSETS: Readonly<Record<number, string>> = {
  866: 'ibm866',
  932: 'shift_jis',
  936: 'gbk',
  949: 'euc-kr',
  950: 'big5',
  65001: 'utf-8',
};

function decoderOf(codePage: number): TextDecoder {
  try {
    return new TextDecoder(CHARSETS[codePage] ?? `windows-${codePage}`);
  } catch {
    return new TextDecoder('windows-1252');
  }
}
