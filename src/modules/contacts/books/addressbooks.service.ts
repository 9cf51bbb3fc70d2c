import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { Audit } from '../../../platform/audit/audit.js';
import type { ExpectedRevision } from '../../../platform/concurrency/expected-revision.js';
import { type IdempotencyKey, IdempotentWrites } from '../../../platform/concurrency/idempotency.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { changedFields } from '../../../platform/database/rows.js';
import type { Tx } from '../../../platform/database/tx.js';
import { detailsAt, Errors } from '../../../platform/http/errors.js';
import type { Checked } from '../../../platform/http/input.pipe.js';
import { Cursors, type Page } from '../../../platform/paging/cursors.js';
import type { PageQuery } from '../../../platform/paging/page.dto.js';
import { QUOTAS } from '../../../platform/quotas/quotas.js';
import type { ReplyOf } from '../../../platform/resources/resource.js';
import { TenantsApi } from '../../tenants/index.js';
import { AddressbookAccess, DefaultBook } from '../addressbook-access.js';
import type { BookRole } from '../responses/contact.presenter.js';
import type { Addressbook, ShareRole } from '../contacts.entity.js';
import { ContactErrors, fieldError } from '../contacts.resource.js';
import { GlobalBook } from '../global-book.js';
import {
  type AddressbookResponse,
  ADDRESSBOOKS,
  type CreateAddressbook,
  type ListAllAddressbooks,
  type ShareInput,
  type UpdateAddressbook,
} from './addressbooks.dto.js';
import { AddressbooksRepository, type BookRow, type ListedBook } from './addressbooks.repository.js';

/** Books of a page of all books that a user sees. */
const ALL_BOOKS = 1_000;

type BookPage = Pick<PageQuery, 'cursor' | 'limit'>;

/** A book and the number of its last change. */
export interface HeadedBook {
  book: AddressbookResponse;
  head: number;
}

type BookValues = Partial<
  Pick<Addressbook, 'name' | 'description' | 'color' | 'default_country' | 'is_default' | 'locked_fields'>
>;

/** Address books: those of a user, those shared with them, and that of the workspace. */
@Injectable()
export class AddressbooksService {
  constructor(
    private readonly books: AddressbooksRepository,
    private readonly access: AddressbookAccess,
    private readonly global: GlobalBook,
    private readonly defaults: DefaultBook,
    private readonly tenants: TenantsApi,
    private readonly writes: IdempotentWrites,
    private readonly cursors: Cursors,
    private readonly audit: Audit,
    private readonly db: Db,
  ) {}

  /** Own and shared books. The first list creates the default one. */
  async list(ctx: RequestContext, query: PageQuery): Promise<ReplyOf<typeof ADDRESSBOOKS, 'list'>> {
    await this.defaults.idOf(ctx);
    return this.present(ctx, await this.rows(ctx, query, false));
  }

  /** All books that the caller sees, that of the workspace included. */
  async listAll(
    ctx: RequestContext,
    { cursor }: ListAllAddressbooks,
  ): Promise<ReplyOf<typeof ADDRESSBOOKS, 'list'>> {
    return this.present(ctx, await this.pageOfAll(ctx, cursor));
  }

  /** As `listAll`, with all pages. */
  async readAll(ctx: RequestContext): Promise<HeadedBook[]> {
    const found: ListedBook[] = [];
    let cursor: string | undefined;
    do {
      const { rows, next } = await this.pageOfAll(ctx, cursor);
      found.push(...rows);
      cursor = next ?? undefined;
    } while (cursor !== undefined);
    return this.presentHeads(ctx, found);
  }

  /** A page of all books. The first read creates those that each user sees. */
  private async pageOfAll(ctx: RequestContext, cursor: string | undefined): Promise<Page<ListedBook>> {
    const query = { cursor, limit: ALL_BOOKS };
    const page = await this.rows(ctx, query, true);
    const hasUsual =
      page.rows.some((book) => book.role === 'owner' && book.is_default) &&
      page.rows.some(({ kind }) => kind === 'global');
    if (hasUsual) return page;
    await this.defaults.idOf(ctx);
    await this.global.create(ctx);
    return this.rows(ctx, query, true);
  }

  private async present(
    ctx: RequestContext,
    { rows, next }: Page<ListedBook>,
  ): Promise<ReplyOf<typeof ADDRESSBOOKS, 'list'>> {
    return ADDRESSBOOKS.page(await this.presentBooks(ctx, rows), next);
  }

  private rows(ctx: RequestContext, query: BookPage, withGlobal: boolean): Promise<Page<ListedBook>> {
    return this.cursors.page(query, {
      scope: `${withGlobal ? 'all ' : ''}addressbooks ${ctx.tenantId} ${ctx.userId}`,
      key: (book: ListedBook): [string] => [book.id],
      fits: (book) => book.fits,
      rows: (after, limit) => this.books.list(ctx, after, limit, withGlobal),
    });
  }

