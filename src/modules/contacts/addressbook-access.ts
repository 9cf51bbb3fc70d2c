import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { PermissionSource } from '../../platform/context/permission.guard.js';
import type { RequestContext } from '../../platform/context/request-context.js';
import { Db } from '../../platform/database/db.js';
import { workspace } from '../../platform/database/statement.js';
import type { Reader } from '../../platform/database/tx.js';
import { Errors } from '../../platform/http/errors.js';
import type { BookRow } from './books/addressbooks.repository.js';
import { type AccessedRow, BOOK_ACCESS, type StoredRole } from './contact-access.js';
import { ContactsRepository } from './contacts.repository.js';
import { ContactErrors, CONTACTS } from './contacts.resource.js';
import { GlobalBook } from './global-book.js';
import { type BookRole, canEdit, type ContactRow } from './responses/contact.presenter.js';
import type { Addressbook } from './contacts.entity.js';

/** Maximum number of contacts of an address book. */

/** An address book that the caller sees. */
export interface AccessedBook extends Pick<
  BookRow,
  'id' | 'kind' | 'default_country' | 'locked_fields' | 'contacts_count'
> {
  role: BookRole;
  /** The number of its last change. */
  head: number;
}

/** A contact with the access of the caller. */
export interface FoundContact {
  row: ContactRow;
  role: BookRole;
  country: string | null;
}

const access = workspace.statement<Omit<AccessedBook, 'role'> & { role: StoredRole }>(
  'contacts.access',
  `SELECT access.id, access.kind, access.default_country, access.locked_fields, access.contacts_count, access.role,
          coalesce(counter.head, 0)::float8 AS head
     FROM ${BOOK_ACCESS} access LEFT JOIN sync_heads counter ON counter.tenant_id = $1 AND counter.user_id = $3`,
  { pipelined: true },
);

/** Access of callers to address books. */
@Injectable()
export class AddressbookAccess {
  constructor(
    private readonly permissions: PermissionSource,
    private readonly contacts: ContactsRepository,
    private readonly global: GlobalBook,
    private readonly db: Db,
  ) {}

  /** @throws ApiError 404 */
  async requireReadable(
    ctx: RequestContext,
    bookId: string,
    reader: Reader = this.db,
  ): Promise<AccessedBook> {
    const { tenantId, userId } = ctx;
    const read = () => reader.query(access, [tenantId, userId, bookId]);
    const [book] = await read();
    const found = book ?? ((await this.global.create(ctx, bookId)) ? (await read())[0] : undefined);
    if (!found) throw ContactErrors.bookNotFound.with();
    return { ...found, role: await this.roleOf(ctx, found.role) };
  }

  /** @throws ApiError 404, 403 */
  async requireWritable(ctx: RequestContext, bookId: string): Promise<AccessedBook> {
    const book = await this.requireReadable(ctx, bookId);
    if (book.role === 'reader') throw Errors.forbidden.with();
    return book;
  }

  /**
   * Runs a read that checks the access itself; the address book of the workspace is created when it is first read.
   * @param read returns no row when the caller does not see the book
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

  /** @throws ApiError 404 */
  async requireContact(ctx: RequestContext, bookId: string, externalId: string): Promise<FoundContact> {
    const read = async (): Promise<AccessedRow[]> => {
      const row = await this.contacts.read(ctx, bookId, externalId);
      return row ? [row] : [];
    };
    const [{ role, default_country: country, ...row }] = await this.reading(ctx, bookId, read);
    if (row.id === null) throw CONTACTS.notFound.with();
    return { row, role: await this.roleOf(ctx, role), country };
  }

  /** @throws ApiError 404, 403 */
  async requireEditable(ctx: RequestContext, bookId: string, externalId: string): Promise<FoundContact> {
    const found = await this.requireContact(ctx, bookId, externalId);
    if (!canEdit(found.role, found.row)) throw Errors.forbidden.with();
    return found;
  }

  /** The role in the address book of the workspace depends on a permission. */
  async roleOf(ctx: RequestContext, stored: StoredRole): Promise<BookRole> {
    if (stored !== 'global') return stored;
    return (await this.permissions.permissionsOf(ctx)).has('contacts.global.manage') ? 'writer' : 'reader';
  }
}

const NAME = 'Contacts';

const find = workspace.statement<Pick<Addressbook, 'id'>>(
  'contacts.default_book',
  `SELECT id FROM addressbooks WHERE tenant_id = $1 AND owner_id = $2 AND is_default`,
);

// The index addressbooks_default allows one default book of a user.
const create = workspace.statement<never>(
  'contacts.create_default_book',
  `INSERT INTO addressbooks (tenant_id, owner_id, id, kind, name, is_default) VALUES ($1, $2, $3, 'personal', $4, true)
   ON CONFLICT DO NOTHING`,
);

/** The default address book of a user, which is created when it is first needed. */
@Injectable()
export class DefaultBook {
  constructor(private readonly db: Db) {}

  /** @returns the id of the book */
  async idOf({ tenantId, userId }: RequestContext): Promise<string> {
    const [found] = await this.db.query(find, [tenantId, userId]);
    if (found) return found.id;
    await this.db.single((tx) => tx.query(create, [tenantId, userId, uuidv7(), NAME]));
    const [created] = await this.db.query(find, [tenantId, userId]);
    return (created as { id: string }).id;
  }
}
