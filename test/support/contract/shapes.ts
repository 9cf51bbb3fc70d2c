import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { ApiResponse } from '../network/client.ts';
import { describedOperations, openApi } from './operations.ts';

// Checks run a few times each, so that their compilation takes longer: half as long without copies of shared schemas, and without
// optimisation.
const ajv = new Ajv2020({ strict: false, allErrors: true, inlineRefs: false, code: { optimize: false } });
(formats as unknown as (ajv: Ajv2020) => void)(ajv);

const MAXIMA = new Set(['maximum', 'maxLength', 'maxItems']);

/**
 * The described schema with no member beyond those described: a column that leaks fails here.
 * @param isBounded false: without the limits of values
 */
function closed(node: any, isBounded: boolean): any {
  if (Array.isArray(node)) return node.map((each) => closed(each, isBounded));
  if (typeof node !== 'object' || node === null) return node;
  const kept = Object.entries(node).filter(
    ([name, value]) => isBounded || !MAXIMA.has(name) || typeof value !== 'number',
  );
  const copy = Object.fromEntries(kept.map(([name, value]) => [name, closed(value, isBounded)]));
  const open = copy['additionalProperties'] ?? copy['unevaluatedProperties'];
  if (copy['properties'] && open === undefined) copy['additionalProperties'] = false;
  return copy;
}

for (const isBounded of [true, false])
  ajv.addSchema({
    $id: isBounded ? 'api' : 'api-unbounded',
    components: { schemas: closed(openApi().components.schemas, isBounded) },
  });
const compiled = new Map<string, ValidateFunction>();

/**
 * Checks the body of a response. Responses share the schemas that they refer to, so that each is compiled once.
 * @param isBounded false: without the limits of values
 */
export function checkOf(subject: string, schema: object, isBounded = true): ValidateFunction {
  const api = isBounded ? 'api' : 'api-unbounded';
  const key = `${api} ${subject}`;
  const known = compiled.get(key);
  if (known) return known;
  const text = JSON.stringify(closed(schema, isBounded)).replaceAll('"$ref":"#/', `"$ref":"${api}#/`);
  const check = ajv.compile(JSON.parse(text));
  compiled.set(key, check);
  return check;
}

/** The headers that clients use. */
const HEADERS = [
  'accept-ranges',
  'content-disposition',
  'content-range',
  'etag',
  'location',
  'retry-after',
  'www-authenticate',
];

/** Fails unless status, media type and headers of the response are described. @returns the schema of its body */
export function isDescribed(operationId: string, { status, headers }: ApiResponse): any {
  const operation = describedOperations().find(({ spec }) => spec.operationId === operationId);
  const response = operation?.spec.responses[status];
  expect([operationId, status, response]).toEqual([operationId, status, expect.anything()]);
  const described = new Set(Object.keys(response.headers ?? {}).map((name) => name.toLowerCase()));
  const sent = HEADERS.filter((name) => headers.has(name));
  expect([operationId, status, sent.filter((name) => !described.has(name))]).toEqual([
    operationId,
    status,
    [],
  ]);
  const [type] = headers.get('content-type')?.split(';') ?? [];
  if (type === undefined) return undefined;
  // One status can describe JSON and a file.
  if (!type.endsWith('json') && described.has('content-disposition'))
    expect([operationId, status, sent]).toEqual([
      operationId,
      status,
      expect.arrayContaining(['content-disposition']),
    ]);
  const content = response.content?.[type] ?? response.content?.[type.replace(/\/.*/, '/*')];
  expect([operationId, type, content]).toEqual([operationId, type, expect.anything()]);
  return content.schema;
}

/** Fails unless the response has exactly the described shape and no undescribed header. */
export function fits(operationId: string, response: ApiResponse): void {
  const { status, body } = response;
  const schema = isDescribed(operationId, response);
  const check = checkOf(`${operationId} ${status}`, schema);
  expect([operationId, check(body) ? null : check.errors]).toEqual([operationId, null]);
}

/** The example bodies of an operation. */
export const offered = (operationId: string): object[] =>
  Object.values<any>(
    describedOperations().find(({ spec }) => spec.operationId === operationId)?.spec.requestBody.content[
      'application/json'
    ].examples,
  ).map(({ value }) => value);
