import { isEqual } from '../equal.js';
import type { Item } from '../rows/row.js';
import { mergeText, type TextKind } from './text.js';

/** What both the user and someone else have changed. */
export type Conflict = {
  /** Name of the collection. */
  collection: string;
  /** Id of the containing object, of collections that have one. */
  scope: string | undefined;
  id: string;
} & (
  | {
      kind: 'field';
      field: string;
      /** The value that both started with. */
      base: unknown;
      local: unknown;
      server: unknown;
      /** The default result: the merged text where there is one, otherwise the value of the user. */
      merged: unknown;
    }
  | {
      /** The user has removed an object that someone else has changed. */
      kind: 'removal';
      server: Item;
      /** The default result: true where the service has a trash. */
      merged: boolean;
    }
);

/**
 * Decides a conflict.
 * @returns the new value of the field; whether the object is removed
 */
export type Resolve = (conflict: Conflict) => unknown;

export const byDefault: Resolve = ({ merged }) => merged;

/**
 * Merges a field that both sides have changed in different ways.
 * @param text kind of text of the field, if it is one
 * @param decide called where the changes collide, with the default result
 */
export function mergeField(
  { base, local, server }: { base: unknown; local: unknown; server: unknown },
  text: TextKind | undefined,
  decide: (merged: unknown) => unknown,
): unknown {
  if (isNames(local) && isNames(server)) return mergeNames(isNames(base) ? base : [], local, server);
  if (text === undefined || !isText(local) || !isText(server)) return decide(local);
  const merged = mergeText(isText(base) ? base : '', local, server, text);
  if (!merged) return decide(local);
  return merged.collided ? decide(merged.text) : merged.text;
}

const isText = (value: unknown): value is string => typeof value === 'string';

const isNames = (value: unknown): value is string[] => Array.isArray(value) && value.every(isText);

/** Lists of names, such as labels: what one side has added or removed is added or removed. */
function mergeNames(base: string[], local: string[], server: string[]): string[] {
  if (isEqual(local, server)) return server;
  const kept = server.filter((name) => local.includes(name) || !base.includes(name));
  return [...kept, ...local.filter((name) => !base.includes(name) && !kept.includes(name))];
}
