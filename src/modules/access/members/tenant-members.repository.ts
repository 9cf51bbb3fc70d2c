import { Injectable } from '@nestjs/common';
import { NIL } from 'uuid';
import { Db } from '../../../platform/database/db.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Reader } from '../../../platform/database/tx.js';
import type { TenantMemberResponse } from './tenant-members.dto.js';

const MEMBER = 'user_id, display_name, email, role, status, created_at';

const list = workspace.statement<TenantMemberResponse>(
  'access.list_tenant_members',
  `SELECT ${MEMBER} FROM member_profiles
    WHERE tenant_id = $1 AND user_id > $2 AND ($3::text IS NULL OR status = $3) AND ($4::boolean IS NULL OR is_service = $4)
    ORDER BY user_id LIMIT $5`,
  { onReplica: true },
);

const read = workspace.statement<TenantMemberResponse>(
  'access.read_tenant_member',
  `SELECT ${MEMBER} FROM member_profiles WHERE tenant_id = $1 AND user_id = $2`,
);

/** SQL of workspace members for administrators. */
@Injectable()
export class TenantMembersRepository {
  constructor(private readonly db: Db) {}

  /**
   * Ordered by user id.
   * @param filter.status undefined: any @param filter.isService undefined: users and service accounts
   */
  async list(
    tenantId: string,
    {
      status,
      isService,
    }: { status?: TenantMemberResponse['status'] | undefined; isService?: boolean | undefined },
    after: readonly [string] | undefined,
    limit: number,
  ): Promise<TenantMemberResponse[]> {
    return this.db.query(list, [tenantId, after?.[0] ?? NIL, status ?? null, isService ?? null, limit]);
  }

  async read(
    tenantId: string,
    userId: string,
    reader: Reader = this.db,
  ): Promise<TenantMemberResponse | null> {
    return (await reader.query(read, [tenantId, userId]))[0] ?? null;
  }
}
