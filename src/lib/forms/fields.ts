import { charactersOf } from '../text/index.js';
import { NOT_XML } from '../xml/index.js';
import { ANSWER_LIMITS, type Option, type Problem } from './definition.js';

const ID = /^[\w-]{1,64}$/;
/** Characters that a workbook cannot contain, and DEL. */
const CONTROL = new RegExp(String.raw`[${NOT_XML}\u007f]`);

/** Reads the members of an untrusted object and collects the errors. */
export class Fields {
  private constructor(
    private readonly source: Record<string, unknown>,
    readonly path: string,
    readonly problems: Problem[],
  ) {}

  /** Null, with a problem, for anything but an object. A missing value is an empty object. */
  static of(value: unknown, path: string, problems: Problem[]): Fields | null {
    const source = value ?? {};
    if (isObject(source)) return new Fields(source, path, problems);
    problems.push({ path, code: 'is_object', message: `${path || 'definition'} must be an object` });
    return null;
  }

  has(name: string): boolean {
    return this.value(name) !== undefined;
  }

  value(name: string): unknown {
    const value = Object.hasOwn(this.source, name) ? this.source[name] : undefined;
    return value === null ? undefined : value;
  }

  problem(name: string, code: string, message: string): void {
    const path = this.pathOf(name);
    this.problems.push({ path, code, message: `${path} ${message}` });
  }

  pathOf(name: string): string {
    return [this.path, name].filter(Boolean).join('.');
  }

  /** Text of at most `max` characters; '' when missing. */
  text(name: string, max: number): string {
    const value = this.value(name) ?? '';
    if (typeof value !== 'string') this.problem(name, 'is_string', 'must be text');
    else if (charactersOf(value) > max)
      this.problem(name, 'max_length', `must be at most ${max} characters long`);
    else if (CONTROL.test(value)) this.problem(name, 'characters', 'must not contain control characters');
    else return value;
    return '';
  }

  id(name = 'id'): string {
    const value = this.value(name);
    if (typeof value === 'string' && ID.test(value) && !(value in {})) return value;
    this.problem(name, 'is_id', 'must be 1 to 64 letters, digits, hyphens or underscores');
    return '';
  }

  boolean(name: string): boolean {
    const value = this.value(name) ?? false;
    if (typeof value !== 'boolean') this.problem(name, 'is_boolean', 'must be true or false');
    return value === true;
  }

  oneOf<T extends string>(name: string, values: readonly T[], otherwise?: T): T {
    const value = this.value(name) ?? otherwise;
    if ((values as readonly unknown[]).includes(value)) return value as T;
    this.problem(name, 'is_in', `must be one of ${values.join(', ')}`);
    return otherwise ?? values[0]!;
  }

  integer(name: string, min: number, max: number): number | undefined {
    const value = this.value(name);
    if (value === undefined) return undefined;
    if (Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max)
      return value as number;
    this.problem(name, 'is_int', `must be a whole number from ${min} to ${max}`);
    return undefined;
  }

  number(name: string): number | undefined {
    const value = this.value(name);
    if (value === undefined) return undefined;
    if (typeof value === 'number' && Number.isFinite(value)) return value;
    this.problem(name, 'is_number', 'must be a number');
    return undefined;
  }

  /** Entries that are objects, at most `max`. */
  list(name: string, max: number): Fields[] {
    return this.entries(name, max).flatMap((entry, n) => {
      const fields = Fields.of(entry ?? 0, this.pathOf(`${name}.${n}`), this.problems);
      return fields ? [fields] : [];
    });
  }

  entries(name: string, max: number): unknown[] {
    const value = this.value(name) ?? [];
    if (!Array.isArray(value)) this.problem(name, 'is_array', 'must be a list');
    else if (value.length > max) this.problem(name, 'array_max_size', `must have at most ${max} entries`);
    else return value;
    return [];
  }

  object(name: string): Fields | null {
    return Fields.of(this.value(name), this.pathOf(name), this.problems);
  }

  /** Options with distinct ids. */
  options(name: string, max: number): Option[] {
    const seen = new Set<string>();
    return this.list(name, max).map((entry) => {
      const id = entry.id();
      if (id !== '' && seen.has(id)) entry.problem('id', 'unique', 'must be unique');
      seen.add(id);
      return { id, label: entry.text('label', 500) };
    });
  }
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Text of an answer that can be stored and exported. */
export const isPlainText = (value: unknown): value is string =>
  typeof value === 'string' && charactersOf(value) <= ANSWER_LIMITS.text && !CONTROL.test(value);

/** The object without undefined members; undefined when it has none. */
export function compact<T extends object>(object: T): T | undefined {
  const entries = Object.entries(object).filter(([, value]) => value !== undefined);
  return entries.length === 0 ? undefined : (Object.fromEntries(entries) as T);
}
