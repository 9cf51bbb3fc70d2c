import { type Attribute, type Json, valuesAt } from './attributes.js';
import type { Comparison, Filter } from './filter.js';

/** Whether a resource, or a value of a list, matches a filter that was parsed for it. */
export function matches(filter: Filter, resource: Json): boolean {
  switch (filter.op) {
    case 'and':
      return filter.filters.every((each) => matches(each, resource));
    case 'or':
      return filter.filters.some((each) => matches(each, resource));
    case 'not':
      return !matches(filter.filter, resource);
    case 'pr':
      return valuesAt(resource, filter.path).some((value) => !isEmpty(value));
    case 'some':
      return valuesAt(resource, filter.path).some((value) => matches(filter.filter, value as Json));
    default:
      return compares(filter, resource);
  }
}

type Comparing = Extract<Filter, { value: unknown }>;

function compares({ op, path, value: wanted }: Comparing, resource: Json): boolean {
  // A list of objects is compared by its values (RFC 7643, section 2.4).
  const isList = path.attribute.multiValued === true && path.sub === undefined;
  const value = isList && path.attribute.subAttributes?.find(({ name }) => name === 'value');
  const at = value ? { ...path, sub: value } : path;
  const values = valuesAt(resource, at);
  const attribute = at.sub ?? at.attribute;
  if (wanted === null) return (values.length === 0) === (op === 'eq');
  if (op === 'ne') return !values.some((each) => holds('eq', each, wanted, attribute));
  return values.some((each) => holds(op, each, wanted, attribute));
}

function holds(op: Comparison, value: unknown, wanted: unknown, attribute: Attribute): boolean {
  const [left, right] = [comparable(value, attribute), comparable(wanted, attribute)];
  if (op === 'eq') return left === right;
  if (op === 'co' || op === 'sw' || op === 'ew') return contains(op, String(left), String(right));
  if (typeof left !== typeof right) return false;
  const order = left < right ? -1 : left > right ? 1 : 0;
  return { gt: order > 0, ge: order >= 0, lt: order < 0, le: order <= 0, ne: order !== 0 }[op];
}

function contains(op: 'co' | 'sw' | 'ew', text: string, part: string): boolean {
  if (op === 'co') return text.includes(part);
  return op === 'sw' ? text.startsWith(part) : text.endsWith(part);
}

/** A value in the form in which filters compare it. */
export function comparable(value: unknown, { type, caseExact }: Attribute): string | number | boolean {
  if (type === 'dateTime') return Date.parse(String(value));
  if (typeof value === 'string' && type === 'boolean') return value.toLowerCase() === 'true';
  if (typeof value === 'string') return caseExact ? value : value.toLowerCase();
  return value as number | boolean;
}

const isEmpty = (value: unknown): boolean =>
  value === '' ||
  (typeof value === 'object' && value !== null && Object.values(value).every((each) => isEmpty(each)));
