import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { Operation } from '../../support/contract/operations.ts';
import { type Schema, Values } from './values.ts';

export interface Received {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: string;
}

const DOCUMENT_ID = 'openapi.json';

/** Compares responses with the document. */
export class Documented {
  private readonly ajv = new Ajv2020({ strict: false });
  private readonly compiled = new Map<string, ValidateFunction>();
  private readonly values: Values;

  constructor(document: Record<string, any>) {
    (formats as unknown as (ajv: Ajv2020) => void)(this.ajv);
    this.ajv.addSchema(document, DOCUMENT_ID);
    this.values = new Values(document, () => []);
  }

  /** @returns the difference, or `undefined` where the response is as documented */
  difference(
    { spec, path, method }: Operation & { spec: any },
    { status, headers, body }: Received,
  ): string | undefined {
    if (status === 500 && !isUpstream(spec, body)) return 'an internal error';
    const node = spec.responses[status];
    if (node === undefined) return `undocumented status, ${codeOf(body)}`;
    const content: Record<string, { schema?: Schema }> | undefined = this.values.resolve(node)['content'];
    if (status === 304 || body === '') return content && status < 300 ? 'no body' : undefined;
    if (content === undefined) return 'an undocumented body';
    const type = String(headers['content-type'] ?? '')
      .split(';')[0]!
      .trim();
    const documented = content[type] ?? content[type.replace(/\/.*/, '/*')] ?? content['*/*'];
    if (documented === undefined) return `undocumented content type ${type}`;
    if (!/^application\/(?:scim\+)?json$/.test(type) || !documented.schema) return undefined;
    return this.mismatch(`${method} ${path} ${status} ${type}`, documented.schema, body);
  }

  private mismatch(key: string, schema: Schema, body: string): string | undefined {
    let parsed: unknown;
    try {
      parsed = JSON.parse(body);
    } catch {
      return 'not JSON';
    }
    const validate = this.compiled.get(key) ?? this.ajv.compile(absolute(schema) as Schema);
    this.compiled.set(key, validate);
    if (validate(parsed)) return undefined;
    return validate
      .errors!.map(({ instancePath, message }) => `${instancePath.replaceAll(/\d+/g, 'n')} ${message}`)
      .join(', ');
  }
}

/** Rewrites the references of a part of the document, so that they resolve outside of it. */
function absolute(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(absolute);
  if (typeof node !== 'object' || node === null) return node;
  return Object.fromEntries(
    Object.entries(node).map(([key, value]) => [
      key,
      key === '$ref' && typeof value === 'string' ? `${DOCUMENT_ID}${value}` : absolute(value),
    ]),
  );
}

/** Errors of the mail service are forwarded with their status and text (contract). */
function isUpstream(spec: any, body: string): boolean {
  return spec.tags[0] === 'mail' && !body.includes('internal_error');
}

function codeOf(body: string): string {
  try {
    return String(JSON.parse(body).error);
  } catch {
    return body.slice(0, 60);
  }
}