  /** @throws ApiError 404 */
  async read(ctx: RequestContext, id: string): Promise<ReplyOf<typeof ADDRESSBOOKS, 'item'>> {
    return ADDRESSBOOKS.response((await this.readHead(ctx, id)).book);
  }

  /** @throws ApiError 404 */
  async readHead(ctx: RequestContext, id: string): Promise<HeadedBook> {
    const [found] = await this.presentHeads(ctx, [await this.found(ctx, id)]);
    return found as HeadedBook;
  }

  /** @throws ApiError 422 `unknown_user`, `too_many_addressbooks` */
  async create(
    ctx: RequestContext,
    key: IdempotencyKey | null,
    input: CreateAddressbook,
    bookId: string = uuidv7(),
  ): Promise<ReplyOf<typeof ADDRESSBOOKS, 'item'>> {
    const { description = '', color = null, default_country = null, is_default = false, shares = [] } = input;
    const roles = await this.roles(ctx, shares);
    return this.writes.runTx(ctx, key, async (tx) => {
      await this.books.lock(tx, ctx);
      if ((await this.books.count(tx, ctx)) >= QUOTAS.user.addressbooks)
        throw ContactErrors.tooManyBooks.with();
      const values = {
        name: input.name,
        description,
        color,
        default_country,
        is_default,
      };
      const id = await this.books.insert(tx, ctx, values, bookId);
      await this.books.share(tx, ctx.tenantId, id, roles);
      await this.log(tx, ctx, 'addressbook.created', id, {
        name: input.name,
        shares: Object.fromEntries(roles),
      });
      return ADDRESSBOOKS.created(id, await this.readWritten(tx, ctx, id));
    });
  }

  /**
   * Only the owner changes a book; the book of the workspace, holders of `contacts.global.manage`.
   * @throws ApiError 404, 403, 409 `conflict`, 422
   */
  async update(
    ctx: RequestContext,
    id: string,
    body: Checked<UpdateAddressbook>,
    expected: ExpectedRevision,
  ): Promise<ReplyOf<typeof ADDRESSBOOKS, 'item'>> {
    const isManager = id === ctx.tenantId && (await this.access.requireReadable(ctx, id)).role === 'writer';
    const named = await body.map(async (input) => {
      if (!input.shares) return { input, roles: undefined };
      const present = (await this.books.find(ctx, id))?.shares.map(({ user_id }) => user_id);
      return { input, roles: await this.roles(ctx, input.shares, present) };
    });
    return this.db.tx(async (tx) => {
      await this.books.lock(tx, ctx);
      const book = await this.books.find(ctx, id, tx);
      if (!book) throw ADDRESSBOOKS.notFound.with();
      if (book.role !== 'owner' && !isManager) throw Errors.forbidden.with();
      const checked = await named.map(async ({ input, roles }) => ({ values: valuesOf(input, book), roles }));
      await ADDRESSBOOKS.checkWrite(book, expected, checked, () => present(book, 'writer'));
      const { values, roles } = checked.value;
      const before = Object.fromEntries(book.shares.map(({ user_id, role }) => [user_id, role]));
      const changes = changedFields<BookValues>(stored(book), values);
      const shared = roles && changedFields({ shares: before }, { shares: Object.fromEntries(roles) });
      if (!changes && !shared) return ADDRESSBOOKS.response(present(book, 'writer'));
      await this.books.update(tx, ctx, id, changes ?? {});
      if (roles) await this.books.share(tx, ctx.tenantId, id, roles);
      await this.log(tx, ctx, 'addressbook.updated', id, { ...changes, ...shared });
      return ADDRESSBOOKS.response(await this.readWritten(tx, ctx, id));
    });
  }

  /** Deletes an own book with its contacts; a user with whom a book is shared leaves it. @throws ApiError 404, 403, 409 */
  async delete(
    ctx: RequestContext,
    id: string,
    expected: ExpectedRevision,
  ): Promise<ReplyOf<typeof ADDRESSBOOKS, 'deleted'>> {
    await this.found(ctx, id);
    return this.db.tx(async (tx) => {
      await this.books.lock(tx, ctx);
      const book = await this.books.find(ctx, id, tx);
      if (!book) throw ADDRESSBOOKS.notFound.with();
      if (book.kind === 'global' || (book.kind === 'collected' && book.role === 'owner'))
        throw Errors.forbidden.with();
      const shown = present(book, 'reader');
      await ADDRESSBOOKS.checkWrite(book, expected, null, () => shown);
      if (book.is_default && book.role === 'owner') throw ContactErrors.defaultBook.with();
      const isOwner = book.role === 'owner';
      await (isOwner ? this.books.remove(tx, ctx, id) : this.books.leave(tx, ctx, id));
      await this.log(tx, ctx, isOwner ? 'addressbook.deleted' : 'addressbook.left', id, { name: book.name });
      return ADDRESSBOOKS.deleted(shown);
    });
  }

