import { Injectable, Logger } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { BodyReply } from '../../../../platform/http/replies/body-reply.js';
import { JsonReply } from '../../../../platform/http/json-reply.js';
import { TenantProfileService } from '../../../tenants/index.js';
import { guestIdentity } from '../../model/call-events.js';
import { CallServer, JOIN_TOKEN_SECONDS } from '../../call-server.js';
import { ServerRooms } from '../../server-rooms.js';
import { ApprovalChanges } from '../changes/approval-changes.js';
import type { Guest } from '../guests.schema.js';
import { GuestCodes } from '../guest-codes.js';
import { GuestLimits } from '../guest-limits.js';
import { hashOf, newToken } from '../../../../platform/secrets/secret-box.js';
import { GuestErrors } from '../guests.dto.js';
import { GuestSessions, WaitingGuest } from '../guest-sessions.js';
import { rejectEnded } from '../model/guest-rules.js';
import { GuestsRepository, type GuestView } from '../guests.repository.js';
import type { Visitor } from '../model/visitor.js';
import type {
  CallSessionEnvelope,
  ClaimedInviteEnvelope,
  ClaimInvite,
  GuestStatusEnvelope,
  LeftSessionEnvelope,
  RenewedSessionEnvelope,
  WaitingSessionEnvelope,
} from './access.dto.js';

const SESSION_SECONDS = 900;
const POLL_SECONDS = 3;
/** Seconds in which a changed name or logo of a workspace may still be shown. */
const PROFILE_SECONDS = 60;

/** A workspace as guests see it. */
interface TenantProfile {
  name: string;
  /** Query of the address of the logo, with its version; null without a logo. */
  logo: string | null;
}

/** Status, claim, sessions and media tokens of guests. Each request evaluates the access again. */
@Injectable()
export class GuestAccessService {
  private readonly logger = new Logger('Guests');
  private readonly tenantProfiles = new LRUCache<string, TenantProfile>({
    max: 1_000,
    ttl: PROFILE_SECONDS * 1_000,
  });

  constructor(
    private readonly guests: GuestsRepository,
    private readonly codes: GuestCodes,
    private readonly limits: GuestLimits,
    private readonly approvals: ApprovalChanges,
    private readonly tenants: TenantProfileService,
    private readonly calls: CallServer,
    private readonly rooms: ServerRooms,
    private readonly sessions: GuestSessions,
  ) {}

  /** Shows no names and addresses of members. @throws ApiError 404, 410, 429 */
  async status(visitor: Visitor): Promise<GuestStatusEnvelope> {
    // Guests poll this route, so the limits and the read run in parallel. A rejection by the limits takes precedence.
    const [limited, opened] = await Promise.allSettled([this.limits.enforce(visitor), this.open(visitor)]);
    if (limited.status === 'rejected') throw limited.reason;
    if (opened.status === 'rejected') throw opened.reason;
    const view = opened.value;
    if (view.guest_id !== null && view.is_stale) await this.guests.touch(visitor.tenantId, view.guest_id);
    return present(visitor, view, await this.tenantProfile(visitor.tenantId));
  }

  /** The logo of the workspace. @throws ApiError 404 also without a logo, 410, 429 */
  async logo(visitor: Visitor): Promise<BodyReply> {
    await this.limits.enforce(visitor);
    await this.open(visitor);
    return this.tenants.logo(visitor.tenantId, [], { cacheControl: 'private, no-store' });
  }

  /**
   * Makes the visitor a guest, or continues as the guest with the same verified address.
   * @throws ApiError 403, 404, 410, 422 `otp_invalid`, 429 `otp_locked`
   */
  async claim(visitor: Visitor, input: ClaimInvite): Promise<ClaimedInviteEnvelope> {
    const { guest: values, token, session } = this.codes.newGuest(visitor, 'join', input);
    const { id, state, display_name: name } = await this.sessions.claim(visitor, values, SESSION_SECONDS);
    return { guest: { id, state, name }, guest_token: token.token, session: sessionOf(session.token) };
  }

