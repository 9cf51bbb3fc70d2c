import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Audit, type AuditActor, changes } from '../../../platform/audit/audit.js';
import type { RequestContext, MemberKey } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import type { Tx } from '../../../platform/database/tx.js';
import { Outbox } from '../../../platform/events/outbox.js';
import { TxHooks, TxHook } from '../../../platform/events/tx-hooks.js';
import { Errors, fieldError } from '../../../platform/http/errors.js';
import { OwnerCheck } from '../../account-security/index.js';
import { IdentityApi } from '../../identity/index.js';
import { MEMBER_EMAIL_CHANGED, MemberContent, TenantsApi } from '../../tenants/index.js';
import { AccessErrors } from '../../access/index.js';
import { type ProfileFields, ProfileRepository, type ProfileRow } from './profile.repository.js';
import type {
  DeactivatedProfileEnvelope,
  DeactivateProfile,
  ProfileEnvelope,
  ProfileResponse,
  UpdateProfile,
} from '../settings.dto.js';

/** A member is about to change these fields of their own profile. A handler may reject them. */
export const PROFILE_CHANGING = new TxHook<{ tenantId: string; fields: readonly string[] }>(
  'profile changing',
);

/** A member has changed their profile. */
export const PROFILE_CHANGED = new TxHook<{ tenantId: string; userId: string }>('profile changed');

/** Profiles of members: the caller's own, and those that a provisioning client writes. */
@Injectable()
export class ProfileService implements OnModuleInit {
  constructor(
    private readonly profiles: ProfileRepository,
    private readonly tenants: TenantsApi,
    private readonly content: MemberContent,
    private readonly identity: IdentityApi,
    private readonly owners: OwnerCheck,
    private readonly hooks: TxHooks,
    private readonly outbox: Outbox,
    private readonly audit: Audit,
    private readonly db: Db,
  ) {}

  onModuleInit(): void {
    this.hooks.on(MEMBER_EMAIL_CHANGED, (tx, { tenantId, userId }) =>
      this.profiles.touch(tx, tenantId, userId),
    );
  }

  async read(ctx: RequestContext): Promise<ProfileEnvelope> {
    return { profile: present(await this.profiles.read(ctx.tenantId, ctx.userId)) };
  }

  /** Omitted fields stay unchanged. @throws ApiError 422 for another e-mail address, and `field_locked` */
  async update(ctx: RequestContext, input: UpdateProfile): Promise<ProfileEnvelope> {
    return this.db.tx(async (tx) => {
      const before = await this.lock(tx, ctx);
      const { email, ...fields } = input;
      if (email !== undefined && email !== before.email) throw emailNotWritable();
      const changed = Object.keys(changes({ ...before }, { ...fields }).after);
      await this.hooks.run(tx, PROFILE_CHANGING, { tenantId: ctx.tenantId, fields: changed });
      return { profile: present(await this.change(tx, ctx, before, fields)) };
    });
  }

  /** Reads the profile of a member and locks it until the end of the transaction. */
  async lock(tx: Tx, ctx: MemberKey): Promise<ProfileRow> {
    return existing(await this.profiles.lock(tx, ctx.tenantId, ctx.userId));
  }

  /**
   * Writes the fields that are defined and differ.
   * @param before the locked profile @param actor of the audit entry; default: the member
   * @returns the profile after the change
   */
  async change(
    tx: Tx,
    ctx: MemberKey,
    before: ProfileRow,
    fields: Partial<ProfileFields> & { display_name?: string },
    actor: AuditActor = ctx,
  ): Promise<ProfileRow> {
    const { tenantId, userId } = ctx;
    const diff = changes({ ...before }, { ...fields });
    if (Object.keys(diff.after).length === 0) return before;
    const { display_name: name, ...own } = diff.after as typeof fields;
    if (name !== undefined) await this.tenants.renameMember(tx, tenantId, userId, name);
    // A change of the name of the membership alone is a write, too: `updated_at` belongs to the profile.
    await this.profiles.write(tx, tenantId, userId, { ...before, ...own });
    const entry = { action: 'profile.updated', objectKind: 'user', objectId: userId, data: diff };
    await this.audit.record(tx, actor, entry);
    await this.hooks.run(tx, PROFILE_CHANGED, { tenantId, userId });
    return existing(await this.profiles.read(tenantId, userId, tx));
  }

  /**
   * Ends the membership of the caller and its sessions, and closes the account after the last membership. Handlers of
   * MEMBERSHIP_CHANGING and of the event `member.deactivated` end objects that depend on the membership.
   * @throws ApiError 404 for an unknown `transfer_to`; 409 `last_admin`; and the errors of `OwnerCheck`
   */
  async deactivate(ctx: RequestContext, input: DeactivateProfile): Promise<DeactivatedProfileEnvelope> {
    // The token alone is no proof, since it may be stolen.
    await this.owners.assert(ctx, input);
    return this.db.tx(async (tx) => {
      await this.tenants.setMemberStatus(tx, ctx.userId, ctx.tenantId, 'deactivated');
      const transferred = await this.transfer(tx, ctx, input.transfer_to?.toLowerCase());
      await this.identity.lockAccount(tx, ctx.userId);
      const closed = !(await this.tenants.hasMembership(tx, ctx.userId));
      await (closed
        ? this.identity.deactivate(tx, ctx.userId, { byOwner: true })
        : this.identity.endSessionsIn(tx, ctx.userId, ctx.tenantId));
      await this.audit.record(tx, ctx, {
        action: 'user.deactivated',
        objectKind: 'user',
        objectId: ctx.userId,
        data: { by_themselves: true, account_closed: closed, ...transferred },
      });
      const { tenantId, userId } = ctx;
      await this.outbox.append(tx, { tenantId, type: 'member.deactivated', payload: { user_id: userId } });
      const profile = present(await this.profiles.read(tenantId, userId, tx));
      return { profile, deactivated: true, account_closed: closed };
    });
  }

  /** @param to undefined: the content stays; the memberships are locked @throws ApiError 404 unless an active member */
  private async transfer(tx: Tx, ctx: RequestContext, to: string | undefined): Promise<object> {
    if (to === undefined) return {};
    if ((await this.tenants.activeRole(ctx.tenantId, to, tx)) === null)
      throw AccessErrors.memberNotFound.with();
    return { to, ...(await this.content.transfer(tx, { ctx, from: ctx.userId, to })) };
  }
}

function existing(row: ProfileRow | null): ProfileRow {
  // The membership ended during the request.
  if (!row) throw Errors.workspaceForbidden.with();
  return row;
}

function present(row: ProfileRow | null): ProfileResponse {
  const { created_at, updated_at, ...profile } = existing(row);
  return { ...profile, created_at: created_at.toISOString(), updated_at: updated_at.toISOString() };
}

const emailNotWritable = () => fieldError('email', 'not_writable', 'email cannot be changed here');
