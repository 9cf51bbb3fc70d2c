import { Injectable } from '@nestjs/common';
import { NIL } from 'uuid';
import { Db } from '../../../platform/database/db.js';
import { type ColumnValues, rowsOf } from '../../../platform/database/rows.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Reader, Tx } from '../../../platform/database/tx.js';
import { isUuid } from '../../../platform/http/id.pipe.js';
import { ScimUser } from '../scim.entity.js';
import { IS_VISIBLE, USERS_FROM } from '../visible-users.js';

/** A member as provisioning clients see it: membership, profile, written attributes, groups. */
export interface ScimUserRow {
  user_id: string;
  email: string;
  display_name: string;
  status: 'active' | 'deactivated';
  /** Also of a deactivated member. */
  role: 'owner' | 'admin' | 'member';
  created_at: Date;
  given_name: string | null;
  family_name: string | null;
  title: string | null;
  external_id: string | null;
  attributes: Record<string, unknown> | null;
  updated_at: Date | null;
  /** Without the group of all members. */
  groups: { value: string; display: string }[];
}

const USER = `SELECT member.user_id, member.email, member.display_name, member.status, member.role, member.created_at,
         profile.given_name, profile.family_name, profile.title,
         written.external_id, written.attributes,
         greatest(written.updated_at, profile.updated_at, member.changed_at) AS updated_at,
         coalesce((SELECT json_agg(json_build_object('value', grp.id, 'display', grp.name) ORDER BY grp.id)
                     FROM group_memberships membership
                     JOIN group_names grp ON grp.tenant_id = membership.tenant_id AND grp.id = membership.group_id
                    WHERE membership.tenant_id = $1 AND membership.user_id = member.user_id
                      AND NOT (grp.system AND grp.key = 'members')), '[]') AS groups
    ${USERS_FROM}
    LEFT JOIN user_profiles profile ON profile.tenant_id = member.tenant_id AND profile.user_id = member.user_id
   WHERE member.tenant_id = $1 AND ${IS_VISIBLE}`;

const statementOf = (name: string, rest: string) =>
  workspace.statement<ScimUserRow>(`scim.users_${name}`, `${USER} ${rest}`);

/** Indexed look-ups, by the attribute of an equality. */
const LOOK_UPS = {
  id: statementOf('by_id', 'AND member.user_id = $2'),
  userName: statementOf('by_name', 'AND lower(member.email) = lower($2)'),
  externalId: statementOf('by_external_id', 'AND written.external_id = $2'),
};

export type LookUp = keyof typeof LOOK_UPS;

const page = statementOf('page', 'ORDER BY member.user_id OFFSET $2 LIMIT $3');
const after = statementOf('after', 'AND member.user_id > $2 ORDER BY member.user_id LIMIT $3');

const total = workspace.statement<{ total: number }>(
  'scim.users_total',
  `SELECT count(*)::int AS total ${USERS_FROM} WHERE member.tenant_id = $1 AND ${IS_VISIBLE}`,
);

const SCAN = 500;

/** SQL of members as provisioning clients see them. */
@Injectable()
export class ScimUsersRepository {
  constructor(private readonly db: Db) {}

  async byId(tenantId: string, userId: string, reader: Reader = this.db): Promise<ScimUserRow | null> {
    return (await reader.query(LOOK_UPS.id, [tenantId, userId]))[0] ?? null;
  }

  async lookUp(tenantId: string, attribute: LookUp, value: string): Promise<ScimUserRow[]> {
    if (attribute === 'id' && !isUuid(value)) return [];
    return this.db.query(LOOK_UPS[attribute], [tenantId, value]);
  }

  /** A page by the number of its first member, as the protocol requires. @param offset from 0 */
  async page(tenantId: string, offset: number, limit: number): Promise<ScimUserRow[]> {
    return limit === 0 ? [] : this.db.query(page, [tenantId, offset, limit]);
  }

  async total(tenantId: string): Promise<number> {
    return (await this.db.query(total, [tenantId]))[0]?.total ?? 0;
  }

  /** All visible members in the order of their ids. */
  async *all(tenantId: string): AsyncGenerator<ScimUserRow> {
    for (let last: string = NIL; ;) {
      const rows = await this.db.query(after, [tenantId, last, SCAN]);
      yield* rows;
      if (rows.length < SCAN) return;
      last = rows.at(-1)!.user_id;
    }
  }

  /** The user with an external id, also if clients do not see the user. */
  async holderOf(tx: Tx, tenantId: string, externalId: string): Promise<string | null> {
    return (await rowsOf(tx, ScimUser).one({ tenantId, externalId }))?.userId ?? null;
  }

  async write(
    tx: Tx,
    tenantId: string,
    userId: string,
    values: Pick<ScimUser, 'externalId' | 'attributes' | 'deletedAt'>,
  ): Promise<void> {
    const row: ColumnValues<ScimUser> = {
      tenantId,
      userId,
      ...values,
      attributes: values.attributes as ColumnValues<ScimUser>['attributes'],
      updatedAt: () => 'now()',
    };
    await rowsOf(tx, ScimUser).store(['tenantId', 'userId'], row);
  }
}
