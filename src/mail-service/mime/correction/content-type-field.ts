import { removeComments } from '../address-list.js';

/** A Content-Type field of a head. */
export interface ContentTypeField {
  /** Position among the fields of the head. */
  position: number;
  /** The field with its line end, repaired where the type is written with comments, spaces or quotes, or without a semicolon. */
  text: string;
  /** In lower case; null for a value that is no media type. */
  type: string | null;
  /** From the first semicolon, with the line end. */
  parameters: string;
  /** The boundary of a multipart. */
  boundary: string | undefined;
  /** The boundary is written in the form of RFC 2231, which only the parser reads. */
  isBoundaryEncoded: boolean;
}

const FIELD = /^content-type[ \t]*:([^;]*)/i;
const TOKEN = "[\\w!#$%&'*+.^`|~{}-]+";
const TYPE = new RegExp(`^(${TOKEN})\\s*/\\s*(${TOKEN})(?:[\\s,]+(\\S.*))?$`, 's');
const PARAMETER = /^[\w*-]+\s*=/;
const BOUNDARY = /;\s*boundary\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;"\r\n]*[^;"\s]))/i;
const ENCODED_BOUNDARY = /;\s*boundary\*/i;
const CHARSET = /;\s*charset\s*=\s*("[^"]*"|[^\s;"]+)/i;
const FILE =
  /^content-disposition[ \t]*:\s*attachment\b|^content-(?:disposition|type)[ \t]*:.*?;\s*(?:file)?name\*?\d*\*?\s*=/is;

/** @returns undefined for another field. @param text with its folded lines and line end */
export function contentTypeField(text: string, position: number): ContentTypeField | undefined {
  const match = FIELD.exec(text);
  if (!match) return undefined;
  const written = match[1] ?? '';
  const hasParameters = match[0].length < text.length;
  const lineEnd = /\r?\n$/.exec(text)?.[0] ?? '';
  const value = removeComments(written)
    .trim()
    .replace(/^"([^"]*)"$/, '$1');
  const [, kind, subtype, more = ''] = TYPE.exec(value) ?? [];
  const type = kind === undefined ? null : `${kind}/${subtype}`.toLowerCase();
  const lost = PARAMETER.test(more) ? `; ${more}` : '';
  const parameters = lost + (hasParameters ? text.slice(match[0].length) : lineEnd);
  const isExact = type === null || written.trim().toLowerCase() === type;
  const [, quoted, plain] = type?.startsWith('multipart/') ? (BOUNDARY.exec(parameters) ?? []) : [];
  return {
    position,
    text: isExact ? text : `Content-Type: ${type}${parameters}`,
    type,
    parameters,
    boundary: (quoted?.replace(/\\(.)/g, '$1') ?? plain) || undefined,
    isBoundaryEncoded: ENCODED_BOUNDARY.test(parameters),
  };
}

/** The field with another boundary. */
export function withBoundary({ type, parameters }: ContentTypeField, boundary: string): string {
  const quoted = boundary.replace(/["\\]/g, String.raw`\$&`);
  return `Content-Type: ${type}; boundary="${quoted}"${parameters.replace(BOUNDARY, '')}`;
}

/** The field of a text in the same character set. */
export function asPlainText({ parameters }: ContentTypeField): string {
  const charset = CHARSET.exec(parameters)?.[1];
  return `Content-Type: text/plain${charset === undefined ? '' : `; charset=${charset}`}\r\n`;
}

const BASE64 = /^content-transfer-encoding[ \t]*:\s*base64\b/i;

/** True for a head of a file: it is an attachment, has a name, or is of a part in base64, which may be of any type. */
export const isHeadOfFile = (fields: readonly string[], isPart: boolean): boolean =>
  fields.some((field) => FILE.test(field) || (isPart && BASE64.test(field)));
