import type { OpenAPIObject } from '@nestjs/swagger';
import type { FieldProblem } from '../../../platform/http/api-error.js';
import { shortenText } from '../../../lib/text/index.js';

/** JSON Schema with the types of the documentation library. */
type Schemas = NonNullable<NonNullable<OpenAPIObject['components']>['schemas']>;
export type SchemaObject = Exclude<Schemas[string], { $ref: string }>;

/** One preference: default, validation and schema. */
export interface Leaf {
  readonly leaf: true;
  readonly fallback: unknown;
  /** JSON Schema for the API description. */
  readonly schema: SchemaObject;
  /** Returns the error of a value, or undefined. */
  problem(value: unknown): string | undefined;
}

/** Preferences by name, possibly nested. */
export interface Spec {
  readonly [key: string]: Leaf | Spec;
}

export type Stored = Record<string, unknown>;

const isLeaf = (node: Leaf | Spec): node is Leaf => node.leaf === true;
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** One of these values; the first is the default. */
export function oneOf(...values: [string, ...string[]]): Leaf {
  return {
    leaf: true,
    fallback: values[0],
    schema: { type: 'string', enum: values, example: values[0] },
    problem: (value) =>
      values.includes(value as string) ? undefined : `must be one of ${values.join(', ')}`,
  };
}

export function flag(fallback: boolean): Leaf {
  return {
    leaf: true,
    fallback,
    schema: { type: 'boolean', example: fallback },
    problem: (value) => (typeof value === 'boolean' ? undefined : 'must be true or false'),
  };
}

/** Null by default. */
export function choice(schema: SchemaObject, problem: (value: unknown) => string | undefined): Leaf {
  return { leaf: true, fallback: null, schema: { ...schema, nullable: true }, problem };
}

/** Returns all preferences: stored values, and defaults of the others. Omits stored keys that the spec no longer has. */
export function viewOf(spec: Spec, stored: Stored): Record<string, unknown> {
  const members = Object.entries(spec).map(([key, node]) => {
    const value = Object.hasOwn(stored, key) ? stored[key] : undefined;
    if (isLeaf(node)) return [key, value === undefined ? node.fallback : value];
    return [key, viewOf(node, isObject(value) ? value : {})];
  });
  return Object.fromEntries(members) as Record<string, unknown>;
}

/**
 * Merges a patch into the stored preferences like RFC 7396: omitted members stay, `null` resets to the default, lists are
 * replaced.
 * @returns the preferences to store, valid only without problems
 */
export function patched(
  spec: Spec,
  stored: Stored,
  patch: Record<string, unknown>,
  path = '',
): { stored: Stored; problems: FieldProblem[] } {
  const next: Stored = { ...stored };
  const problems: FieldProblem[] = [];
  for (const [key, value] of Object.entries(patch)) {
    const field = `${path}${key}`;
    const node = Object.hasOwn(spec, key) ? (spec[key] as Leaf | Spec) : undefined;
    if (node === undefined) problems.push(problem(field, 'unknown_key', 'is not a preference'));
    else if (value === null) delete next[key];
    else if (isLeaf(node)) {
      const error = node.problem(value);
      if (error !== undefined) problems.push(problem(field, 'invalid_value', error));
      next[key] = value;
    } else if (!isObject(value)) problems.push(problem(field, 'is_object', 'must be an object'));
    else {
      const before = isObject(next[key]) ? next[key] : {};
      const inner = patched(node, before, value, `${field}.`);
      problems.push(...inner.problems);
      next[key] = inner.stored;
    }
  }
  return { stored: next, problems };
}

function problem(path: string, code: string, text: string): FieldProblem {
  const field = shortenText(path, 100);
  return { field, code, message: `${field} ${text}` };
}

/**
 * JSON Schema of all preferences; `partial`: of a patch, in which every member is optional and nullable.
 * @param reference returns the reference to the schema of a group that has one of its own
 */
export function schemaOf(
  spec: Spec,
  partial: boolean,
  reference: (group: Spec) => { $ref: string } | undefined,
): SchemaObject {
  const properties = Object.entries(spec).map(([key, node]) => {
    if (isLeaf(node)) return [key, partial ? orNull(node.schema) : node.schema] as const;
    return [key, reference(node) ?? schemaOf(node, partial, reference)] as const;
  });
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(!partial && { required: Object.keys(spec) }),
    additionalProperties: false,
  };
}

/** In a patch, null resets a member to its default. */
const orNull = (schema: SchemaObject): SchemaObject => ({
  ...schema,
  nullable: true,
  ...(schema.enum && { enum: [...(schema.enum as unknown[]), null] }),
});
