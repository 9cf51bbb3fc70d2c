import { createHash } from 'node:crypto';
import { isUuid } from '../../../platform/http/id.pipe.js';
import type { CallPrincipal } from '../calls.schema.js';

/** Events of the outbox. Payloads have `call_id`. */

/** A call became live: `user_id` is the caller who started it. */
export const CALL_STARTED = 'call.started';
/** A call ended: `started_at`, and `user_id` of the user who ended it. Both may be null. */
export const CALL_ENDED = 'call.ended';
/** The room of an ended call is to be deleted at the media server. */
export const CALL_ROOM_UNUSED = 'call.room_unused';
/** A participant connected to a call that is recorded from the start: `host_id`. */
export const CALL_JOINED = 'call.joined';
/** Members of the room of a call lost access. */
export const CALL_ACCESS_CHANGED = 'call.access_changed';
/** The media server has finished the file of a recording: `recording_id`. */
export const RECORDING_COMPLETE = 'call.recording_complete';
/** A recording failed: `recording_id`. */
export const RECORDING_FAILED = 'call.recording_failed';
/** A recording is in the blob store: `recording_id`. */
export const RECORDING_READY = 'call.recording_ready';

/** The key of a call. */
export interface CallKey {
  readonly tenantId: string;
  readonly callId: string;
}

/** A participant as the media server knows them. */
export interface CallIdentity {
  readonly kind: CallPrincipal;
  /** Id of the user or of the guest. */
  readonly id: string;
}

const PREFIXES: Record<CallPrincipal, string> = { user: 'u', guest: 'g', viewer: 'v' };
const KINDS = new Map(Object.entries(PREFIXES).map(([kind, prefix]) => [prefix, kind as CallPrincipal]));

const ROOM = /^t([0-9a-f]{32})\.([0-9a-f-]{36})$/;
const IDENTITY = /^([ugv]):([0-9a-f-]{36})(?::[0-9a-f]{8})?$/;

/** Name of the room of a call at the media server: `t<workspace, hexadecimal>.<call>`. */
export const roomNameOf = ({ tenantId, callId }: CallKey): string =>
  `t${tenantId.replaceAll('-', '')}.${callId}`;

/** @returns undefined for the name of a room of another service */
export function callOfRoom(name: string): CallKey | undefined {
  const [, tenant = '', callId = ''] = ROOM.exec(name) ?? [];
  const tenantId = tenant.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  return isUuid(tenantId) && isUuid(callId) ? { tenantId, callId } : undefined;
}

/**
 * The identity of a user: `u:<user>:<8 digits of a hash of the session>`. Two sessions of a user are two participants; a second
 * connection of one session replaces the first.
 */
export function userIdentity(userId: string, sessionId: string | null): string {
  const session = createHash('sha256')
    .update(sessionId ?? '')
    .digest('hex');
  return `${PREFIXES.user}:${userId}:${session.slice(0, 8)}`;
}

/** The identity of a guest or a viewer: `g:<guest>` or `v:<guest>`. */
export const guestIdentity = (kind: 'guest' | 'viewer', guestId: string): string =>
  `${PREFIXES[kind]}:${guestId}`;

/** @returns undefined for an identity that this service has not issued, such as that of a recorder */
export function identityOf(text: string): CallIdentity | undefined {
  const [, prefix = '', id = ''] = IDENTITY.exec(text) ?? [];
  const kind = KINDS.get(prefix);
  return kind && isUuid(id) ? { kind, id } : undefined;
}
