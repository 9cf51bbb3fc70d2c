import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { workspace } from '../../../platform/database/statement.js';

const suppressed = workspace.statement<{ address_key: string }>(
  'contacts.suppressed',
  `SELECT address_key FROM suppressed_addresses WHERE tenant_id = $1 AND user_id = $2 AND address_key = ANY ($3)`,
);

const suppress = workspace.statement<never>(
  'contacts.suppress',
  `INSERT INTO suppressed_addresses (tenant_id, user_id, address_key) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`,
);

const known = workspace.statement<{ word: string; contact_id: string; addressbook_id: string }>(
  'contacts.known_addresses',
  `SELECT DISTINCT ON (listed.word) listed.word, listed.contact_id, listed.addressbook_id
     FROM addressbooks book
     JOIN contact_words listed ON listed.tenant_id = $1 AND listed.addressbook_id = book.id AND listed.word = ANY ($3)
    WHERE book.tenant_id = $1 AND book.owner_id = $2
    ORDER BY listed.word, book.is_default DESC, listed.contact_id`,
);

/** SQL of the addresses that are extracted from mail. */
@Injectable()
export class ExtractedRepository {
  constructor(private readonly db: Db) {}

  /** Those of the addresses that the caller has removed. */
  async suppressed({ tenantId, userId }: RequestContext, keys: readonly string[]): Promise<Set<string>> {
    const rows = await this.db.query(suppressed, [tenantId, userId, keys]);
    return new Set(rows.map((row) => row.address_key));
  }

  async suppress({ tenantId, userId }: RequestContext, key: string): Promise<void> {
    await this.db.single((tx) => tx.query(suppress, [tenantId, userId, key]));
  }

  /** Contacts in the caller's own address books by the key of their address. */
  async known(
    { tenantId, userId }: RequestContext,
    keys: readonly string[],
  ): Promise<Map<string, { contact_id: string; addressbook_id: string }>> {
    const rows = await this.db.query(known, [tenantId, userId, keys]);
    return new Map(rows.map(({ word, ...contact }) => [word, contact]));
  }
}
