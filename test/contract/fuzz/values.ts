import type { Rng } from '../../sync/rng.ts';

/** A JSON schema of the document, or a part of one. */
export type Schema = Record<string, any>;

const TEXTS = [
  'Quarterly report',
  'a',
  'Ünïcödé 日本語',
  '<p>some <b>text</b></p>',
  'x@example.com',
  '2026-03-01',
];

/** Makes values that a schema of the document allows. */
export class Values {
  /** Lists around the value that is being made. */
  private lists = 0;

  constructor(
    private readonly document: Record<string, any>,
    /** Ids that a field of format `uuid` can take. */
    private readonly ids: () => readonly string[],
    /** The largest numbers, and lists of up to this many items, of a tenth in a list; undefined: small ones. */
    private readonly widest?: number,
  ) {}

  /** Follows a `$ref`. */
  resolve(node: Schema): Schema {
    let found = node;
    while (typeof found['$ref'] === 'string')
      found = found['$ref']
        .split('/')
        .slice(1)
        .reduce((at: any, key: string) => at[key.replaceAll('~1', '/')], this.document);
    return found;
  }

  /** @returns a value that the schema allows, as far as its keywords define it */
  of(rng: Rng, node: Schema): unknown {
    const schema = this.resolve(node);
    if ('const' in schema) return schema['const'];
    if (schema['enum']) return rng.pick(schema['enum'] as unknown[]);
    const variants = schema['oneOf'] ?? schema['anyOf'];
    if (variants) return this.of(rng, rng.pick(variants as Schema[]));
    if (schema['allOf'])
      return Object.assign({}, ...schema['allOf'].map((part: Schema) => this.of(rng, part)));
    if (schema['format'] !== 'uuid' && 'example' in schema && rng.chance(0.5)) return schema['example'];
    const types = [schema['type'] ?? (schema['properties'] ? 'object' : 'string')].flat();
    return this.typed(rng, rng.pick(types), schema);
  }

  private typed(rng: Rng, type: string, schema: Schema): unknown {
    if (type === 'object') return this.object(rng, schema);
    if (type === 'array') {
      const least = schema['minItems'] ?? 0;
      const wanted = this.widest === undefined ? undefined : Math.ceil(this.widest / 10 ** this.lists);
      const most = Math.min(schema['maxItems'] ?? Infinity, wanted ?? least + 2);
      const length = wanted === undefined ? rng.int(least, most) : Math.max(least, most);
      this.lists += 1;
      const items = Array.from({ length }, () => this.of(rng, schema['items'] ?? {}));
      this.lists -= 1;
      return items;
    }
    if (type === 'integer' || type === 'number') {
      const low = schema['minimum'] ?? 1;
      if (this.widest !== undefined && schema['maximum'] !== undefined) return schema['maximum'];
      return rng.int(low, Math.min(schema['maximum'] ?? Infinity, low + 5));
    }
    if (type === 'boolean') return rng.chance(0.5);
    return type === 'null' ? null : this.text(rng, schema);
  }

  private object(rng: Rng, schema: Schema): unknown {
    const required: string[] = schema['required'] ?? [];
    const entries = Object.entries<Schema>(schema['properties'] ?? {})
      .filter(([name]) => required.includes(name) || this.widest !== undefined || rng.chance(0.5))
      .map(([name, property]) => [name, this.of(rng, property)]);
    return Object.fromEntries(entries);
  }

  private text(rng: Rng, schema: Schema): string {
    switch (schema['format']) {
      case 'uuid':
        return rng.chance(0.9) ? rng.pick(this.ids()) : rng.uuid();
      case 'date-time':
        return new Date(rng.int(0, 4_102_444_800) * 1_000).toISOString();
      case 'date':
        return new Date(rng.int(0, 4_102_444_800) * 1_000).toISOString().slice(0, 10);
      case 'email':
        return `user${rng.int(1, 9)}@example.com`;
      case 'uri':
        return 'https://example.com/page';
      default:
        if (schema['pattern'] && typeof schema['example'] === 'string') return schema['example'];
        return rng.pick(TEXTS).slice(0, schema['maxLength'] ?? Infinity);
    }
  }
}
