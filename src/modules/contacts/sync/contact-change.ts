import {
  canJoin,
  type CardField,
  type ContactCard,
  differences,
  emptyCard,
  joined,
  written,
} from '../../../lib/contact-card/index.js';
import { withoutStale } from '../../../lib/vcard/index.js';
import {
  checked,
  contactInsert,
  type ContactInsert,
  contactUpdate,
  type ContactUpdate,
} from '../model/contact-values.js';
import { cardOf, type ContactRow } from '../responses/contact.presenter.js';
import type { ConflictPolicy, ContactChange } from './contact-sync.dto.js';

/** The effect of one change of a client. */
export type ChangeEffect =
  | { kind: 'insert'; values: ContactInsert }
  | { kind: 'update'; values: ContactUpdate; conflicts: CardField[] }
  | { kind: 'remove'; id: string }
  | { kind: 'unchanged'; conflicts: CardField[] }
  | { kind: 'absent' }
  | { kind: 'conflict' }
  | { kind: 'deleted' };

interface Rules {
  policy: ConflictPolicy;
  /** Country of telephone numbers without a prefix. */
  country: string | null;
}

/**
 * Decides about a change.
 * @param row the contact on the server; undefined: there is none
 * @throws ApiError 422 for an invalid card
 */
export function effectOf(change: ContactChange, row: ContactRow | undefined, rules: Rules): ChangeEffect {
  return change.op === 'delete' ? deletion(change, row, rules) : upsert(change, row, rules);
}

function deletion(
  { base_revision: base }: ContactChange,
  row: ContactRow | undefined,
  { policy }: Rules,
): ChangeEffect {
  if (!row) return { kind: 'absent' };
  const isCurrent = base === undefined || base === row.revision;
  return isCurrent || policy === 'client' ? { kind: 'remove', id: row.id } : { kind: 'conflict' };
}

function upsert(
  change: ContactChange,
  row: ContactRow | undefined,
  { policy, country }: Rules,
): ChangeEffect {
  const { contact = {}, external_id: externalId, uid, base_revision: base } = change;
  if (!row) {
    // The client changed a contact that was deleted or merged meanwhile. Its fields alone are no whole contact.
    if (base !== undefined) return { kind: 'deleted' };
    return {
      kind: 'insert',
      values: contactInsert(checked(written(contact, emptyCard(), country)), { externalId, uid }),
    };
  }
  const before = cardOf(row);
  const after = checked(written(contact, before, country));
  const wanted = differences(before, after);
  if (wanted.length === 0) return { kind: 'unchanged', conflicts: [] };
  if (base === row.revision || policy === 'client') return update(row, after, wanted);
  if (policy === 'server') return { kind: 'conflict' };
  // Both sides created the contact: their cards are joined, but not a group and a person.
  if (base === undefined) {
    if (!canJoin(before, after)) return { kind: 'conflict' };
    const both = checked(joined(before, after));
    return update(row, both, differences(before, both));
  }
  const conflicts = wanted.filter((field) => (row.field_revisions[field] ?? 1) > base);
  const kept = Object.fromEntries(conflicts.map((field) => [field, before[field]]));
  const both = { ...after, ...kept };
  const merged = checked({ ...both, custom: withoutStale(before, both) });
  return update(row, merged, differences(before, merged), conflicts);
}

function update(
  row: ContactRow,
  card: ContactCard,
  changed: CardField[],
  conflicts: CardField[] = [],
): ChangeEffect {
  if (changed.length === 0) return { kind: 'unchanged', conflicts };
  return { kind: 'update', values: contactUpdate(row, card, changed), conflicts };
}
