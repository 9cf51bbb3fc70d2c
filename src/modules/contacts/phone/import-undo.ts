import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { ConcurrentChangeError } from '../../../platform/database/database-errors.js';
import { Db } from '../../../platform/database/db.js';
import type { Tx } from '../../../platform/database/tx.js';
import { Cursors } from '../../../platform/paging/cursors.js';
import type { PageQuery } from '../../../platform/paging/page.dto.js';
import { AddressbookAccess } from '../addressbook-access.js';
import { Turns } from '../../../lib/turns/index.js';
import { type ContactCard, differences } from '../../../lib/contact-card/index.js';
import { contactUpdate, type ContactUpdate } from '../model/contact-values.js';
import { cardOf, type ContactRow } from '../responses/contact.presenter.js';
import { ContactsRepository } from '../contacts.repository.js';
import { FormerContacts } from '../former-contacts.repository.js';
import type { ContactImport, ContactImportItem } from './import.entity.js';
import { ImportsRepository } from './imports.repository.js';
import {
  type ImportEnvelope,
  type ImportList,
  type ImportResponse,
  PhoneErrors,
  type UndoEnvelope,
  type UndoResponse,
} from './phone.dto.js';

/** Contacts of one transaction. */
const BATCH = 250;

/** The imports of a user, and their undo. */
@Injectable()
export class ImportUndo {
  constructor(
    private readonly access: AddressbookAccess,
    private readonly contacts: ContactsRepository,
    private readonly imports: ImportsRepository,
    private readonly former: FormerContacts,
    private readonly cursors: Cursors,
    private readonly db: Db,
  ) {}

  /** Newest first. */
  async list(ctx: RequestContext, query: PageQuery): Promise<ImportList> {
    const { rows, next } = await this.cursors.page(query, {
      scope: `contact imports ${ctx.tenantId} ${ctx.userId}`,
      key: (row: ContactImport & { fits: boolean }): [string] => [row.id],
      fits: (row) => row.fits,
      rows: (after, limit) => this.imports.list(ctx, after, limit),
    });
    return { imports: rows.map(importResponse), next };
  }

  /** @throws ApiError 404 */
  async read(ctx: RequestContext, id: string): Promise<ImportEnvelope> {
    return { import: importResponse(existing(await this.imports.read(ctx, id))) };
  }

  /**
   * Removes the contacts that the import created and restores the cards that it changed. Contacts that changed afterwards stay.
   * A second undo changes nothing.
   * @throws ApiError 404, 403
   */
  async undo(ctx: RequestContext, id: string): Promise<UndoEnvelope> {
    const { addressbook_id: bookId } = existing(await this.imports.read(ctx, id));
    await this.access.requireWritable(ctx, bookId);
    const undo: UndoResponse = { removed: 0, restored: 0, kept: 0 };
    for (;;) {
      const step = await this.db.tx(async (tx) => {
        await this.contacts.lockBook(tx, ctx, bookId);
        const locked = existing(await this.imports.lock(tx, ctx, id));
        if (locked.undone_at) return { done: locked };
        const items = await this.imports.items(tx, locked, BATCH);
        if (items.length === 0) return { done: await this.imports.markUndone(tx, locked) };
        return { counts: await this.revert(tx, ctx, locked, items) };
      });
      if (step.done) return { import: importResponse(step.done), undo };
      undo.removed += step.counts.removed;
      undo.restored += step.counts.restored;
      undo.kept += step.counts.kept;
    }
  }

  private async revert(
    tx: Tx,
    ctx: RequestContext,
    found: ContactImport,
    items: readonly ContactImportItem[],
  ): Promise<UndoResponse> {
    const { addressbook_id: bookId } = found;
    const ids = items.map(({ contact_id }) => contact_id);
    await this.imports.settle(tx, found, ids);
    const rows = new Map((await this.contacts.find(tx, ctx, bookId, 'id', ids)).map((row) => [row.id, row]));
    const unchanged = items.flatMap((item) => {
      const row = rows.get(item.contact_id);
      return row?.revision === item.revision ? [{ item, row }] : [];
    });
    const created = unchanged.filter(({ item }) => item.action === 'created').map(({ row }) => row);
    const updates: ContactUpdate[] = [];
    const turns = new Turns();
    for (const { item, row } of unchanged) {
      if (item.original === null) continue;
      updates.push(restored(row, item.original as ContactCard, item.original_photo_id));
      await turns.pause();
    }
    const removed = await this.contacts.remove(
      tx,
      ctx,
      bookId,
      created.map((row) => row.id),
    );
    const written = await this.contacts.update(tx, ctx, bookId, updates);
    const before = new Map(
      items.map((item) => [item.contact_id, item.original_revision ?? item.revision - 1]),
    );
    await this.former.follow(
      tx,
      ctx,
      bookId,
      written.map((after) => ({ before: { id: after.id, revision: before.get(after.id)! }, after })),
    );
    const isStale = removed.some((row) => rows.get(row.id)?.revision !== row.revision);
    if (isStale || removed.length < created.length || written.length < updates.length)
      throw new ConcurrentChangeError('a contact of the import has changed');
    return { removed: removed.length, restored: written.length, kept: rows.size - unchanged.length };
  }
}

const restored = (row: ContactRow, original: ContactCard, photoId: string | null): ContactUpdate =>
  contactUpdate(row, original, differences(cardOf(row), original), photoId);

/** @throws ApiError 404 */
function existing(found: ContactImport | null): ContactImport {
  if (!found) throw PhoneErrors.importNotFound.with();
  return found;
}

/** An import as clients see it. */
export const importResponse = (row: ContactImport): ImportResponse => ({
  id: row.id,
  addressbook_id: row.addressbook_id,
  device_id: row.device_id,
  ...row.counts,
  errors: row.errors,
  created_at: row.created_at,
  undone_at: row.undone_at,
});
