import { isDeepStrictEqual } from 'node:util';
import { type Attribute, byName, invalidValue, isObject, type Json, ScimInputError } from './attributes.js';
import { toComparable, type Filter, matches, type PatchPath } from './filter.js';
import { isUnassigned, MAX_VALUES, readObject, readValue } from './resource.js';

export const OPERATIONS = ['add', 'remove', 'replace'] as const;
export type Operation = (typeof OPERATIONS)[number];

/** Maximum number of comparisons of one PATCH: a tenth of a second of processor time. */
const MAX_COMPARISONS = 1_000_000;

/** The comparisons that a PATCH may still make. */
export class Comparisons {
  private left = MAX_COMPARISONS;

  /** @throws ScimInputError `tooMany` */
  take(count: number): void {
    this.left -= count;
    if (this.left < 0)
      throw new ScimInputError('tooMany', 'The operations compare too many values. Use several requests.');
  }
}

/**
 * The values of a list while a PATCH changes them, without repeated ones. A group has thousands of members, and a PATCH a
 * thousand operations: operations that select values by `value` use an index, and `Comparisons` limits the others.
 */
export class PatchedValues {
  /** The entries have the order of the list. */
  private readonly byKey = new Map<string, Json>();
  /** Keys of the values with a `value`, in the form in which filters compare it. */
  private readonly byValue = new Map<unknown, Set<string>>();
  private readonly value: Attribute | undefined;

  constructor(
    private readonly attribute: Attribute,
    values: readonly Json[],
    private readonly comparisons: Comparisons,
  ) {
    this.value = byName(attribute.subAttributes ?? [], 'value');
    for (const each of values) this.put(each);
  }

  get list(): Json[] {
    return [...this.byKey.values()];
  }

  /** @throws ScimInputError */
  change(op: Operation, { sub, filter }: PatchPath, value: unknown): void {
    if (filter) this.changeMatching(op, sub, filter, value);
    else if (sub) this.changeEach((each) => withSub(each, sub, op, value));
    else this.changeList(op, value);
    const { name } = this.attribute;
    if (name !== 'members' && this.byKey.size > MAX_VALUES)
      throw invalidValue(name, `must have at most ${MAX_VALUES} values.`);
  }

  private changeList(op: Operation, value: unknown): void {
    const isAbsent = value === undefined || value === null;
    if (op === 'replace' || (op === 'remove' && isAbsent)) this.clear();
    const given = (readValue(this.attribute, value, this.attribute.name) ?? []) as Json[];
    if (op === 'remove') for (const each of given) for (const key of this.named(each)) this.delete(key);
    else this.add(given);
  }

  private changeMatching(op: Operation, sub: Attribute | undefined, filter: Filter, value: unknown): void {
    const { name } = this.attribute;
    const matching = this.matching(filter);
    if (op === 'remove' && !sub) {
      for (const key of matching) this.delete(key);
      return;
    }
    if (matching.size === 0) {
      if (op === 'remove' || value === null || value === '') return;
      const described = readObject(this.attribute.subAttributes ?? [], fromFilter(filter), `${name}.`);
      // Microsoft Entra replaces values that do not exist yet: with an error, the other operations would be lost too.
      if (op === 'replace' && !isUnassigned(described))
        throw new ScimInputError('noTarget', `No value of ${name} matches the path.`);
      return this.add([this.changed(described, op, sub, value)]);
    }
    let primary: string | undefined;
    this.changeEach((each, key) => {
      if (!matching.has(key)) return each;
      const after = this.changed(each, op, sub, value);
      if (isPrimary(after) && !isPrimary(each)) primary ??= keyOf(after);
      return after;
    });
    if (primary !== undefined) this.changeEach((each, key) => (key === primary ? each : notPrimary(each)));
  }

  /** Keys of the values that a removal names: by `value` and, if it is given, `type`, or else by all that is given. */
  private named(given: Json): string[] {
    const value = this.comparableValue(given);
    if (value !== undefined) {
      const keys = [...(this.byValue.get(value) ?? [])];
      if (given['type'] === undefined) return keys;
      return keys.filter((key) => typeOf(this.byKey.get(key) as Json) === typeOf(given));
    }
    this.comparisons.take(this.byKey.size);
    const members = Object.entries(given);
    if (members.length === 0) return [];
    return [...this.byKey.keys()].filter((key) =>
      members.every(([name, member]) => isDeepStrictEqual(this.byKey.get(key)?.[name], member)),
    );
  }

