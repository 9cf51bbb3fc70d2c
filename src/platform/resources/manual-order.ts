import { generateKeyBetween } from 'fractional-indexing';
import { fieldError } from '../http/errors.js';
import { isUuid } from '../http/id.pipe.js';

/** Maximum length of a key, which thousands of moves into one gap reach. PostgreSQL cannot index much longer keys. */
const MAX_KEY = 1_000;

/** A list in manual order, as the caller sees it. */
interface OrderedList {
  /** The first key of the list; null for an empty list. */
  first(): Promise<string | null>;
  /** The keys of an item (`position`) and of its neighbour (`beyond`); null for an unknown item. */
  neighbours(
    id: string,
    side: 'before' | 'after',
  ): Promise<{ position: string; beyond: string | null } | null>;
}

/**
 * Manual order by fractional keys: a key between the keys of two neighbours places an item between them, without a write of other
 * items. Neighbours are read before the write: two concurrent moves into one gap get keys in that gap, in any order.
 * @param position the field of the request
 * @returns a key, or undefined for the end of the list, which the write determines
 * @throws ApiError 422
 */
export async function keyFor(position: unknown, list: OrderedList): Promise<string | undefined> {
  if (position === 'last') return undefined;
  if (position === 'first') return bounded(generateKeyBetween(null, await list.first()));
  if (typeof position === 'string') return givenKey(position);
  const { before, after } = (position ?? {}) as { before?: unknown; after?: unknown };
  if (isUuid(before) && after === undefined) return beside(list, before, 'before');
  if (isUuid(after) && before === undefined) return beside(list, after, 'after');
  throw invalid('must be first, last, { before: id }, { after: id } or the position of an item');
}

async function beside(list: OrderedList, id: string, side: 'before' | 'after'): Promise<string> {
  const found = await list.neighbours(id.toLowerCase(), side);
  if (!found) throw invalid(`${side} is not the id of an item in this list`);
  return bounded(
    side === 'before'
      ? generateKeyBetween(found.beyond, found.position)
      : generateKeyBetween(found.position, found.beyond),
  );
}

function givenKey(key: string): string {
  if (!/^[A-Za-z0-9]+$/.test(key)) throw invalid('is not a key of the manual order');
  try {
    generateKeyBetween(bounded(key), null);
    return key;
  } catch (error) {
    throw error instanceof Error && error.name === 'ApiError'
      ? error
      : invalid('is not a key of the manual order');
  }
}

function bounded(key: string): string {
  if (key.length > MAX_KEY) throw invalid('has no free key between these two items; move one of them first');
  return key;
}

const invalid = (message: string) => fieldError('position', 'invalid_position', `position ${message}`);
