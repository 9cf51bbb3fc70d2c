import { isDeepStrictEqual } from 'node:util';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { canJoin, type ContactCard, differences, joinCards } from '../../../lib/contact-card/index.js';
import { type CardRelated, uidOf, uidToUri } from '../../../lib/vcard/index.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { rowsOf } from '../../../platform/database/rows.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Reader, Tx } from '../../../platform/database/tx.js';
import { Errors } from '../../../platform/http/errors.js';
import type { Checked } from '../../../platform/http/input.pipe.js';
import { JsonReply } from '../../../platform/http/json-reply.js';
import { PeriodicJobs } from '../../../platform/jobs/periodic-jobs.js';
import { deletion, type Sweep } from '../../../platform/jobs/sweep.js';
import { AddressbookAccess } from '../addressbook-access.js';
import { CONTACT_COLUMNS } from '../contact-access.js';
import { ContactMerge, type ContactSource, type ContactWord } from '../contacts.entity.js';
import { ContactsRepository } from '../contacts.repository.js';
import { ContactErrors, CONTACTS, fieldError } from '../contacts.resource.js';
import { FormerContacts } from '../former-contacts.repository.js';
import { checkCard, contactInsert, type ContactUpdate, contactUpdate } from '../model/contact-values.js';
import {
  canEdit,
  cardOf,
  contactJson,
  type ContactRow,
  presentContact,
} from '../responses/contact.presenter.js';
import {
  type DuplicateReason,
  type DuplicatesEnvelope,
  type FindDuplicates,
  MAX_GROUP,
  type MergeContacts,
  type MergedContactEnvelope,
  type UnmergedContactsEnvelope,
} from './duplicates.dto.js';
import { groupJson } from './duplicates.presenter.js';

/** A contact as it was before a merge. */
export interface Original {
  /** Missing in merges from before ids were recorded. */
  id?: string;
  external_id: string;
  uid: string;
  source: ContactSource;
  card: ContactCard;
  /** Missing in merges from before contacts had photos. */
  photo_id?: string | null;
  /** Missing in merges from before revisions were recorded. */
  revision?: number;
  field_revisions?: Record<string, number>;
  /** Ids of the groups that it was a member of. Missing in merges from before groups were recorded. */
  groups?: string[];
  /** The first contact has the relations of other contacts that the merge changed. Missing in merges from before they were recorded. */
  relations?: { id: string; before: CardRelated[]; after: CardRelated[] }[];
}

// Words of one address book that several contacts have and that identify a person, or a group: name, telephone number, e-mail address. Primary key.
const shared = workspace.statement<Pick<ContactWord, 'word'> & { ids: string[] }>(
  'contacts.shared_keys',
  `WITH keys AS (
     SELECT word, array_agg(contact_id) AS ids FROM contact_words
      WHERE tenant_id = $1 AND addressbook_id = $2 AND (word LIKE '=%' OR word LIKE '+%' OR word LIKE '%_@_%')
      GROUP BY word HAVING count(*) BETWEEN 2 AND $3 ORDER BY word LIMIT $4)
   SELECT keys.word, array_agg(contact.id ORDER BY contact.id) AS ids
     FROM keys CROSS JOIN unnest(keys.ids) AS found (id)
     JOIN contacts contact ON contact.tenant_id = $1 AND contact.id = found.id
    GROUP BY keys.word, contact.kind = 'group' HAVING count(*) > 1 ORDER BY keys.word`,
);

// A relation of vCard 4.0 has `urn:uuid:` before a uid, a member does not.
const naming = workspace.statement<ContactRow>(
  'contacts.naming',
  `SELECT ${CONTACT_COLUMNS} FROM contacts contact
    WHERE contact.tenant_id = $1 AND contact.addressbook_id = $2 AND contact.gone_at IS NULL
      AND (contact.kind = 'group' AND (contact.card->'members')::jsonb ?| $3
        OR EXISTS (SELECT FROM json_array_elements(contact.card->'related') AS related WHERE related->>'uri' = ANY ($4)))`,
);

const forget: Sweep = workspace.statement(
  'contacts.forget_merges',
  deletion('contact_merges', `created_at < now() - interval '30 days'`),
  { reach: 'cell' },
);

