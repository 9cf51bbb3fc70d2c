import { Controller, Injectable } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Audit } from '../../../../platform/audit/audit.js';
import { Ctx, type RequestContext } from '../../../../platform/context/request-context.js';
import { Db } from '../../../../platform/database/db.js';
import { workspace } from '../../../../platform/database/statement.js';
import { rowsOf } from '../../../../platform/database/rows.js';
import type { Tx } from '../../../../platform/database/tx.js';
import { Endpoint } from '../../../../platform/http/endpoint.js';
import { Errors } from '../../../../platform/http/errors.js';
import { Id } from '../../../../platform/http/id.pipe.js';
import { type Checked, CheckedBody } from '../../../../platform/http/input.pipe.js';
import type { JsonReply } from '../../../../platform/http/json-reply.js';
import { CallAccess } from '../../call-access.js';
import { CallEnvelope, CallErrors } from '../../calls.dto.js';
import { CallsRepository } from '../../calls.repository.js';
import { type Call, CallBan } from '../../calls.schema.js';
import { CallChanges } from '../../changes/call-changes.js';
import { type EndedGuest, Kicks } from '../../changes/kicks.js';
import { guestIdentity } from '../../model/call-events.js';
import { callReply } from '../../responses/call.presenter.js';
import { ApprovalChanges } from '../changes/approval-changes.js';
import type { Guest } from '../guests.schema.js';
import { IS_CONNECTED } from '../model/visitor.js';
import { LockExternal, RemovedGuestEnvelope, RemoveGuest } from './moderation.dto.js';

export interface CallGuest extends Pick<Guest, 'id' | 'role' | 'state' | 'email'> {
  email_verified: boolean;
}

const lockGuest = workspace.statement<CallGuest>(
  'call_guests.lock',
  `SELECT id, role, state, email, email_verified_at IS NOT NULL AS email_verified FROM guests
    WHERE tenant_id = $1 AND call_id = $2 AND id = $3 FOR UPDATE`,
);

// A removed guest cannot open a session again: each request checks the state.
const remove = workspace.statement<never>(
  'call_guests.remove',
  `UPDATE guests SET state = 'removed', removed_by = $3, removed_at = now(), decision_reason = coalesce($4, decision_reason),
          kick_pending = true, updated_at = now()
    WHERE tenant_id = $1 AND id = $2`,
);

// Ejected guests wait for a new approval, so that a new connection with their old token is disconnected.
const eject = workspace.statement<EndedGuest>(
  'call_guests.eject',
  `UPDATE guests guest SET state = 'waiting', waiting_since = now(), decided_by = NULL, decided_at = NULL,
          kick_pending = ${IS_CONNECTED}, updated_at = now()
    WHERE tenant_id = $1 AND call_id = $2 AND state IN ('admitted', 'in_session', 'left')
   RETURNING id, role, call_id, kick_pending AS is_connected`,
);

/** SQL of the moderation of guests by members. */
@Injectable()
export class GuestModerationRepository {
  async lockGuest(
    tx: Tx,
    { tenantId }: RequestContext,
    callId: string,
    id: string,
  ): Promise<CallGuest | undefined> {
    return (await tx.query(lockGuest, [tenantId, callId, id]))[0];
  }

  async remove(
    tx: Tx,
    { tenantId, userId }: RequestContext,
    id: string,
    reason: string | undefined,
  ): Promise<void> {
    await tx.query(remove, [tenantId, id, userId, reason ?? null]);
  }

  async ban(
    tx: Tx,
    { tenantId, userId }: RequestContext,
    callId: string,
    subjects: readonly string[],
    reason: string,
  ): Promise<void> {
    const values = { tenant_id: tenantId, call_id: callId, reason, banned_by: userId };
    for (const subject of subjects) await rowsOf(tx, CallBan).insert({ ...values, subject });
  }

  async eject(tx: Tx, { tenantId }: RequestContext, callId: string): Promise<EndedGuest[]> {
    return tx.query(eject, [tenantId, callId]);
  }
}

/** Moderation of guests by members of a call. Works without the media server: disconnections are repeated. */
@Injectable()
export class GuestModerationService {
  constructor(
    private readonly moderation: GuestModerationRepository,
    private readonly calls: CallsRepository,
    private readonly access: CallAccess,
    private readonly kicks: Kicks,
    private readonly changes: CallChanges,
    private readonly approvals: ApprovalChanges,
    private readonly audit: Audit,
    private readonly db: Db,
  ) {}

