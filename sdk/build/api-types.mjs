// TypeScript types of openapi.json.
import openapiTS, { astToString } from 'openapi-typescript';
import { narrowErrors } from './narrow-errors.mjs';

/** Each path of the document begins with it; paths of the client do not. */
const PREFIX = '/apis/v1';
const WRITES = ['post', 'put', 'patch', 'delete'];

/** @returns a module with `paths`, `components`, `operations` and `ErrorCode`, the union of all error codes */
export async function apiTypes(openapi) {
  const { document, codes } = narrowErrors(openapi);
  // With `defaultNonNullable`, properties of a request that have a default would be required.
  const nodes = await openapiTS(
    { ...document, paths: relativePaths(document) },
    { defaultNonNullable: false },
  );
  return `${astToString(nodes)}\n/** The codes of all errors. */\nexport type ErrorCode = ${codes.map(literal).join(' | ')};\n`;
}

/** @returns a module with the writes that have the header `Idempotency-Key` */
export function keyedOperations(openapi) {
  const names = Object.entries(openapi.paths).flatMap(([path, item]) =>
    WRITES.filter((method) => isKeyed(openapi, item[method])).map(
      (method) => `${method.toUpperCase()} ${path.slice(PREFIX.length)}`,
    ),
  );
  return `/** Method and path of each write that takes an Idempotency-Key. */\nexport const KEYED_OPERATIONS: ReadonlySet<string> = new Set([\n${names.map((name) => `  ${literal(name)},\n`).join('')}]);\n`;
}

function relativePaths({ paths }) {
  return Object.fromEntries(
    Object.entries(paths).map(([path, item]) => {
      if (!path.startsWith(`${PREFIX}/`)) throw new Error(`${path} is not below ${PREFIX}`);
      return [path.slice(PREFIX.length), item];
    }),
  );
}

function isKeyed(openapi, operation) {
  return (operation?.parameters ?? []).some((parameter) => {
    const { name } = parameter.$ref ? openapi.components.parameters[lastPart(parameter.$ref)] : parameter;
    return name === 'Idempotency-Key';
  });
}

const lastPart = (reference) => reference.slice(reference.lastIndexOf('/') + 1);
const literal = (text) => `'${text}'`;