  /** Keys of the values that match a filter. */
  private matching(filter: Filter): Set<string> {
    const named = equalitiesIn(filter).find(({ path }) => path.attribute === this.value);
    const candidates =
      named && this.value
        ? (this.byValue.get(toComparable(named.value, this.value)) ?? [])
        : this.byKey.keys();
    const keys = [...candidates];
    this.comparisons.take(keys.length * sizeOf(filter));
    return new Set(keys.filter((key) => matches(filter, this.byKey.get(key) as Json)));
  }

  private changeEach(change: (each: Json, key: string) => Json): void {
    this.comparisons.take(this.byKey.size);
    const changed = [...this.byKey].map(([key, each]) => change(each, key));
    this.clear();
    for (const each of changed) this.put(each);
  }

  /** A new primary value takes the place of the current one (RFC 7644, section 3.5.2). */
  private add(values: readonly Json[]): void {
    if (values.some(isPrimary)) this.changeEach(notPrimary);
    for (const each of values) this.put(each);
  }

  /** A repeated value changes nothing, except that it may be the primary one. */
  private put(each: Json): void {
    const key = keyOf(each);
    const known = this.byKey.get(key);
    if (known && each['primary'] === true) this.byKey.set(key, { ...known, primary: true });
    if (known) return;
    this.byKey.set(key, each);
    const value = this.comparableValue(each);
    if (value === undefined) return;
    const keys = this.byValue.get(value);
    if (keys) keys.add(key);
    else this.byValue.set(value, new Set([key]));
  }

  private delete(key: string): void {
    const each = this.byKey.get(key);
    if (!each) return;
    this.byKey.delete(key);
    this.byValue.get(this.comparableValue(each))?.delete(key);
  }

  private clear(): void {
    this.byKey.clear();
    this.byValue.clear();
  }

  private comparableValue({ value }: Json): unknown {
    return this.value && value !== undefined ? toComparable(value, this.value) : undefined;
  }

  private changed(each: Json, op: Operation, sub: Attribute | undefined, value: unknown): Json {
    if (sub) return withSub(each, sub, op, value);
    const { name, subAttributes = [] } = this.attribute;
    const given = Array.isArray(value) && value.length === 1 ? (value[0] as unknown) : value;
    if (!isObject(given)) throw new ScimInputError('invalidValue', `A value of ${name} must be an object.`);
    return { ...each, ...readObject(subAttributes, given, `${name}.`) };
  }
}

type Equality = Extract<Filter, { value: unknown }>;

/** Equalities that every match fulfils. */
function equalitiesIn(filter: Filter): Equality[] {
  if (filter.op === 'and') return filter.filters.flatMap(equalitiesIn);
  return filter.op === 'eq' && filter.value !== null ? [filter] : [];
}

/** Number of comparisons that a filter makes at most. */
function sizeOf(filter: Filter): number {
  if ('filters' in filter) return filter.filters.reduce((sum, each) => sum + sizeOf(each), 0);
  return 'filter' in filter ? 1 + sizeOf(filter.filter) : 1;
}

function withSub(each: Json, sub: Attribute, op: Operation, value: unknown): Json {
  const { [sub.name]: _, ...rest } = each;
  const read = op === 'remove' ? undefined : readValue(sub, value, sub.name);
  return read === undefined ? rest : { ...each, [sub.name]: read };
}

/** The value that a filter of equalities describes, e.g. `[type eq "work"]`. */
function fromFilter(filter: Filter): Json {
  if (filter.op === 'eq') return { [(filter.path.sub ?? filter.path.attribute).name]: filter.value };
  if (filter.op === 'and') return Object.assign({}, ...filter.filters.map(fromFilter)) as Json;
  throw new ScimInputError(
    'noTarget',
    'No value matches the path, and its filter does not describe a new one.',
  );
}

/** An entry without a value, which a later operation may give, is not stored: it takes `primary` from no other entry. */
const isPrimary = (each: Json): boolean => each['primary'] === true && !isUnassigned(each);

const notPrimary = (each: Json): Json => (each['primary'] === true ? { ...each, primary: false } : each);

/** Members of groups are users unless their type says otherwise. */
const typeOf = ({ type }: Json): unknown => (type === 'User' ? undefined : type);

const keyOf = (each: Json): string => JSON.stringify([each['value'] ?? each, typeOf(each)]);
