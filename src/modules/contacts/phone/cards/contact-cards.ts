import { Injectable } from '@nestjs/common';
import { differences } from '../../../../lib/contact-card/index.js';
import {
  type Card,
  type CardProperty,
  type CardVersion,
  countCards,
  MEDIA_FAMILY,
  readCard,
  uidOf,
  VcardError,
  withStoredSpelling,
} from '../../../../lib/vcard/index.js';
import { PAGE_BYTES } from '../../../../platform/bounded-pages/page-bytes.js';
import { revisionTag } from '../../../../platform/concurrency/expected-revision.js';
import type { RequestContext } from '../../../../platform/context/request-context.js';
import { ConcurrentChangeError } from '../../../../platform/database/database-errors.js';
import { Db } from '../../../../platform/database/db.js';
import { workspace } from '../../../../platform/database/statement.js';
import type { Tx } from '../../../../platform/database/tx.js';
import { Errors, fieldError } from '../../../../platform/http/errors.js';
import { QUOTAS } from '../../../../platform/quotas/quotas.js';
import { type AccessedBook, AddressbookAccess } from '../../addressbook-access.js';
import { BOOK_ACCESS } from '../../contact-access.js';
import { ContactPhotos } from '../../contact-photos.js';
import type { Contact } from '../../contacts.entity.js';
import { ContactsRepository } from '../../contacts.repository.js';
import { ContactErrors, CONTACTS } from '../../contacts.resource.js';
import { phoneCountry } from '../../input/contact.dto.js';
import { contactInsert, contactUpdate } from '../../model/contact-values.js';
import {
  canEdit,
  cardOf,
  type ContactRow,
  duplicateError,
  photoOf,
  vcardText,
} from '../../responses/contact.presenter.js';
import { fromVcard, type ImportedCard } from '../import-cards.js';
import { ImportPhotos } from '../import-photos.js';

/** A contact without its content. */
export type ContactName = Pick<Contact, 'id' | 'external_id' | 'revision' | 'sort_key'>;

// Index contacts_by_name.
const readNames = workspace.statement<ContactName>(
  'contacts.card_names',
  `SELECT id, external_id, revision, sort_key FROM contacts
    WHERE tenant_id = $1 AND addressbook_id = $2 AND gone_at IS NULL
      AND ($3::text IS NULL OR (sort_key, id) > ($3, $4::uuid))
    ORDER BY sort_key, id LIMIT $5`,
);

/** What the text of a contact is made of. */
type CardRow = Pick<
  ContactRow,
  'id' | 'external_id' | 'uid' | 'card' | 'photo_id' | 'revision' | 'updated_at'
>;

// Index contacts_external_id. As for a read of one contact, the plan is that for an empty table until the ANALYZE after the first contacts.
const readCards = workspace.statement<CardRow | { id: null }>(
  'contacts.cards',
  `SELECT contact.id, contact.external_id, contact.uid, contact.card::text AS card, contact.photo_id, contact.revision, contact.updated_at
     FROM ${BOOK_ACCESS} access
     LEFT JOIN contacts contact ON contact.tenant_id = $1 AND contact.addressbook_id = $3 AND contact.external_id = ANY ($4::text[])
      AND contact.gone_at IS NULL`,
);

/** SQL of the names and cards of address books. */
@Injectable()
export class ContactCardsRepository {
  constructor(private readonly db: Db) {}

  /** A page of names. The caller has checked the access. @param after the last contact of the page before */
  async names(
    tenantId: string,
    bookId: string,
    after: ContactName | null,
    limit: number,
  ): Promise<ContactName[]> {
    return this.db.query(readNames, [tenantId, bookId, after?.sort_key ?? null, after?.id ?? null, limit]);
  }

  /** The contacts with these ids, in any order. No row: the caller does not see the book; one row without id: it has none of them. */
  async cards(
    { tenantId, userId }: RequestContext,
    bookId: string,
    externalIds: readonly string[],
  ): Promise<(CardRow | { id: null })[]> {
    return this.db.query(readCards, [tenantId, userId, bookId, externalIds]);
  }
}

/** A contact of an address book as a resource of its own. */
export interface NamedCard {
  externalId: string;
  etag: string;
}

export interface CardText extends NamedCard {
  text: string;
}