/** SQL of duplicates and merges. */
@Injectable()
export class DuplicatesRepository implements OnModuleInit {
  constructor(
    private readonly db: Db,
    private readonly jobs: PeriodicJobs,
  ) {}

  onModuleInit(): void {
    this.jobs.register({ name: 'forget-contact-merges', everySeconds: 86_400, deletes: forget });
  }

  /** Keys that several contacts of a book have, with the ids of the contacts. */
  async findShared({ tenantId }: RequestContext, bookId: string, maxContacts: number, limit: number) {
    return this.db.query(shared, [tenantId, bookId, maxContacts, limit]);
  }

  /** The contacts of a book that name one of these uids: groups with such a member, and contacts with such a relation. */
  async findNaming(
    tx: Tx,
    { tenantId }: RequestContext,
    bookId: string,
    uids: readonly string[],
  ): Promise<ContactRow[]> {
    return tx.query(naming, [tenantId, bookId, uids, uids.flatMap((uid) => [uid, uidToUri(uid)])]);
  }

  /** @returns the id of the merge */
  async insert(
    tx: Tx,
    { tenantId, userId }: RequestContext,
    merge: Pick<ContactMerge, 'addressbook_id' | 'contact_id' | 'revision'> & { originals: Original[] },
  ): Promise<string> {
    const id = uuidv7();
    const photoIds = merge.originals.flatMap(({ photo_id }) => photo_id ?? []);
    const values = {
      ...merge,
      photo_ids: photoIds,
      id,
      tenant_id: tenantId,
      user_id: userId,
      created_at: () => 'now()',
    };
    await rowsOf(tx, ContactMerge).insert(values);
    return id;
  }

  async find(reader: Reader, { tenantId, userId }: RequestContext, id: string): Promise<ContactMerge | null> {
    return rowsOf(reader, ContactMerge).one({ tenant_id: tenantId, user_id: userId, id });
  }

  async delete(tx: Tx, { tenantId, userId }: RequestContext, id: string): Promise<boolean> {
    return (await rowsOf(tx, ContactMerge).delete({ tenant_id: tenantId, user_id: userId, id })).length > 0;
  }
}

/** Shared keys that one search looks at. */
const MAX_KEYS = 5_000;

/** Finds contacts that may be the same person, merges them and undoes merges. */
@Injectable()
export class DuplicatesService {
  constructor(
    private readonly duplicates: DuplicatesRepository,
    private readonly former: FormerContacts,
    private readonly contacts: ContactsRepository,
    private readonly access: AddressbookAccess,
    private readonly db: Db,
  ) {}

  /** Groups of contacts with a common address, number or name. @throws ApiError 404 */
  async find(ctx: RequestContext, body: Checked<FindDuplicates>): Promise<JsonReply<DuplicatesEnvelope>> {
    const { addressbook_id, limit } = body.value;
    const { id, role } = await this.access.requireReadable(ctx, addressbook_id.toLowerCase());
    const groups = grouped(await this.duplicates.findShared(ctx, id, MAX_GROUP, MAX_KEYS)).slice(0, limit);
    const ids = groups.flatMap((group) => group.ids);
    const rows = new Map((await this.contacts.find(this.db, ctx, id, 'id', ids)).map((row) => [row.id, row]));
    const texts = groups.flatMap(({ reasons, ids: members }) => {
      const found = members.flatMap((member) => rows.get(member) ?? []);
      return found.length < 2 ? [] : [groupJson(reasons, found, role)];
    });
    return JsonReply.listOf('duplicates', texts, {});
  }

