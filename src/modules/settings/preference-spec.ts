import type { OpenAPIObject } from '@nestjs/swagger';
import type { FieldProblem } from '../../platform/http/api-error.js';

/** JSON Schema as the documentation library types it. */
type Schemas = NonNullable<NonNullable<OpenAPIObject['components']>['schemas']>;
export type SchemaObject = Exclude<Schemas[string], { $ref: string }>;

/** One preference: what it is by default, what it may be, and how it is described. */
export interface Leaf {
  readonly leaf: true;
  readonly fallback: unknown;
  /** JSON Schema, for the description of the interface. */
  readonly schema: SchemaObject;
  /** What is wrong with a value, or undefined. */
  problem(value: unknown): string | undefined;
}

/** Preferences by name; they may nest. */
export interface Spec {
  readonly [key: string]: Leaf | Spec;
}

export type Stored = Record<string, unknown>;

const isLeaf = (node: Leaf | Spec): node is Leaf => node.leaf === true;
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** One of these words; the first is the default. */
export function oneOf(...words: [string, ...string[]]): Leaf {
  return {
    leaf: true,
    fallback: words[0],
    schema: { type: 'string', enum: words, example: words[0] },
    problem: (value) => (words.includes(value as string) ? undefined : `must be one of ${words.join(', ')}`),
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

/** Null by default: nothing chosen. */
export function choice(schema: SchemaObject, problem: (value: unknown) => string | undefined): Leaf {
  return { leaf: true, fallback: null, schema: { ...schema, nullable: true }, problem };
}

/** All preferences: what is stored, and the defaults of what is not. What the spec no longer knows is left out. */
export function viewOf(spec: Spec, stored: Stored): Record<string, unknown> {
  const members = Object.entries(spec).map(([key, node]) => {
    const value = Object.hasOwn(stored, key) ? stored[key] : undefined;
    if (isLeaf(node)) return [key, value === undefined ? node.fallback : value];
    return [key, viewOf(node, isObject(value) ? value : {})];
  });
  return Object.fromEntries(members) as Record<string, unknown>;
}

/**
 * Merges a patch into what is stored, in the manner of RFC 7396: members that are left out stay, `null` goes back to the
 * default, lists are replaced whole.
 * @returns what to store, unless there are problems
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
    if (node === undefined) problems.push(problem(field, 'unknown_key', 'is no preference'));
    else if (value === null) delete next[key];
    else if (isLeaf(node)) {
      const wrong = node.problem(value);
      if (wrong !== undefined) problems.push(problem(field, 'invalid_value', wrong));
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

function problem(path: string, code: string, what: string): FieldProblem {
  const field = path.length <= 100 ? path : `${path.slice(0, 100).toWellFormed()}…`;
  return { field, code, message: `${field} ${what}` };
}

/** JSON Schema of the whole; `partial`: of a patch, where any member may be left out or null. */
export function schemaOf(spec: Spec, partial: boolean): SchemaObject {
  const properties = Object.entries(spec).map(([key, node]) => {
    const schema = isLeaf(node) ? (partial ? orNull(node.schema) : node.schema) : schemaOf(node, partial);
    return [key, schema] as const;
  });
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(!partial && { required: Object.keys(spec) }),
    additionalProperties: false,
  };
}

/** A patch may say null of any member: back to the default. */
const orNull = (schema: SchemaObject): SchemaObject => ({
  ...schema,
  nullable: true,
  ...(schema.enum && { enum: [...(schema.enum as unknown[]), null] }),
});