/** Decides about a write. @param etag null: the book has no such contact. @throws to stop the write */
export type TagCheck = (etag: string | null) => void;

const NAMES = 1_000;
/** Contacts of one query. */
const BATCH = 50;

/** The contacts of address books as vCards: what CardDAV serves. */
@Injectable()
export class ContactCards {
  constructor(
    private readonly rows: ContactCardsRepository,
    private readonly contacts: ContactsRepository,
    private readonly access: AddressbookAccess,
    private readonly photos: ContactPhotos,
    private readonly newPhotos: ImportPhotos,
    private readonly db: Db,
  ) {}

  /** A book that the caller sees. @throws ApiError 404 */
  open(ctx: RequestContext, bookId: string): Promise<AccessedBook> {
    return this.access.requireReadable(ctx, bookId);
  }

  /** All contacts without their content, in pages. */
  async *names({ tenantId }: RequestContext, { id }: AccessedBook): AsyncGenerator<NamedCard[]> {
    for (let after: ContactName | null = null; ;) {
      const rows: ContactName[] = await this.rows.names(tenantId, id, after, NAMES);
      yield rows.map((row) => ({ externalId: row.external_id, etag: cardTag(row) }));
      if (rows.length < NAMES) return;
      after = rows.at(-1) ?? null;
    }
  }

  /**
   * The contacts with these ids, in pages by the bytes of their texts, which contain photos.
   * @throws ApiError 404 for a book that the caller does not see
   */
  async *ofIds(
    ctx: RequestContext,
    bookId: string,
    externalIds: readonly string[],
    version: CardVersion,
  ): AsyncGenerator<CardText[]> {
    // Without ids, too: the statement checks the access.
    for (let at = 0; at === 0 || at < externalIds.length; at += BATCH) {
      const ids = externalIds.slice(at, at + BATCH);
      const rows = await this.access.reading(ctx, bookId, () => this.rows.cards(ctx, bookId, ids));
      let [texts, bytes]: [CardText[], number] = [[], 0];
      for (const row of rows) {
        if (row.id === null) continue;
        const photo = await this.photos.forCard(ctx.tenantId, row.photo_id);
        const text = vcardText(row, version, photo);
        texts.push({ externalId: row.external_id, etag: cardTag(row), text });
        bytes += text.length;
        if (bytes < PAGE_BYTES) continue;
        yield texts;
        [texts, bytes] = [[], 0];
      }
      if (texts.length > 0) yield texts;
    }
  }

  /**
   * Creates or replaces a contact. One that differs in nothing is not written.
   * @param text one vCard
   * @returns whether the contact is new
   * @throws ApiError 404, 403, 409 `duplicate_uid`, 422
   */
  async put(
    ctx: RequestContext,
    bookId: string,
    externalId: string,
    text: string,
    check: TagCheck,
  ): Promise<boolean> {
    const book = await this.access.requireWritable(ctx, bookId);
    // The others would be lost (RFC 6352, 5.1).
    if ((await countCards([Buffer.from(text)])) > 1)
      throw fieldError('', 'several_cards', 'The text contains more than one vCard.');
    const given = read(text, phoneCountry(book.default_country));
    const { entry } = given;
    const stored = await this.newPhotos.store(ctx.tenantId, [entry]);
    const photoId = (entry.photo && stored.get(entry.photo.hash)) ?? null;
    return this.db.tx((tx) => this.write(tx, ctx, book, externalId, given, photoId, check));
  }

  /** @throws ApiError 404, 403 */
  async remove(ctx: RequestContext, bookId: string, externalId: string, check: TagCheck): Promise<void> {
    const book = await this.access.requireWritable(ctx, bookId);
    await this.db.tx(async (tx) => {
      await this.contacts.lockBook(tx, ctx, bookId);
      const [row] = await this.contacts.find(tx, ctx, bookId, 'external_id', [externalId]);
      check(row ? cardTag(row) : null);
      if (!row) throw CONTACTS.notFound.with();
      if (!canEdit(book.role, row)) throw Errors.forbidden.with();
      await this.contacts.remove(tx, ctx, bookId, [row.id]);
    });
  }

