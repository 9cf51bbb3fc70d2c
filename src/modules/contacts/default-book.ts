import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import type { RequestContext } from '../../platform/context/request-context.js';
import { Db } from '../../platform/database/db.js';
import { workspace } from '../../platform/database/statement.js';

const NAME = 'Contacts';

const find = workspace.statement<{ id: string }>(
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
  async of({ tenantId, userId }: RequestContext): Promise<string> {
    const [found] = await this.db.query(find, [tenantId, userId]);
    if (found) return found.id;
    await this.db.single((tx) => tx.query(create, [tenantId, userId, uuidv7(), NAME]));
    const [created] = await this.db.query(find, [tenantId, userId]);
    return (created as { id: string }).id;
  }
}
