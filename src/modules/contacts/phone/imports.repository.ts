import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { workspace } from '../../../platform/database/statement.js';
import { deletion, type Sweep } from '../../../platform/jobs/sweep.js';
import type { Reader, Tx } from '../../../platform/database/tx.js';
import type { ImportAction, ImportCounts, ImportProblem } from './import.entity.js';
import type { ImportResponse } from './phone.response.js';

type ImportRow = Pick<ImportResponse, 'id' | 'addressbook_id' | 'device_id' | 'created_at' | 'undone_at'> & {
  counts: ImportCounts;
  errors: ImportProblem[];
};

/** An import as it is stored. */
interface SavedImport {
  id: string;
  bookId: string;
  deviceId: string;
  counts: ImportCounts;
  problems: readonly ImportProblem[];
}

/** A contact that an import wrote or found unchanged. */
export interface ImportItem {
  contact_id: string;
  action: ImportAction;
  revision: number;
  /** Hexadecimal. */
  source_hash: string;
  /** The JSON text of the card before an update. */
  original: string | null;
  /** The photo before an update. */
  original_photo_id: string | null;
}

const COLUMNS = 'id, addressbook_id, device_id, counts, errors, created_at, undone_at';

const read = workspace.statement<ImportRow>(
  'contacts.import',
  `SELECT ${COLUMNS} FROM contact_imports WHERE tenant_id = $1 AND user_id = $2 AND id = $3`,
);
const list = workspace.statement<ImportRow>(
  'contacts.imports',
  `SELECT ${COLUMNS} FROM contact_imports
    WHERE tenant_id = $1 AND user_id = $2 AND ($3::uuid IS NULL OR id < $3) ORDER BY id DESC LIMIT $4`,
);
const lock = workspace.statement<ImportRow>(
  'contacts.lock_import',
  `SELECT ${COLUMNS} FROM contact_imports WHERE tenant_id = $1 AND user_id = $2 AND id = $3 FOR UPDATE`,
);
// Locks the address book before its contacts and in the mode of all other writes. Otherwise the foreign key would take a weaker lock first.
const save = workspace.statement<{ id: string }>(
  'contacts.save_import',
  `INSERT INTO contact_imports (tenant_id, user_id, id, addressbook_id, device_id, counts, errors)
   SELECT $1, $2, $3, book.id, $5, $6, $7 FROM addressbooks book WHERE book.tenant_id = $1 AND book.id = $4 FOR NO KEY UPDATE
   ON CONFLICT (tenant_id, id) DO UPDATE SET counts = excluded.counts, errors = excluded.errors
   RETURNING id`,
);
const addItems = workspace.statement<never>(
  'contacts.add_import_items',
  `INSERT INTO contact_import_items AS item (tenant_id, import_id, contact_id, action, revision, source_hash, original, original_photo_id)
   SELECT $1, $2, added.contact_id, added.action, added.revision, decode(added.source_hash, 'hex'), added.original::json,
          added.original_photo_id
     FROM jsonb_to_recordset($3) AS added (contact_id uuid, action contact_import_action, revision int, source_hash text,
       original text, original_photo_id uuid)
   ON CONFLICT (tenant_id, import_id, contact_id) DO UPDATE
     SET revision = excluded.revision, source_hash = excluded.source_hash`,
);
const hashes = workspace.statement<{ contact_id: string; source_hash: string }>(
  'contacts.imported_hashes',
  `SELECT DISTINCT ON (item.contact_id) item.contact_id, encode(item.source_hash, 'hex') AS source_hash
     FROM contact_import_items item
     JOIN contact_imports import ON import.tenant_id = item.tenant_id AND import.id = item.import_id
    WHERE item.tenant_id = $1 AND item.contact_id = ANY ($2) AND import.user_id = $3 AND import.device_id = $4
      AND import.undone_at IS NULL
    ORDER BY item.contact_id, item.import_id DESC`,
);
const items = workspace.statement<ImportItem>(
  'contacts.import_items',
  `SELECT contact_id, action, revision, encode(source_hash, 'hex') AS source_hash, original::text AS original, original_photo_id
     FROM contact_import_items
    WHERE tenant_id = $1 AND import_id = $2 AND action <> 'unchanged' ORDER BY contact_id LIMIT $3`,
);
const settle = workspace.statement<never>(
  'contacts.settle_import_items',
  `UPDATE contact_import_items SET action = 'unchanged', original = NULL, original_photo_id = NULL
    WHERE tenant_id = $1 AND import_id = $2 AND contact_id = ANY ($3)`,
);
const markUndone = workspace.statement<ImportRow>(
  'contacts.undo_import',
  `UPDATE contact_imports SET undone_at = now() WHERE tenant_id = $1 AND id = $2 RETURNING ${COLUMNS}`,
);
/** An import can be undone for 90 days. Index contact_imports_created. */
export const deleteOld: Sweep = workspace.statement(
  'contacts.purge_imports',
  deletion('contact_imports', `created_at < now() - interval '90 days'`),
  { reach: 'cell' },
);

const response = ({ counts, errors, created_at, undone_at, ...row }: ImportRow): ImportResponse => ({
  ...row,
  ...counts,
  errors,
  created_at,
  undone_at,
});

/** SQL of imports. */
@Injectable()
export class ImportsRepository {
  constructor(private readonly db: Db) {}

  async read({ tenantId, userId }: RequestContext, id: string): Promise<ImportResponse | undefined> {
    const [row] = await this.db.query(read, [tenantId, userId, id]);
    return row && response(row);
  }

  /** Locks the import. */
  async lock(tx: Tx, { tenantId, userId }: RequestContext, id: string): Promise<ImportResponse | undefined> {
    const [row] = await tx.query(lock, [tenantId, userId, id]);
    return row && response(row);
  }

  /** Newest first. */
  async list(
    { tenantId, userId }: RequestContext,
    after: string | undefined,
    limit: number,
  ): Promise<ImportResponse[]> {
    return (await this.db.query(list, [tenantId, userId, after ?? null, limit])).map(response);
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

  async addItems(
    tx: Tx,
    { tenantId }: RequestContext,
    id: string,
    added: readonly ImportItem[],
  ): Promise<void> {
    if (added.length > 0) await tx.query(addItems, [tenantId, id, JSON.stringify(added)]);
  }

  /** The hash of the last card of each contact that the user imported from the device, hexadecimal. */
  async hashes(
    reader: Reader,
    { tenantId, userId }: RequestContext,
    deviceId: string,
    contactIds: readonly string[],
  ): Promise<Map<string, string>> {
    if (contactIds.length === 0) return new Map();
    const rows = await reader.query(hashes, [tenantId, contactIds, userId, deviceId]);
    return new Map(rows.map(({ contact_id, source_hash }) => [contact_id, source_hash]));
  }

  /** Contacts that an import wrote and that no undo has reverted or kept. */
  async items(tx: Tx, { tenantId }: RequestContext, id: string, limit: number): Promise<ImportItem[]> {
    return tx.query(items, [tenantId, id, limit]);
  }

  /** Records that an undo has reverted or kept these contacts. */
  async settle(
    tx: Tx,
    { tenantId }: RequestContext,
    id: string,
    contactIds: readonly string[],
  ): Promise<void> {
    await tx.query(settle, [tenantId, id, contactIds]);
  }

  async markUndone(tx: Tx, { tenantId }: RequestContext, id: string): Promise<ImportResponse> {
    const [row] = await tx.query(markUndone, [tenantId, id]);
    return response(row as ImportRow);
  }
}