  private async found(ctx: RequestContext, id: string): Promise<BookRow> {
    const book =
      (await this.books.find(ctx, id)) ??
      ((await this.global.create(ctx, id)) ? await this.books.find(ctx, id) : null);
    if (!book) throw ADDRESSBOOKS.notFound.with();
    return book;
  }

  /** A book that the caller has just written. */
  private async readWritten(tx: Tx, ctx: RequestContext, id: string): Promise<AddressbookResponse> {
    return present((await this.books.find(ctx, id, tx)) as BookRow, 'writer');
  }

  /** @param present ids of users who have the book and may be deactivated @throws ApiError 422 `unknown_user` */
  private async roles(
    ctx: RequestContext,
    shares: readonly ShareInput[],
    present: readonly string[] = [],
  ): Promise<Map<string, ShareRole>> {
    const names = shares.map(({ id, user_id, email }) => (user_id ?? id ?? email ?? '').trim().toLowerCase());
    const ids = await this.tenants.findActiveMembers(this.db, ctx.tenantId, names.filter(Boolean), present);
    const unknown = names.flatMap((name, n) => (ids.has(name) ? [] : [n]));
    if (unknown.length > 0) {
      const details = detailsAt(
        'shares',
        unknown,
        'unknown_user',
        'is not an active member of this workspace',
      );
      throw ContactErrors.unknownUser.with({ details });
    }
    const roles = new Map(
      names.map((name, n) => [ids.get(name) as string, shares[n]?.role ?? 'reader'] as const),
    );
    roles.delete(ctx.userId);
    return roles;
  }

  private async presentBooks(ctx: RequestContext, books: readonly BookRow[]): Promise<AddressbookResponse[]> {
    const global = books.some(({ role }) => role === 'global')
      ? await this.access.roleOf(ctx, 'global')
      : 'reader';
    return books.map((book) => present(book, global));
  }

  private async presentHeads(ctx: RequestContext, books: readonly BookRow[]): Promise<HeadedBook[]> {
    const presented = await this.presentBooks(ctx, books);
    return presented.map((book, n) => ({ book, head: (books[n] as BookRow).head }));
  }

  private async log(
    tx: Tx,
    ctx: RequestContext,
    action: string,
    objectId: string,
    data: object,
  ): Promise<void> {
    await this.audit.record(tx, ctx, { action, objectKind: 'addressbook', objectId, data: { ...data } });
  }
}

/** @param global the role of the caller in the address book of the workspace */
function present(book: BookRow, global: BookRole): AddressbookResponse {
  const { id, name, description, color, kind, is_default, owner, shares, default_country } = book;
  const isOwner = book.role === 'owner';
  return {
    id,
    name,
    description,
    color,
    kind: kind === 'global' || isOwner ? kind : 'shared',
    is_default: is_default && isOwner,
    role: book.role === 'global' ? global : book.role,
    owner,
    shares,
    default_country,
    locked_fields: book.locked_fields,
    contacts_count: book.contacts_count,
    revision: book.revision,
    created_at: book.created_at.toISOString(),
    updated_at: book.updated_at.toISOString(),
  };
}

const stored = ({
  name,
  description,
  color,
  default_country,
  is_default,
  locked_fields,
}: BookRow | UpdateAddressbook): BookValues => ({
  name,
  description,
  color,
  default_country,
  is_default,
  locked_fields,
});

/** @throws ApiError 422 for a value that this book cannot have */
function valuesOf(input: UpdateAddressbook, { kind, is_default }: BookRow): BookValues {
  const isGlobal = kind === 'global';
  if (isGlobal && input.shares?.length)
    throw fieldError('shares', 'not_shared', 'cannot be set: all members see this address book');
  if (kind === 'collected' && input.shares?.length)
    throw fieldError('shares', 'not_shared', 'cannot be set: only its owner sees this address book');
  if (kind !== 'personal' && input.is_default)
    throw fieldError('is_default', 'not_default', 'cannot be set in this address book');
  if (!isGlobal && input.locked_fields?.length)
    throw fieldError('locked_fields', 'not_global', 'can be set in the address book of the workspace only');
  if (is_default && input.is_default === false)
    throw fieldError('is_default', 'not_cleared', 'is cleared by another default address book');
  return stored(input);
}