  /**
   * The first contact gets the fields of the others, which are deleted, their places in groups and the relations to them.
   * @throws ApiError 404, 403, 422 for a group and a contact of another kind
   */
  async merge(ctx: RequestContext, body: Checked<MergeContacts>): Promise<JsonReply<MergedContactEnvelope>> {
    const { addressbook_id, external_ids: names } = body.value;
    const { id: bookId, role } = await this.access.requireWritable(ctx, addressbook_id.toLowerCase());
    return this.db.tx(async (tx) => {
      await this.contacts.lockBook(tx, ctx, bookId);
      const found = await this.contacts.find(tx, ctx, bookId, 'external_id', names);
      const rows = names.flatMap((name) => found.find((row) => row.external_id === name) ?? []);
      const [first, ...others] = rows;
      if (rows.length < names.length || !first) throw CONTACTS.notFound.with();
      if (!rows.every((row) => canEdit(role, row))) throw Errors.forbidden.with();
      const before = cardOf(first);
      if (!others.every((other) => canJoin(before, cardOf(other))))
        throw fieldError('external_ids', 'different_kinds', 'A group is merged with groups only.');
      const uids = rows.map(({ uid }) => uid);
      const joint = others.reduce((card, other) => joinCards(card, cardOf(other)), before);
      const related = joint.related.filter(({ uri }) => uri === null || !uids.includes(uidOf(uri)));
      const members = joint.members.filter((uid) => !uids.includes(uid));
      const card = checkCard({ ...joint, related, members });
      const naming = (await this.duplicates.findNaming(tx, ctx, bookId, uids)).filter(
        ({ id }) => !rows.some((row) => row.id === id),
      );
      const remaining = (uid: string): string => (uids.includes(uid) ? first.uid : uid);
      const relations = naming.flatMap((row) => {
        const { related: former } = cardOf(row);
        const after = distinct(former.map((each) => withTarget(each, remaining)));
        return isDeepStrictEqual(former, after) ? [] : [{ id: row.id, before: former, after }];
      });
      // Written even without a difference: an undo is allowed only for the revision of the merge.
      const updated = await this.contacts.update(tx, ctx, bookId, [
        contactUpdate(first, card, differences(before, card), firstPhoto(rows)),
        ...naming.flatMap((row) =>
          withReferences(row, {
            members: cardOf(row).members.map(remaining),
            related: relations.find(({ id }) => id === row.id)?.after,
          }),
        ),
      ]);
      const merged = updated.find(({ id }) => id === first.id) as ContactRow;
      const ids = others.map(({ id }) => id);
      await this.contacts.remove(tx, ctx, bookId, ids);
      const places = naming.map((row) => ({ id: row.id, members: cardOf(row).members }));
      const originals = rows.map((row) => ({
        ...originalOf(row, places),
        ...(row === first && { relations }),
      }));
      const merge = { addressbook_id: bookId, contact_id: merged.id, revision: merged.revision, originals };
      const mergeId = await this.duplicates.insert(tx, ctx, merge);
      return presentContact(merged, role, { extra: { merge_id: mergeId } });
    });
  }

  /** Restores the contacts of a merge. @throws ApiError 404, 403, 409 `merge_blocked` after a change of the merged contact */
  async undo(ctx: RequestContext, mergeId: string): Promise<JsonReply<UnmergedContactsEnvelope>> {
    const found = await this.duplicates.find(this.db, ctx, mergeId);
    if (!found) throw ContactErrors.mergeNotFound.with();
    const { addressbook_id: bookId, contact_id, revision } = found;
    const { role } = await this.access.requireWritable(ctx, bookId);
    const [original, ...others] = found.originals as Original[];
    return this.db.tx(async (tx) => {
      await this.contacts.lockBook(tx, ctx, bookId);
      if (!(await this.duplicates.delete(tx, ctx, mergeId))) throw ContactErrors.mergeNotFound.with();
      const [row] = await this.contacts.find(tx, ctx, bookId, 'id', [contact_id]);
      if (!row || !original) throw CONTACTS.notFound.with();
      if (row.revision !== revision) throw ContactErrors.mergeBlocked.with();
      const changed = differences(cardOf(row), original.card);
      const groupIds = others.flatMap(({ groups = [] }) => groups);
      const { relations = [] } = original;
      const namingIds = new Set([...groupIds, ...relations.map(({ id }) => id)]);
      const naming = await this.contacts.find(tx, ctx, bookId, 'id', [...namingIds]);
      const membersOf = (id: string) =>
        [original, ...others].filter((each) => each.groups?.includes(id)).map(({ uid }) => uid);
      const updated = await this.contacts.update(tx, ctx, bookId, [
        contactUpdate(row, original.card, changed, original.photo_id ?? null),
        ...naming.flatMap((other) => {
          const { members, related } = cardOf(other);
          const isPlace = groupIds.includes(other.id);
          return withReferences(other, {
            members: members.flatMap((uid) => (isPlace && uid === row.uid ? membersOf(other.id) : [uid])),
            // Relations that were changed since the merge stay.
            related: relations.find(({ id, after }) => id === other.id && isDeepStrictEqual(after, related))
              ?.before,
          });
        }),
      ]);
      const first = updated.find(({ id }) => id === row.id) as ContactRow;
      const values = others.map(
        ({ card: former, external_id: externalId, uid, source, photo_id: photoId, ...other }) => ({
          ...contactInsert(former, { externalId, uid, source, photoId }),
          base: other.revision,
          field_revisions: other.field_revisions,
        }),
      );
      const restored = await this.contacts.insert(tx, ctx, bookId, values);
      // A newer contact has the external_id or uid of a contact to restore: the user has to change that contact first.
      if (restored.length < values.length) throw ContactErrors.mergeBlocked.with();
      const byUid = new Map(restored.map((each) => [each.uid, each]));
      const followed = [original, ...others].flatMap((former) => {
        const after = former === original ? first : byUid.get(former.uid);
        const id = former === original ? contact_id : former.id;
        if (!after || id === undefined || former.revision === undefined) return [];
        return [{ before: { id, revision: former.revision }, after }];
      });
      await this.former.follow(tx, ctx, bookId, followed);
      const texts = [first, ...restored].map((each) => contactJson(each, role));
      return JsonReply.listOf('contacts', texts, {});
    });
  }
}

