import { Injectable } from '@nestjs/common';
import type { TenantRole } from '../../platform/context/request-context.js';
import { Db } from '../../platform/database/db.js';
import { workspace } from '../../platform/database/statement.js';
import type { Reader } from '../../platform/database/tx.js';

export interface PersonRow {
  user_id: string;
  display_name: string;
  email: string;
  role: TenantRole;
  status: 'active' | 'deactivated';
  created_at: Date;
}

const PERSON = 'user_id, display_name, email, role, status, created_at';

const list = workspace.statement<PersonRow>(
  'access.list_people',
  `SELECT ${PERSON} FROM tenant_members
    WHERE tenant_id = $1 AND user_id > $2 AND ($3::text IS NULL OR status = $3) ORDER BY user_id LIMIT $4`,
);

const read = workspace.statement<PersonRow>(
  'access.read_person',
  `SELECT ${PERSON} FROM tenant_members WHERE tenant_id = $1 AND user_id = $2`,
);

/** SQL on the people of a workspace, as its administrators see them. */
@Injectable()
export class PeopleRepository {
  constructor(private readonly db: Db) {}

  /** In the order of their ids. @param status undefined: all */
  async list(
    tenantId: string,
    status: PersonRow['status'] | undefined,
    after: string,
    limit: number,
  ): Promise<PersonRow[]> {
    return this.db.query(list, [tenantId, after, status ?? null, limit]);
  }

  async read(tenantId: string, userId: string, reader: Reader = this.db): Promise<PersonRow | null> {
    return (await reader.query(read, [tenantId, userId]))[0] ?? null;
  }
}
