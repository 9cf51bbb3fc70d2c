import { Injectable } from '@nestjs/common';
import { v5 as uuidv5 } from 'uuid';
import { type XmlElement, xmlText } from '../../../lib/xml/index.js';
import { ExpectedRevision } from '../../../platform/concurrency/expected-revision.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { ApiError } from '../../../platform/http/errors.js';
import { isUuid } from '../../../platform/http/id.pipe.js';
import { Checked, validated } from '../../../platform/http/input.pipe.js';
import { isStorable } from '../../../platform/http/storable-text.js';
import {
  type AccessedBook,
  AddressbooksService,
  CardChanges,
  type CardText,
  ContactCards,
  ContactErrors,
  CreateAddressbook,
  type HeadedBook,
  UpdateAddressbook,
} from '../../contacts/index.js';
import { DavError, forbidden, isMissing, MAX_RESOURCE, notFound, utf8Of } from '../model/body.js';
import {
  type Collection,
  collectionProperties,
  type Collections,
  type ContentOptions,
  type EtagCheck,
  type Member,
  privileges,
  type PropertyChanges,
  reports,
  type Stored,
} from '../model/collection.js';
import { assertCardFilter, COLLATIONS, matchesCard } from '../model/filters.js';
import { childOf, type PropertyValue } from '../model/multistatus.js';
import { paths } from '../model/paths.js';
import { carddav, dav, element, href, infIt, type XmlName } from '../model/xml-names.js';

const EXTENSION = '.vcf';
/** Ends the external_id of a contact whose name lacks the extension. */
const MARK = '.';

/**
 * The external_id of the contact with a name in a path: the name without its extension, or the whole name with a mark. Different names
 * have different external_ids.
 */
export function externalIdOf(name: string): string {
  const stem = name.slice(0, -EXTENSION.length);
  return name.endsWith(EXTENSION) && stem !== '' && !isMarked(stem) ? stem : name + MARK;
}

/** The name of a contact in a path; `externalIdOf` returns its external_id. */
export const cardName = (externalId: string): string =>
  isMarked(externalId) ? externalId.slice(0, -MARK.length) : externalId + EXTENSION;

/** Whether an external_id is that of a name without the extension. */
function isMarked(externalId: string): boolean {
  const name = externalId.slice(0, -MARK.length);
  return externalId.endsWith(MARK) && name !== '' && externalIdOf(name) === externalId;
}

const NAME = dav('displayname');
const DESCRIPTION = carddav('addressbook-description');
const COLOR = infIt('addressbook-color');
/** Characters of a name in a path: those of an external_id, with its extension. */
const MAX_NAME = 250;

/** Paths of the HTTP API that are no contacts. */
const RESERVED: ReadonlySet<string> = new Set(['sync', '.', '..']);

const DATA = ['3.0', '4.0']
  .map((version) => `<A:address-data-type content-type="text/vcard" version="${version}"/>`)
  .join('');
const COLLATION_SET = COLLATIONS.map((name) => element(carddav('supported-collation'), name)).join('');
const REPORTS = reports([
  dav('sync-collection'),
  carddav('addressbook-multiget'),
  carddav('addressbook-query'),
]);

const PRIVILEGES = dav('current-user-privilege-set');
const [OF_WRITERS, OF_READERS] = [privileges(true), privileges(false)];

/** The properties that all address books share. */
const FIXED: [XmlName, PropertyValue][] = [
  [dav('resourcetype'), '<D:collection/><A:addressbook/>'],
  [dav('supported-report-set'), REPORTS],
  [carddav('supported-address-data'), DATA],
  [carddav('supported-collation-set'), COLLATION_SET],
  [carddav('max-resource-size'), String(MAX_RESOURCE)],
];

/** Address books as collections of contacts. */
@Injectable()
export class AddressbookCollections implements Collections {
  readonly space = 'addressbooks';
  readonly contentProperty = carddav('address-data');

  /** The books of opened collections, so that the access is read once in a request. */
  private readonly opened = new WeakMap<Collection, AccessedBook>();

  constructor(
    private readonly books: AddressbooksService,
    private readonly cards: ContactCards,
    private readonly feed: CardChanges,
  ) {}