  private async write(
    tx: Tx,
    ctx: RequestContext,
    book: AccessedBook,
    externalId: string,
    given: GivenCard,
    photoId: string | null,
    check: TagCheck,
  ): Promise<boolean> {
    const count = await this.contacts.lockBook(tx, ctx, book.id);
    if (count === undefined) throw ContactErrors.bookNotFound.with();
    const [row] = await this.contacts.find(tx, ctx, book.id, 'external_id', [externalId]);
    check(row ? cardTag(row) : null);
    const { entry: card, statedUid } = given;
    if (!row) {
      if (count >= QUOTAS.item.contacts_of_addressbook) throw ContactErrors.bookFull.with();
      await this.insert(tx, ctx, book, externalId, card, photoId);
      return true;
    }
    if (!canEdit(book.role, row)) throw Errors.forbidden.with();
    if (statedUid !== null && uidOf(statedUid) !== uidOf(row.uid))
      await this.rejectUid(tx, ctx, book, row, statedUid);
    const stored = cardOf(row);
    const next = { ...card.card, custom: withStoredSpelling(card.card.custom, stored.custom) };
    const changed = differences(stored, next);
    const photo = samePhoto(row, card) ? row.photo_id : photoId;
    if (changed.length === 0 && photo === row.photo_id) return false;
    const [after] = await this.contacts.update(tx, ctx, book.id, [contactUpdate(row, next, changed, photo)]);
    if (!after) throw new ConcurrentChangeError('the contact has changed');
    return false;
  }

  private async insert(
    tx: Tx,
    ctx: RequestContext,
    book: AccessedBook,
    externalId: string,
    { card, uid }: ImportedCard,
    photoId: string | null,
  ): Promise<void> {
    const values = contactInsert(card, { externalId, uid, photoId });
    const [made] = await this.contacts.insert(tx, ctx, book.id, [values]);
    if (made) return;
    const [same] = await this.contacts.find(tx, ctx, book.id, 'uid', [uid]);
    if (!same) throw new ConcurrentChangeError('the contact with this external_id or uid was deleted');
    throw duplicateError(ContactErrors.duplicateUid, same, book.role);
  }

  /** The contact cannot get another UID. @throws ApiError 409 `duplicate_uid` with the contact that has it, or else this one */
  private async rejectUid(
    tx: Tx,
    ctx: RequestContext,
    book: AccessedBook,
    row: ContactRow,
    uid: string,
  ): Promise<never> {
    const [same = row] = await this.contacts.find(tx, ctx, book.id, 'uid', [uid]);
    throw duplicateError(ContactErrors.duplicateUid, same, book.role);
  }
}

/** The tag of a contact, the same as in JSON. */
export const cardTag = ({ id, revision }: Pick<ContactRow, 'id' | 'revision'>): string =>
  revisionTag(CONTACTS.kind, id, revision);

interface GivenCard {
  entry: ImportedCard;
  /** The UID in the text, as it is stored; null: the text has none. */
  statedUid: string | null;
}

/** The names of properties with files only. A contact is worth more than a large logo, which it does not keep. */
function mediaOf({ custom }: Card): ReadonlySet<string> {
  const isFile = ({ value }: CardProperty): boolean => value.startsWith('data:');
  const texts = new Set(custom.filter((property) => !isFile(property)).map(({ name }) => name));
  const files = custom.map(({ name }) => name).filter((name) => !texts.has(name));
  return new Set([...MEDIA_FAMILY.keys(), ...files]);
}

/** @throws ApiError 422, also for a value beyond a limit */
function read(text: string, country: string | null): GivenCard {
  try {
    const card = readCard(text);
    const entry = fromVcard({ index: 0, card }, country);
    if ('error' in entry) throw fieldError('', entry.error, entry.message);
    // The program would read the card without these values, and lose its own.
    const media = mediaOf(card);
    const lost = entry.omitted.filter((name) => !media.has(name));
    if (lost.length > 0)
      throw fieldError('', 'value_too_large', `A part of these is beyond a limit: ${lost.join(', ')}.`);
    return { entry, statedUid: card.uid === null ? null : entry.uid };
  } catch (error) {
    if (!(error instanceof VcardError)) throw error;
    throw fieldError('', error.code, error.message);
  }
}

/** Whether a card has the photo of the contact, as it was stored. */
function samePhoto(row: ContactRow, { photo }: ImportedCard): boolean {
  const stored = photoOf(row);
  return stored === null ? photo === null : photo?.hash === stored.sha256;
}