  /** @throws ApiError 401 `guest_token_invalid`, `session_reused` */
  async renew(visitor: Visitor, guestToken: string): Promise<RenewedSessionEnvelope> {
    const [token, session] = [newToken(visitor.tenantId), newToken(visitor.tenantId)];
    const next = { token: token.hash, session: session.hash };
    await this.sessions.rotate(visitor, hashOf(guestToken), next, SESSION_SECONDS, (guest) =>
      this.disconnect(visitor, guest),
    );
    return { guest_token: token.token, session: sessionOf(session.token) };
  }

  /** It also serves an expired or unknown session. @throws ApiError 404 for an unknown invite */
  async leave(visitor: Visitor): Promise<LeftSessionEnvelope> {
    const left = await this.sessions.leave(visitor);
    if (left?.before === 'waiting') this.approvals.reportChange(visitor.tenantId, left.guest.id);
    if (left?.before === 'in_session') await this.disconnect(visitor, left.guest);
    return { left: true };
  }

  /**
   * A token of the media server for an admitted guest; 202 for a waiting one.
   * @throws ApiError 401, 403, 404, 409 `call_not_live`, `call_full`, 410, 503
   */
  async enter(
    visitor: Visitor,
    audioOnly: boolean,
  ): Promise<JsonReply<CallSessionEnvelope> | JsonReply<WaitingSessionEnvelope>> {
    const { clientUrl: url } = this.calls;
    const { tenantId } = visitor;
    const result = await this.sessions.enter(visitor);
    if (result instanceof WaitingGuest)
      return JsonReply.of<WaitingSessionEnvelope>(
        { state: 'waiting', poll_after: POLL_SECONDS },
        { status: 202 },
      );
    const { id, display_name: name } = result;
    const identity = guestIdentity('guest', id);
    const call = { tenantId, callId: result.call_id as string };
    await this.rooms.prepare(call);
    const token = await this.calls.mintToken(call, { identity, name, role: 'guest', audioOnly });
    return JsonReply.of<CallSessionEnvelope>({ token, url, identity, expires_in: JOIN_TOKEN_SECONDS });
  }

  /** Disconnects a guest. An error is logged only: the client of the guest disconnects as well. */
  private async disconnect({ tenantId }: Visitor, { call_id: callId, id, role }: Guest): Promise<void> {
    if (callId === null || !this.calls.isConfigured) return;
    await this.calls
      .removeParticipant({ tenantId, callId }, guestIdentity(role, id))
      .catch((error: unknown) => this.logger.warn({ err: error }, 'a guest who left was not disconnected'));
  }

  /** @throws ApiError 404, 410 */
  private async open(visitor: Visitor): Promise<GuestView> {
    const view = await this.guests.view(visitor);
    if (!view) throw GuestErrors.inviteNotFound.with();
    const ended = rejectEnded(view);
    if (ended) throw ended;
    return view;
  }

  private async tenantProfile(tenantId: string): Promise<TenantProfile> {
    const cached = this.tenantProfiles.get(tenantId);
    if (cached !== undefined) return cached;
    const { name, branding } = (await this.tenants.read(tenantId)).tenant;
    const profile = { name, logo: branding.logo_url === null ? null : new URL(branding.logo_url).search };
    this.tenantProfiles.set(tenantId, profile);
    return profile;
  }
}

const sessionOf = (token: string) => ({ token, expires_in: SESSION_SECONDS });

function present({ path }: Visitor, view: GuestView, { name, logo }: TenantProfile): GuestStatusEnvelope {
  const { kind, target_kind, role, title, starts_at, require_otp, require_approval, chat_allowed, state } =
    view;
  const { guest_id: id, guest_name } = view;
  const guest_state = view.is_banned ? 'removed' : view.guest_state;
  return {
    invite: {
      kind,
      target_kind,
      role,
      title,
      tenant: { name, logo_url: logo === null ? null : `${path}/logo${logo}` },
      starts_at: starts_at?.toISOString() ?? null,
      requires: { otp: require_otp, approval: require_approval, name: role === 'guest' },
      chat_allowed,
      state,
    },
    call: { live: view.call_state === 'live', locked: view.locked },
    ...(id !== null &&
      guest_state !== null && { guest: { id, state: guest_state, name: guest_name as string } }),
    poll_after: POLL_SECONDS,
  };
}
