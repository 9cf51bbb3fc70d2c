import { Injectable } from '@nestjs/common';
import { Audit } from '../../platform/audit/audit.js';
import type { RequestContext } from '../../platform/context/request-context.js';
import { Db } from '../../platform/database/db.js';
import { Outbox } from '../../platform/events/outbox.js';
import { Errors } from '../../platform/http/errors.js';
import { Cursors } from '../../platform/paging/cursors.js';
import { IdentityApi } from '../identity/index.js';
import { type MemberStatus, TenantsApi } from '../tenants/index.js';
import { AccessErrors } from './access.errors.js';
import { Authority, assertHolds } from './authority.js';
import type { ListPeople } from './people.dto.js';
import { PeopleRepository, type PersonRow } from './people.repository.js';
import type { PersonEnvelope, PersonListEnvelope, PersonResponse } from './people.response.js';

const NOBODY = '00000000-0000-0000-0000-000000000000';

/** The people of a workspace: who there is, and whose membership goes on. */
@Injectable()
export class PeopleService {
  constructor(
    private readonly people: PeopleRepository,
    private readonly authority: Authority,
    private readonly tenants: TenantsApi,
    private readonly identity: IdentityApi,
    private readonly cursors: Cursors,
    private readonly outbox: Outbox,
    private readonly audit: Audit,
    private readonly db: Db,
  ) {}

  async list(ctx: RequestContext, { cursor, limit, status }: ListPeople): Promise<PersonListEnvelope> {
    const scope = `people ${ctx.tenantId} ${status ?? ''}`;
    const after = cursor === undefined ? NOBODY : (this.cursors.read(scope, cursor)[0] as string);
    const rows = await this.people.list(ctx.tenantId, status, after, limit + 1);
    const given = rows.slice(0, limit);
    const last = given.at(-1);
    const next = last && rows.length > limit ? this.cursors.write(scope, [last.user_id]) : null;
    return { members: given.map(present), next };
  }

  /**
   * Ends or renews somebody's membership, for which one must hold all that they hold by it. Whoever wants to leave
   * themselves goes by their profile, which asks for the password.
   * @throws ApiError 404; 403 `forbidden` for oneself, `cannot_grant_unheld`; 409 `last_admin`
   */
  async setStatus(ctx: RequestContext, userId: string, status: MemberStatus): Promise<PersonEnvelope> {
    const { tenantId } = ctx;
    return this.db.tx(async (tx) => {
      const held = await this.authority.begin(tx, ctx, 'users.deactivate');
      const before = await this.people.read(tenantId, userId, tx);
      if (!before) throw AccessErrors.personNotFound.with();
      if (userId === ctx.userId) throw Errors.forbidden.with();
      assertHolds(held, await this.authority.inTx(tx, tenantId, userId, { evenDeactivated: true }));
      if (before.status === status) return { member: present(before) };
      await this.tenants.setMemberStatus(tx, userId, tenantId, status);
      await (status === 'active'
        ? this.identity.noteAccessChange(tx, userId, tenantId)
        : this.identity.endSessionsIn(tx, userId, tenantId));
      const done = status === 'active' ? 'activated' : 'deactivated';
      await this.audit.record(tx, ctx, { action: `user.${done}`, objectKind: 'user', objectId: userId });
      await this.outbox.append(tx, { tenantId, type: `member.${done}`, payload: { user_id: userId } });
      return { member: present({ ...before, status }) };
    });
  }
}

function present({ created_at, ...person }: PersonRow): PersonResponse {
  return { ...person, created_at: created_at.toISOString() };
}