  async list(ctx: RequestContext): Promise<Collection[]> {
    return (await this.books.readAll(ctx)).map((found) => this.presentBook(ctx, found, found.book.id));
  }

  find(ctx: RequestContext, segment: string): Promise<Collection> {
    return this.named(ctx, segment, async (id) =>
      this.presentBook(ctx, await this.books.readHead(ctx, id), segment),
    );
  }

  // The next method finds the book by the segment, and checks the access.
  open(ctx: RequestContext, segment: string): Promise<Collection> {
    const [id] = idsOf(ctx, segment);
    const rest = { properties: new Map(), isWritable: true, isDefault: false };
    return Promise.resolve({ ...collectionOf(ctx, id as string, segment), ...rest });
  }

  async *members(ctx: RequestContext, collection: Collection): AsyncGenerator<Member[]> {
    for await (const page of this.cards.names(ctx, await this.bookOf(ctx, collection)))
      yield page.map(({ externalId, etag }) => ({ name: cardName(externalId), etag }));
  }

  async *read(
    ctx: RequestContext,
    collection: Collection,
    names: readonly string[],
    { version }: ContentOptions,
  ): AsyncGenerator<Member[]> {
    const ids = [...new Set(names.filter(isStorable).map(externalIdOf))];
    const wanted = new Set(names);
    const read = (id: string) => this.cards.ofIds(ctx, id, ids, version);
    for await (const page of this.namedPages(ctx, collection.segment, read))
      yield page.map(memberOf).filter(({ name }) => wanted.has(name));
  }

  async *query(
    ctx: RequestContext,
    collection: Collection,
    report: XmlElement,
    { version }: ContentOptions,
  ): AsyncGenerator<Member[]> {
    const book = await this.bookOf(ctx, collection);
    const filter = childOf(report, carddav('filter'));
    if (filter) assertCardFilter(filter);
    for await (const names of this.cards.names(ctx, book)) {
      const ids = names.map(({ externalId }) => externalId);
      for await (const page of this.cards.ofIds(ctx, book.id, ids, version))
        yield page.filter(({ text }) => matchesCard(filter, text)).map(memberOf);
    }
  }

  async changes(ctx: RequestContext, collection: Collection, token: string | null, limit: number) {
    const book = await this.bookOf(ctx, collection);
    const { changes, cursor, hasMore } = await this.feed.readSince(ctx, book, token, limit);
    const named = changes.map(({ externalId, etag }) => ({ name: cardName(externalId), etag }));
    return { changes: named, token: cursor, hasMore };
  }

  async put(
    ctx: RequestContext,
    collection: Collection,
    name: string,
    body: Buffer,
    check: EtagCheck,
  ): Promise<Stored> {
    const { id, role } = await this.bookOf(ctx, collection);
    if (role === 'reader') throw forbidden();
    if (name.length > MAX_NAME || !isStorable(name) || RESERVED.has(externalIdOf(name)))
      throw new DavError(403, null, `A name has at most ${MAX_NAME} characters, and is no reserved word.`);
    const isNew = await this.cards
      .put(ctx, id, externalIdOf(name), utf8Of(body), check)
      .catch((error: unknown) => {
        throw asDavError(error, collection.path);
      });
    return { isNew };
  }

  async remove(ctx: RequestContext, collection: Collection, name: string, check: EtagCheck): Promise<void> {
    const { id } = await this.bookOf(ctx, collection);
    if (!isStorable(name)) throw notFound();
    await this.cards.remove(ctx, id, externalIdOf(name), check);
  }

  async create(ctx: RequestContext, segment: string, properties: PropertyChanges): Promise<void> {
    const { values } = fieldsOf(properties);
    const input = validated(CreateAddressbook, { name: segment, ...values });
    await this.books.create(ctx, null, input, idOf(ctx, segment));
  }

  settable(_collection: Collection, properties: PropertyChanges): Set<XmlName> {
    return fieldsOf(properties).names;
  }

  async update(ctx: RequestContext, { id }: Collection, properties: PropertyChanges): Promise<void> {
    const body = Checked.of(UpdateAddressbook, fieldsOf(properties).values);
    await this.books.update(ctx, id, body, anyRevision(id));
  }

