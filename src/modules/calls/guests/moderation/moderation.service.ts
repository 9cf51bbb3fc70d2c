import { Injectable } from '@nestjs/common';
import { Audit } from '../../../../platform/audit/audit.js';
import type { RequestContext } from '../../../../platform/context/request-context.js';
import { Db } from '../../../../platform/database/db.js';
import type { Checked } from '../../../../platform/http/input.pipe.js';
import type { JsonReply } from '../../../../platform/http/json-reply.js';
import { CallAccess } from '../../call-access.js';
import { CallChanges } from '../../changes/call-changes.js';
import { guestIdentity } from '../../model/call-identity.js';
import type { Call } from '../../calls.entity.js';
import { CallErrors } from '../../calls.errors.js';
import { CallsRepository } from '../../calls.repository.js';
import { Kicks } from '../../changes/kicks.js';
import { ApprovalChanges } from '../changes/approval-changes.js';
import type { LockExternal, RemoveGuest } from './moderation.dto.js';
import type { RemovedGuestEnvelope } from './moderation.response.js';
import { GuestModerationRepository } from './moderation.repository.js';
import type { CallEnvelope } from '../../call.response.js';
import { callReply } from '../../responses/call.presenter.js';

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
        tx.afterCommit(() => this.approvals.changed(ctx.tenantId, id));
      return guests;
    });
    await this.kicks.kickGuests(ctx.tenantId, ejected);
    return callReply((await this.calls.shown(key)) as string);
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
      if (guest.state === 'waiting') tx.afterCommit(() => this.approvals.changed(ctx.tenantId, guestId));
      return guest.role;
    });
    const isKicked = await this.kicks.kick(key, guestIdentity(role, guestId));
    return { guest: { id: guestId, state: 'removed' }, kick: isKicked ? 'done' : 'pending' };
  }
}