function originalOf(row: ContactRow, places: readonly { id: string; members: string[] }[]): Original {
  const { id, external_id, uid, source, photo_id, revision, field_revisions } = row;
  const groups = places.filter(({ members }) => members.includes(uid)).map(({ id }) => id);
  return { id, external_id, uid, source, card: cardOf(row), photo_id, revision, field_revisions, groups };
}

/** The update of a contact whose members and relations are replaced; none if they do not change. */
function withReferences(
  row: ContactRow,
  { members, related }: { members: string[]; related: CardRelated[] | undefined },
): ContactUpdate[] {
  const before = cardOf(row);
  const card = { ...before, members: [...new Set(members)], related: related ?? before.related };
  const changed = differences(before, card);
  return changed.length === 0 ? [] : [contactUpdate(row, card, changed)];
}

/** A relation to another contact, in the spelling that it has. */
function withTarget(related: CardRelated, replaced: (uid: string) => string): CardRelated {
  if (related.uri === null) return related;
  const uid = uidOf(related.uri);
  const target = replaced(uid);
  if (target === uid) return related;
  return { ...related, uri: related.uri === uid ? target : uidToUri(target) };
}

const distinct = (list: readonly CardRelated[]): CardRelated[] =>
  list.filter((each, n) => list.findIndex((other) => isDeepStrictEqual(each, other)) === n);

/** The photo of the first contact that has one. */
const firstPhoto = (rows: readonly ContactRow[]): string | null =>
  rows.find(({ photo_id }) => photo_id !== null)?.photo_id ?? null;

const reasonOf = (key: string): DuplicateReason =>
  key.startsWith('=') ? 'name' : key.startsWith('+') ? 'phone' : 'email';

/** Joins keys with common contacts: a group has all contacts that are connected by keys. */
function grouped(
  keys: readonly { word: string; ids: string[] }[],
): { ids: string[]; reasons: DuplicateReason[] }[] {
  const groupOf = new Map<string, { ids: Set<string>; reasons: Set<DuplicateReason> }>();
  for (const { word, ids } of keys) {
    const joint = { ids: new Set(ids), reasons: new Set([reasonOf(word)]) };
    for (const group of new Set(ids.flatMap((id) => groupOf.get(id) ?? []))) {
      for (const id of group.ids) joint.ids.add(id);
      for (const reason of group.reasons) joint.reasons.add(reason);
    }
    for (const id of joint.ids) groupOf.set(id, joint);
  }
  return [...new Set(groupOf.values())].map(({ ids, reasons }) => ({
    ids: [...ids].toSorted(),
    reasons: [...reasons].toSorted(),
  }));
}
