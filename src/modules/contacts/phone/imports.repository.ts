import { Injectable } from '@nestjs/common';
import { In, Not } from 'typeorm';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { rowsOf } from '../../../platform/database/rows.js';
import { workspace } from '../../../platform/database/statement.js';
import { deletion, type Sweep } from '../../../platform/jobs/sweep.js';
import { QUOTAS } from '../../../platform/quotas/quotas.js';
import type { Reader, Tx } from '../../../platform/database/tx.js';
import { jsonBytes } from '../../../platform/bounded-pages/page-bytes.js';
import { ContactImport, ContactImportItem, type ImportAction, type ImportCounts } from './import.entity.js';
import type { ImportProblemResponse } from './phone.dto.js';
import { MAX_VALUE_BYTES, type SentCards } from './sent-values.js';

/** An import as it is stored. */
interface SavedImport {
  id: string;
  bookId: string;
  deviceId: string;
  counts: ImportCounts;
  problems: readonly ImportProblemResponse[];
}

/** A contact that an import wrote or found unchanged. */
export interface ImportItem extends Pick<
  ContactImportItem,
  'contact_id' | 'action' | 'revision' | 'original_revision' | 'original_photo_id'
> {
  /** The hashes of the cards of the contact, hexadecimal. */
  hashes: readonly string[];
  /** The short hashes of their values in this batch, hexadecimal; null if not all values are known. */
  values: string | null;
  /** The JSON text of the card before an update. */
  original: string | null;
}

/** SHA-256, hexadecimal. */
const HASH = /.{64}/g;

// Locks the address book before its contacts and in the mode of all other writes. Otherwise the foreign key would take a weaker lock first.
const save = workspace.statement<Pick<ContactImport, 'id'>>(
  'contacts.save_import',
  `INSERT INTO contact_imports (tenant_id, user_id, id, addressbook_id, device_id, counts, errors)
   SELECT $1, $2, $3, book.id, $5, $6, $7 FROM addressbooks book WHERE book.tenant_id = $1 AND book.id = $4 FOR NO KEY UPDATE
   ON CONFLICT (tenant_id, id) DO UPDATE SET counts = excluded.counts, errors = excluded.errors
   RETURNING id`,
);
// Ids of imports follow their times. Index contact_imports_user.
const deleteOldest = workspace.statement<never>(
  'contacts.delete_oldest_imports',
  `DELETE FROM contact_imports WHERE tenant_id = $1 AND user_id = $2 AND id <= (
     SELECT id FROM contact_imports WHERE tenant_id = $1 AND user_id = $2 ORDER BY id DESC OFFSET $3 LIMIT 1)`,
);
// An item keeps what it replaced first, and the revision after which somebody else has changed the contact: an undo keeps such a contact.
const addItems = workspace.statement<never>(
  'contacts.add_import_items',
  `INSERT INTO contact_import_items AS item (tenant_id, import_id, contact_id, action, revision, source_hash, value_hashes, original,
     original_photo_id, original_revision)
   SELECT $1, $2, added.contact_id, added.action, added.revision, decode(added.source_hash, 'hex'), decode(added.values, 'hex'),
          added.original::json, added.original_photo_id, added.original_revision
     FROM jsonb_to_recordset($3) AS added (contact_id uuid, action contact_import_action, revision int, source_hash text,
       values text, original text, original_photo_id uuid, original_revision int)
   ON CONFLICT (tenant_id, import_id, contact_id) DO UPDATE
     SET revision = CASE WHEN item.action = 'unchanged' OR item.revision = excluded.original_revision THEN excluded.revision
                         ELSE item.revision END,
         source_hash = excluded.source_hash,
         value_hashes = CASE WHEN octet_length(item.value_hashes) + octet_length(excluded.value_hashes) <= ${MAX_VALUE_BYTES}
                             THEN item.value_hashes || excluded.value_hashes END,
         action = CASE item.action WHEN 'unchanged' THEN excluded.action ELSE item.action END,
         original = CASE item.action WHEN 'unchanged' THEN excluded.original ELSE item.original END,
         original_photo_id = CASE item.action WHEN 'unchanged' THEN excluded.original_photo_id ELSE item.original_photo_id END,
         original_revision = CASE item.action WHEN 'unchanged' THEN excluded.original_revision ELSE item.original_revision END`,
);
const sentCards = workspace.statement<
  Pick<ContactImportItem, 'contact_id' | 'revision' | 'value_hashes'> & { source_hash: string }