  async delete(ctx: RequestContext, collection: Collection): Promise<void> {
    const { id } = await this.bookOf(ctx, collection);
    await this.books.delete(ctx, id, anyRevision(id));
  }

  private async bookOf(ctx: RequestContext, collection: Collection): Promise<AccessedBook> {
    const known = this.opened.get(collection);
    if (known) return known;
    const book = await this.named(ctx, collection.segment, (id) => this.cards.open(ctx, id));
    this.opened.set(collection, book);
    return book;
  }

  /** Reads a book by its id, or by the name with which a program created it. @throws DavError 404 */
  private async named<T>(ctx: RequestContext, segment: string, read: (id: string) => Promise<T>): Promise<T> {
    for (const id of idsOf(ctx, segment)) {
      try {
        return await read(id);
      } catch (error) {
        if (!isMissing(error)) throw error;
      }
    }
    throw notFound();
  }

  /** As `named`, for pages of a book. */
  private async *namedPages<T>(
    ctx: RequestContext,
    segment: string,
    read: (id: string) => AsyncGenerator<T>,
  ): AsyncGenerator<T> {
    for (const id of idsOf(ctx, segment)) {
      try {
        return yield* read(id);
      } catch (error) {
        if (!isMissing(error)) throw error;
      }
    }
    throw notFound();
  }

  private presentBook(ctx: RequestContext, { book, head }: HeadedBook, segment: string): Collection {
    const isWritable = book.role !== 'reader';
    const properties: [XmlName, PropertyValue][] = [
      ...collectionProperties({ name: book.name, ownerId: book.owner?.id ?? null, userId: ctx.userId }, () =>
        this.feed.cursorAt(ctx, book.id, head),
      ),
      ...FIXED,
      [PRIVILEGES, isWritable ? OF_WRITERS : OF_READERS],
      [DESCRIPTION, xmlText(book.description)],
      ...(book.color === null ? [] : ([[COLOR, book.color]] as [XmlName, string][])),
    ];
    const rest = { properties: new Map(properties), isWritable, isDefault: book.is_default };
    return { ...collectionOf(ctx, book.id, segment), ...rest };
  }
}

const collectionOf = ({ userId }: RequestContext, id: string, segment: string) => ({
  id,
  kind: 'contacts' as const,
  contentType: 'text/vcard; charset=utf-8',
  segment,
  path: paths.collection('addressbooks', userId, segment),
});

const memberOf = ({ externalId, etag, text }: CardText): Member => ({
  name: cardName(externalId),
  etag,
  text,
});

const anyRevision = (id: string): ExpectedRevision =>
  ExpectedRevision.read('addressbook', id, undefined, undefined, true);

/** The id of a book that a program creates with this segment. */
const idOf = ({ userId }: RequestContext, segment: string): string =>
  uuidv5(`addressbook ${segment.toLowerCase()}`, userId);

/** The ids that a segment may name: that of a book, and that of a book that a program created with it. */
function* idsOf(ctx: RequestContext, segment: string): Generator<string> {
  if (isUuid(segment)) yield segment.toLowerCase();
  yield idOf(ctx, segment);
}

/** Errors of a card, with the condition that RFC 6352, 6.3.2.1, names. */
function asDavError(error: unknown, path: string): unknown {
  if (!(error instanceof ApiError)) return error;
  if (error.kind === ContactErrors.duplicateUid) {
    const { contact } = error.extras.body as { contact: { external_id: string } };
    const detail = href(paths.member(path, cardName(contact.external_id)));
    return new DavError(409, carddav('no-uid-conflict'), error.message, detail);
  }
  return error.kind.status === 422 ? new DavError(403, carddav('valid-address-data'), error.message) : error;
}

/** The fields of the API that properties set. */
function fieldsOf(properties: PropertyChanges): { values: Record<string, unknown>; names: Set<XmlName> } {
  const values: Record<string, unknown> = {};
  const names = new Set<XmlName>();
  for (const [name, value] of properties) {
    const text = value?.text.trim() ?? '';
    if (name === NAME && text) values['name'] = text;
    else if (name === DESCRIPTION) values['description'] = text;
    else if (name === COLOR && /^#[0-9a-f]{6}/i.test(text)) values['color'] = text.slice(0, 7);
    else continue;
    names.add(name);
  }
  return { values, names };
}
