import { fieldError } from '../../../../platform/http/errors.js';
import type { ExternalInvite } from '../guests.schema.js';
import type { CreateInvites } from './invites.dto.js';
import type { InviteTarget } from './invites.repository.js';

const MAX_DAYS = 30;
const DAY_MS = 24 * 3_600 * 1_000;
const LINK_USES = 100;
const VIEWER_USES = 10_000;

export type InviteInput = Omit<CreateInvites, 'call_id'>;

type InviteValues = Pick<
  ExternalInvite,
  | 'target_kind'
  | 'call_id'
  | 'room_id'
  | 'kind'
  | 'role'
  | 'email'
  | 'name'
  | 'require_otp'
  | 'require_approval'
  | 'chat_allowed'
  | 'max_uses'
  | 'expires_at'
>;

/** The rows of new invites: one for each address, or one link. @throws ApiError 422 */
export function inviteValues(target: InviteTarget, input: InviteInput): InviteValues[] {
  const { emails, kind = emails ? 'personal' : 'link', role = 'guest' } = input;
  if (kind === 'personal' && !emails)
    throw fieldError('emails', 'required', 'emails are required for personal invites');
  if (kind === 'link' && emails) throw fieldError('emails', 'not_allowed', 'a link has no addresses');
  if (role === 'viewer' && target.call_kind !== 'livestream')
    throw fieldError('role', 'livestreams_only', 'viewers are for livestreams only');
  if (role === 'viewer') rejectGuestOptions(input);
  const common = {
    target_kind: target.call_id === null ? ('chat_room' as const) : ('call' as const),
    call_id: target.call_id,
    room_id: target.room_id,
    kind,
    role,
    name: input.name ?? null,
    ...policyOf(target, input, kind),
    // Viewers only watch, so they need no approval.
    ...(role === 'viewer' && { require_approval: false, chat_allowed: false }),
    max_uses: input.max_uses ?? usesOf(kind, role),
    expires_at: expiryOf(input.expires_at),
  };
  return kind === 'link'
    ? [{ ...common, email: null }]
    : (emails ?? []).map((email) => ({ ...common, email }));
}

/** @throws ApiError 422 */
function rejectGuestOptions(input: InviteInput): void {
  const given = (['require_approval', 'chat_allowed'] as const).find((field) => input[field] === true);
  if (given) throw fieldError(given, 'guests_only', `${given} is for guests only`);
}

/** Hosts and moderators choose the policy; invites of other members are at least as strict as the call. */
function policyOf(
  { moderates, lobby, otp, guest_chat }: InviteTarget,
  { require_otp, require_approval, chat_allowed }: InviteInput,
  kind: 'personal' | 'link',
): Pick<InviteValues, 'require_otp' | 'require_approval' | 'chat_allowed'> {
  const isLink = kind === 'link';
  const defaults = { otp: !isLink && (otp ?? true), approval: isLink || (lobby ?? false) };
  const chosen = { otp: require_otp ?? defaults.otp, approval: require_approval ?? defaults.approval };
  return {
    require_otp: moderates ? chosen.otp : chosen.otp || defaults.otp,
    require_approval: moderates ? chosen.approval : chosen.approval || defaults.approval,
    chat_allowed: (chat_allowed ?? true) && (guest_chat ?? true),
  };
}

function usesOf(kind: 'personal' | 'link', role: 'guest' | 'viewer'): number {
  if (kind === 'personal') return 1;
  return role === 'viewer' ? VIEWER_USES : LINK_USES;
}

function expiryOf(given: Date | undefined): Date {
  const latest = new Date(Date.now() + MAX_DAYS * DAY_MS);
  if (given === undefined) return latest;
  if (given <= new Date() || given > latest)
    throw fieldError('expires_at', 'out_of_range', `expires_at must be in the next ${MAX_DAYS} days`);
  return given;
}
