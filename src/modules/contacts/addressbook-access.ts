import { Injectable } from '@nestjs/common';
import { PermissionSource } from '../../platform/context/permission-source.js';
import type { RequestContext } from '../../platform/context/request-context.js';
import { Db } from '../../platform/database/db.js';
import { workspace } from '../../platform/database/statement.js';
import type { Reader } from '../../platform/database/tx.js';
import { Errors } from '../../platform/http/errors.js';
import type { BookRole } from './contact.presenter.js';
import { BOOK_ACCESS, type StoredRole } from './contacts.repository.js';
import { ContactErrors } from './contacts.errors.js';
import { GlobalBook } from './global-book.js';

/** An address book that the caller sees. */
export interface AccessedBook {
  id: string;
  kind: 'personal' | 'global';
  default_country: string | null;
  locked_fields: string[];
  contacts_count: number;
  role: BookRole;
}

const access = workspace.statement<Omit<AccessedBook, 'role'> & { role: StoredRole }>(
  'contacts.access',
  `SELECT id, kind, default_country, locked_fields, contacts_count, role FROM ${BOOK_ACCESS} access`,
);

/** Access of callers to address books. */
@Injectable()
export class AddressbookAccess {
  constructor(
    private readonly permissions: PermissionSource,
    private readonly global: GlobalBook,
    private readonly db: Db,
  ) {}

  /** @throws ApiError 404 */
  async readable(ctx: RequestContext, bookId: string, reader: Reader = this.db): Promise<AccessedBook> {
    const { tenantId, userId } = ctx;
    const read = () => reader.query(access, [tenantId, userId, bookId]);
    const [book] = await read();
    const found = book ?? ((await this.global.create(ctx, bookId)) ? (await read())[0] : undefined);
    if (!found) throw ContactErrors.bookNotFound.with();
    return { ...found, role: await this.roleOf(ctx, found.role) };
  }

  /** @throws ApiError 404, 403 */
  async writable(ctx: RequestContext, bookId: string, reader: Reader = this.db): Promise<AccessedBook> {
    const book = await this.readable(ctx, bookId, reader);
    if (book.role === 'reader') throw Errors.forbidden.with();
    return book;
  }

  /**
   * Runs a read that checks the access itself; the address book of the workspace is created when it is first read.
   * @param read empty: the caller does not see the book
   * @throws ApiError 404
   */
  async reading<Row>(
    ctx: RequestContext,
    bookId: string,
    read: () => Promise<Row[]>,
  ): Promise<[Row, ...Row[]]> {
    const rows = await read();
    if (rows.length > 0) return rows as [Row, ...Row[]];
    if (!(await this.global.create(ctx, bookId))) throw ContactErrors.bookNotFound.with();
    return (await read()) as [Row, ...Row[]];
  }

  /** The role in the address book of the workspace depends on a permission. */
  async roleOf(ctx: RequestContext, stored: StoredRole): Promise<BookRole> {
    if (stored !== 'global') return stored;
    return (await this.permissions.of(ctx)).has('contacts.global.manage') ? 'writer' : 'reader';
  }
}
