import { Injectable } from '@nestjs/common';
import { NIL } from 'uuid';
import { boundedPage, jsonBytes, PAGE_BYTES } from '../../../platform/bounded-pages/page-bytes.js';
import { Db } from '../../../platform/database/db.js';
import { type ColumnValues, rowsOf } from '../../../platform/database/rows.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Reader, Tx } from '../../../platform/database/tx.js';
import { isUuid } from '../../../platform/http/id.pipe.js';
import { ScimUser } from '../scim.schema.js';
import { IS_VISIBLE, USERS_FROM } from '../visible-users.js';

/** A member as provisioning clients see it: membership, profile, written attributes, groups. */
export interface ScimUserRow {
  user_id: string;
  email: string;
  display_name: string;
  status: 'active' | 'deactivated';
  /** A deactivated member has one, too. */
  role: 'owner' | 'admin' | 'member';
  created_at: Date;
  given_name: string | null;
  family_name: string | null;
  title: string | null;
  external_id: string | null;
  attributes: Record<string, unknown> | null;
  updated_at: Date | null;
  /** The group of all members is left out. */
  groups: { value: string; display: string }[];
}

const COLUMNS = `member.user_id, member.email, member.display_name, member.status, member.role, member.created_at,
         profile.given_name, profile.family_name, profile.title,
         written.external_id, written.attributes,
         greatest(written.updated_at, profile.updated_at, member.changed_at) AS updated_at,
         coalesce((SELECT json_agg(json_build_object('value', grp.id, 'display', grp.name) ORDER BY grp.id)
                     FROM group_memberships membership
                     JOIN group_names grp ON grp.tenant_id = membership.tenant_id AND grp.id = membership.group_id
                    WHERE membership.tenant_id = $1 AND membership.user_id = member.user_id
                      AND NOT (grp.system AND grp.key = 'members')), '[]') AS groups`;

const FROM = `${USERS_FROM}
    LEFT JOIN user_profiles profile ON profile.tenant_id = member.tenant_id AND profile.user_id = member.user_id
   WHERE member.tenant_id = $1`;

const USER = `SELECT ${COLUMNS} ${FROM} AND ${IS_VISIBLE}`;

const statementOf = (name: string, rest: string) =>
  workspace.statement<ScimUserRow>(`scim.users_${name}`, `${USER} ${rest}`);

/** Indexed look-ups, by the attribute of an equality. */
const LOOK_UPS = {
  id: statementOf('by_id', 'AND member.user_id = $2'),
  userName: statementOf('by_name', 'AND lower(member.email) = lower($2)'),
  externalId: statementOf('by_external_id', 'AND written.external_id = $2'),
};

export type LookUp = keyof typeof LOOK_UPS;

/** A member of a page. If the page ends before it, the other columns are null. */
type PageRow = Pick<ScimUserRow, 'user_id'> & ({ fits: false } | ({ fits: true } & ScimUserRow));

/** Approximate bytes of a member without attributes and groups, and of a group. */
const USER_BYTES = 4096;
const GROUP_BYTES = 1_024;

/** @param range of the members: condition, ORDER BY and LIMIT */
const pageStatement = (name: string, range: string) =>
  workspace.statement<PageRow>(
    `scim.users_${name}`,
    boundedPage({
      // The inner query finds the ids: the sizes of members that OFFSET skips are not computed.
      keys: `SELECT found.user_id, ${USER_BYTES} + ${jsonBytes('sized.attributes')} + ${GROUP_BYTES} * (
                      SELECT count(*) FROM group_memberships membership
                       WHERE membership.tenant_id = $1 AND membership.user_id = found.user_id) AS bytes
               FROM (SELECT member.user_id ${USERS_FROM} WHERE member.tenant_id = $1 AND ${IS_VISIBLE} ${range}) found
               LEFT JOIN scim_users sized ON sized.tenant_id = $1 AND sized.user_id = found.user_id`,
      order: 'sized.user_id',
      limit: '$3',
      bytes: '$4',
      columns: `sized.fits, sized.user_id, shown.email, shown.display_name, shown.status, shown.role, shown.created_at,
        shown.given_name, shown.family_name, shown.title, shown.external_id, shown.attributes, shown.updated_at, shown.groups`,
      shown: { columns: COLUMNS, from: `${FROM.slice('FROM '.length)} AND member.user_id = sized.user_id` },
    }),
  );

const page = pageStatement('page', 'ORDER BY member.user_id OFFSET $2 LIMIT $3');
const after = pageStatement('after', 'AND member.user_id > $2 ORDER BY member.user_id LIMIT $3');

const fitting = (rows: PageRow[]): ScimUserRow[] => rows.filter((row) => row.fits);

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

  /** A page by the number of its first member, as the protocol requires. It ends at its bytes. @param offset from 0 */
  async page(tenantId: string, offset: number, limit: number): Promise<ScimUserRow[]> {
    return limit === 0 ? [] : fitting(await this.db.query(page, [tenantId, offset, limit, PAGE_BYTES]));
  }

  async total(tenantId: string): Promise<number> {
    return (await this.db.query(total, [tenantId]))[0]?.total ?? 0;
  }

  /** All visible members in the order of their ids. */
  async *streamAll(tenantId: string): AsyncGenerator<ScimUserRow> {
    for (let last: string = NIL; ;) {
      const found = await this.db.query(after, [tenantId, last, SCAN, PAGE_BYTES]);
      const rows = fitting(found);
      yield* rows;
      if (rows.length === found.length && found.length < SCAN) return;
      last = rows.at(-1)!.user_id;
    }
  }

  /** The user with an external id, also if clients do not see the user. */
  async holderOf(tx: Tx, tenantId: string, externalId: string): Promise<string | null> {
    return (
      (await rowsOf(tx, ScimUser).one({ tenant_id: tenantId, external_id: externalId }))?.user_id ?? null
    );
  }

  async write(
    tx: Tx,
    tenantId: string,
    userId: string,
    values: Pick<ScimUser, 'external_id' | 'attributes' | 'deleted_at'>,
  ): Promise<void> {
    const row: ColumnValues<ScimUser> = {
      tenant_id: tenantId,
      user_id: userId,
      ...values,
      attributes: values.attributes as ColumnValues<ScimUser>['attributes'],
      updated_at: () => 'now()',
    };
    await rowsOf(tx, ScimUser).store(['tenant_id', 'user_id'], row);
  }
}
