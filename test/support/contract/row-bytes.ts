/** A schema of the OpenAPI document, as far as it limits the bytes of a value. */
export interface Schema {
  $ref?: string;
  type?: string | string[];
  format?: string;
  const?: unknown;
  enum?: unknown[];
  allOf?: Schema[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  properties?: Record<string, Schema>;
  items?: Schema;
  maxItems?: number;
  maxLength?: number;
}

/**
 * The limit of a field of a row whose own schema states none: the field of a request that it stores (`CreateGroup.name`), or the
 * greatest number of its characters, from a constant of the code.
 */
export type FieldLimit = string | number;

/** JSON writes a control character as six bytes, more than UTF-8 needs for any character. */
const CHARACTER_BYTES = 6;
const FORMATS: Record<string, number> = { uuid: 38, 'date-time': 32, date: 12 };
const NUMBER_BYTES = 25;

/** Finds the greatest size of rows of responses, from the limits in the OpenAPI document. */
export class RowBytes {
  constructor(private readonly schemas: Record<string, Schema>) {}

  resolved(schema: Schema): Schema {
    return schema.$ref
      ? this.resolved(this.schemas[schema.$ref.split('/').at(-1) as string] as Schema)
      : schema;
  }

  properties(schema: Schema): Record<string, Schema> {
    const { properties = {}, allOf = [] } = this.resolved(schema);
    return Object.assign({}, ...allOf.map((part) => this.properties(part)), properties);
  }

  /**
   * The most bytes of a value as JSON.
   * @param limits by the path of a field, with dots; entries of lists have the path of the list
   * @throws Error for a field without a limit
   */
  of(schema: Schema, limits: Record<string, FieldLimit>, path = ''): number {
    const limit = limits[path];
    if (typeof limit === 'number') return 2 + limit * CHARACTER_BYTES;
    if (limit !== undefined) return this.of(this.field(limit), {}, limit);
    const found = this.resolved(schema);
    if (found.const !== undefined) return JSON.stringify(found.const).length;
    if (found.enum) return Math.max(...found.enum.map((value) => JSON.stringify(value).length));
    const choices = found.oneOf ?? found.anyOf;
    if (choices) return Math.max(...choices.map((choice) => this.of(choice, limits, path)));
    if (found.properties || found.allOf) return this.object(found, limits, path);
    return this.plain(found, limits, path);
  }

  private plain(schema: Schema, limits: Record<string, FieldLimit>, path: string): number {
    const types = [schema.type].flat().filter((type) => type !== 'null');
    const [type] = types;
    if (types.length > 1)
      return Math.max(...types.map((one) => this.plain({ ...schema, type: one }, limits, path)));
    if (type === 'boolean') return 5;
    if (type === 'integer' || type === 'number') return NUMBER_BYTES;
    if (type === 'string' && schema.format && FORMATS[schema.format]) return FORMATS[schema.format] as number;
    if (type === 'string' && schema.maxLength !== undefined) return 2 + schema.maxLength * CHARACTER_BYTES;
    if (type === 'array' && schema.maxItems !== undefined && schema.items)
      return 2 + schema.maxItems * (1 + this.of(schema.items, limits, path));
    if (type === undefined && schema.type === 'null') return 4;
    throw new Error(`${path} has no limit`);
  }

  private object(schema: Schema, limits: Record<string, FieldLimit>, path: string): number {
    const members = Object.entries(this.properties(schema)).map(
      ([name, member]) => name.length + 4 + this.of(member, limits, path ? `${path}.${name}` : name),
    );
    return 2 + members.reduce((sum, bytes) => sum + bytes, 0);
  }

  private field(reference: string): Schema {
    const [name = '', field = ''] = reference.split('.');
    const found = this.properties({ $ref: name })[field];
    if (!found) throw new Error(`${reference} is not a field`);
    return found;
  }
}
