import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../platform/context/request-context.js';
import { errorCode } from '../../platform/database/database-errors.js';
import { Db } from '../../platform/database/db.js';
import { workspace } from '../../platform/database/statement.js';
import type { Tx } from '../../platform/database/tx.js';
import {
  changedProperties,
  type Collection,
  type DeadProperties,
  type PropertyChanges,
} from './model/collection.js';
import { DavError, notFound } from './model/body.js';
import type { DavProperties } from './dav.schema.js';

const read = workspace.statement<Pick<DavProperties, 'collection_id'> & { properties: DeadProperties }>(
  'dav.properties',
  `SELECT collection_id, properties FROM dav_properties
    WHERE tenant_id = $1 AND user_id = $2 AND collection_id = ANY ($3::uuid[])`,
);

// Two requests that set the first properties wait for each other at the row.
const lock = workspace.statement<{ properties: DeadProperties }>(
  'dav.lock_properties',
  `INSERT INTO dav_properties AS stored (tenant_id, user_id, collection_id, calendar_id, task_folder_id, addressbook_id, properties)
   VALUES ($1, $2, $3::uuid, CASE $4::text WHEN 'events' THEN $3::uuid END, CASE $4 WHEN 'tasks' THEN $3::uuid END,
           CASE $4 WHEN 'contacts' THEN $3::uuid END, '{}')
   ON CONFLICT (tenant_id, collection_id, user_id) DO UPDATE SET properties = stored.properties
   RETURNING properties`,
);

const replace = workspace.statement<never>(
  'dav.replace_properties',
  `UPDATE dav_properties SET properties = $4 WHERE tenant_id = $1 AND user_id = $2 AND collection_id = $3`,
);

const remove = workspace.statement<never>(
  'dav.remove_properties',
  `DELETE FROM dav_properties WHERE tenant_id = $1 AND user_id = $2 AND collection_id = $3`,
);

/** Properties of collections that programs keep on the server, one set for each user of a collection. */
@Injectable()
export class DavPropertyStore {
  constructor(private readonly db: Db) {}

  /** The properties of the caller, by collection; collections without any are missing. */
  async of(
    { tenantId, userId }: RequestContext,
    ids: readonly string[],
  ): Promise<Map<string, DeadProperties>> {
    const rows = ids.length === 0 ? [] : await this.db.query(read, [tenantId, userId, ids]);
    return new Map(rows.map(({ collection_id, properties }) => [collection_id, properties]));
  }

  /**
   * Changes properties after `write`, in its transaction.
   * @param write returns the collection
   * @throws DavError 404; 507 for more than a collection can have
   */
  async change(
    ctx: RequestContext,
    changes: PropertyChanges,
    write: () => Promise<Collection>,
  ): Promise<void> {
    if (changes.size === 0) return void (await write());
    await this.db.tx(async (tx) => {
      const { id, kind } = await this.db.within(tx, write);
      const key = [ctx.tenantId, ctx.userId, id];
      const next = changedProperties(await this.locked(tx, [...key, kind]), changes);
      if (!next) throw new DavError(507, null, 'The server keeps no more properties of this collection.');
      if (Object.keys(next).length === 0) await tx.query(remove, key);
      else await tx.query(replace, [...key, JSON.stringify(next)]);
    });
  }

  private async locked(tx: Tx, key: readonly string[]): Promise<DeadProperties> {
    try {
      return (await tx.query(lock, key))[0]?.properties ?? {};
    } catch (error) {
      // The collection was deleted meanwhile.
      throw errorCode(error) === '23503' ? notFound() : error;
    }
  }
}