  /** Guests in the call stay, unless they are ejected. @throws ApiError 404, 403, 409 `call_ended`, 422 */
  async lock(
    ctx: RequestContext,
    callId: string,
    body: Checked<LockExternal>,
  ): Promise<JsonReply<CallEnvelope>> {
    await this.access.moderate(ctx, callId);
    const { locked, eject } = body.value;
    const key = { tenantId: ctx.tenantId, callId };
    const ejected = await this.db.tx(async (tx) => {
      const call = (await this.calls.lock(tx, key)) as Call;
      if (call.state === 'ended') throw CallErrors.callEnded.with();
      const guests = eject && locked ? await this.moderation.eject(tx, ctx, callId) : [];
      if (call.external_locked === locked && guests.length === 0) return [];
      await this.calls.update(tx, key, { external_locked: locked });
      const data = { locked, ejected: guests.length };
      const action = 'call.external.locked';
      await this.audit.record(tx, ctx, { action, objectKind: 'call', objectId: callId, data });
      this.changes.report(tx, key, 'updated');
      for (const { id } of guests.filter(({ role }) => role === 'guest'))
        tx.afterCommit(() => this.approvals.reportChange(ctx.tenantId, id));
      return guests;
    });
    await this.kicks.kickGuests(ctx.tenantId, ejected);
    return callReply((await this.calls.readShown(key)) as string);
  }

  /**
   * Ends the access of a guest to the call, for good unless `ban` is false.
   * @throws ApiError 404, 403, 422
   */
  async remove(
    ctx: RequestContext,
    callId: string,
    guestId: string,
    body: Checked<RemoveGuest>,
  ): Promise<RemovedGuestEnvelope> {
    await this.access.moderate(ctx, callId);
    const { reason, ban } = body.value;
    const key = { tenantId: ctx.tenantId, callId };
    const role = await this.db.tx(async (tx) => {
      const guest = await this.moderation.lockGuest(tx, ctx, callId, guestId);
      if (!guest) throw CallErrors.guestNotFound.with();
      await this.moderation.remove(tx, ctx, guestId, reason);
      const { email, email_verified: verified } = guest;
      const subjects = [`guest:${guestId}`, ...(verified && email !== null ? [`email:${email}`] : [])];
      if (ban) await this.moderation.ban(tx, ctx, callId, subjects, reason ?? '');
      const data = { call_id: callId, ban };
      await this.audit.record(tx, ctx, {
        action: 'call.guest.removed',
        objectKind: 'guest',
        objectId: guestId,
        data,
      });
      this.changes.report(tx, key, 'updated');
      if (guest.state === 'waiting') tx.afterCommit(() => this.approvals.reportChange(ctx.tenantId, guestId));
      return guest.role;
    });
    const isKicked = await this.kicks.kick(key, guestIdentity(role, guestId));
    return { guest: { id: guestId, state: 'removed' }, kick: isKicked ? 'done' : 'pending' };
  }
}

const FOR = 'For the host, moderators of the room, and members with the permission `calls.moderate`.';

@ApiTags('meetings')
@Controller('call')
export class GuestModerationController {
  constructor(private readonly moderation: GuestModerationService) {}

  @Endpoint('POST :call_id/external/lock', {
    id: 'lockExternalAccess',
    summary: 'Lock a call against new guests, or unlock it',
    description: `${FOR} Guests get no new codes and tokens while the call is locked.`,
    status: 200,
    response: [CallEnvelope, 'The call.'],
    optionalBody: true,
    errors: [CallErrors.callNotFound, Errors.forbidden, CallErrors.callEnded],
  })
  lock(
    @Ctx() ctx: RequestContext,
    @Id('call_id') callId: string,
    @CheckedBody(LockExternal) body: Checked<LockExternal>,
  ) {
    return this.moderation.lock(ctx, callId, body);
  }

  @Endpoint('POST :call_id/external/participants/:guest_id/remove', {
    id: 'removeExternalParticipant',
    summary: 'Remove a guest from a call',
    description: `${FOR} Works also while the media server is not available: the guest is disconnected later.`,
    status: 200,
    response: [RemovedGuestEnvelope, 'The guest is removed.'],
    optionalBody: true,
    errors: [CallErrors.callNotFound, CallErrors.guestNotFound, Errors.forbidden],
  })
  remove(
    @Ctx() ctx: RequestContext,
    @Id('call_id') callId: string,
    @Id('guest_id') guestId: string,
    @CheckedBody(RemoveGuest) body: Checked<RemoveGuest>,
  ): Promise<RemovedGuestEnvelope> {
    return this.moderation.remove(ctx, callId, guestId, body);
  }
}