>(
  'contacts.imported_hashes',
  `SELECT DISTINCT ON (item.contact_id) item.contact_id, encode(item.source_hash, 'hex') AS source_hash,
          item.value_hashes, item.revision
     FROM contact_import_items item
     JOIN contact_imports import ON import.tenant_id = item.tenant_id AND import.id = item.import_id
    WHERE item.tenant_id = $1 AND item.contact_id = ANY ($2) AND import.user_id = $3 AND import.device_id = $4
      AND import.id <> $5 AND import.undone_at IS NULL
    ORDER BY item.contact_id, item.import_id DESC`,
);
/** An import can be undone for 90 days. Index contact_imports_created. */
export const deleteOld: Sweep = workspace.statement(
  'contacts.purge_imports',
  deletion('contact_imports', `created_at < now() - interval '90 days'`),
  { reach: 'cell' },
);

/** SQL of imports. */
@Injectable()
export class ImportsRepository {
  constructor(private readonly db: Db) {}

  async read({ tenantId, userId }: RequestContext, id: string): Promise<ContactImport | null> {
    return rowsOf(this.db, ContactImport).one({ tenant_id: tenantId, user_id: userId, id });
  }

  async lock(tx: Tx, { tenantId, userId }: RequestContext, id: string): Promise<ContactImport | null> {
    return rowsOf(tx, ContactImport).lock({ tenant_id: tenantId, user_id: userId, id });
  }

  /** Newest first; imports beyond the bytes of the page have only their ids. */
  async list(
    { tenantId, userId }: RequestContext,
    after: readonly [string] | undefined,
    limit: number,
  ): Promise<(ContactImport & { fits: boolean })[]> {
    const size = `1024 + ${jsonBytes('item.errors')}`;
    const options = { size, order: 'DESC' } as const;
    return rowsOf(this.db, ContactImport).boundedPage(
      { tenant_id: tenantId, user_id: userId },
      ['id'],
      after,
      limit,
      options,
    );
  }

  /** Creates the import or writes its counts. @returns false when the address book does not exist */
  async save(
    tx: Tx,
    { tenantId, userId }: RequestContext,
    { id, bookId, deviceId, counts, problems }: SavedImport,
  ): Promise<boolean> {
    const json = [JSON.stringify(counts), JSON.stringify(problems)];
    return (await tx.query(save, [tenantId, userId, id, bookId, deviceId, ...json])).length > 0;
  }

  /** Deletes the imports of the user beyond the quota. */
  async deleteOldest(tx: Tx, { tenantId, userId }: RequestContext): Promise<void> {
    await tx.query(deleteOldest, [tenantId, userId, QUOTAS.user.contact_imports]);
  }

  async addItems(
    tx: Tx,
    { tenantId }: RequestContext,
    id: string,
    added: readonly ImportItem[],
  ): Promise<void> {
    if (added.length === 0) return;
    const items = added.map(({ hashes: list, ...item }) => ({ ...item, source_hash: list.join('') }));
    await tx.query(addItems, [tenantId, id, JSON.stringify(items)]);
  }

  /**
   * By contact: its cards in the last import of the user from the device.
   * @param importId the import that runs, which does not count
   */
  async sentCards(
    reader: Reader,
    { tenantId, userId }: RequestContext,
    deviceId: string,
    contactIds: readonly string[],
    importId: string,
  ): Promise<Map<string, SentCards>> {
    if (contactIds.length === 0) return new Map();
    const rows = await reader.query(sentCards, [tenantId, contactIds, userId, deviceId, importId]);
    return new Map(
      rows.map(({ contact_id, source_hash, value_hashes: values, revision }) => [
        contact_id,
        { hashes: source_hash.match(HASH) ?? [], values, revision },
      ]),
    );
  }

  /** Contacts that an import wrote and that no undo has reverted or kept, up to the bytes of a page. */
  async items(
    tx: Tx,
    { tenant_id, id: importId }: ContactImport,
    limit: number,
  ): Promise<ContactImportItem[]> {
    const where = { tenant_id, import_id: importId, action: Not<ImportAction>('unchanged') };
    const options = { size: jsonBytes('item.original') };
    const rows = await rowsOf(tx, ContactImportItem).boundedPage(
      where,
      ['contact_id'],
      undefined,
      limit,
      options,
    );
    return rows.filter(({ fits }) => fits);
  }

  /** Records that an undo has reverted or kept these contacts. */
  async settle(tx: Tx, { tenant_id, id: importId }: ContactImport, contactIds: string[]): Promise<void> {
    const values = { action: 'unchanged', original: null, original_photo_id: null } as const;
    await rowsOf(tx, ContactImportItem).update(
      { tenant_id, import_id: importId, contact_id: In(contactIds) },
      values,
    );
  }

  async markUndone(tx: Tx, { tenant_id, id }: ContactImport): Promise<ContactImport> {
    return (await rowsOf(tx, ContactImport).update({ tenant_id, id }, { undone_at: () => 'now()' }))[0]!;
  }
}
