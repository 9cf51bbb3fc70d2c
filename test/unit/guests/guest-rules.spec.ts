import { ApiError, ErrorKind } from '../../../src/platform/http/errors.js';
import type { Guest, GuestState } from '../../../src/modules/calls/guests/guests.schema.js';
import {
  addressOf,
  type ClaimFacts,
  claimInvite,
  endSessions,
  enterCall,
  fitsInvite,
  hasSession,
  type InviteState,
  joinAudience,
  leaveCall,
  type NewGuest,
  rejectChat,
  rejectClaim,
  rejectFor,
  renewGuest,
  reviewDomain,
  reviewGuest,
  verifyViewer,
  writeToChat,
} from '../../../src/modules/calls/guests/model/guest-rules.js';

const now = new Date('2026-11-28T12:00:00Z');
const before = (seconds: number): Date => new Date(now.getTime() - seconds * 1_000);

const invite = (change: Partial<InviteState> = {}): InviteState => ({
  id: 'i',
  tenant_id: 't',
  kind: 'personal',
  target_kind: 'call',
  role: 'guest',
  email: 'gina@partner.example',
  state: 'active',
  title: '',
  starts_at: null,
  require_otp: false,
  require_approval: false,
  chat_allowed: true,
  uses: 0,
  max_uses: 1,
  call_id: 'c',
  call_kind: 'livestream',
  call_state: 'live',
  locked: false,
  max_guests: 2,
  max_viewers: 2,
  room_id: 'r',
  last_seq: '7',
  is_chat_link: false,
  now,
  ...change,
});

const POLICY = { isOpen: true, seconds: 900 };
const GINA = 'gina@partner.example';

const values = (change: Partial<NewGuest> = {}): NewGuest & { email: string } => ({
  id: 'g',
  name: 'Gina',
  email: GINA,
  codes: [Buffer.from('code')],
  token_hash: Buffer.from('token'),
  session_hash: Buffer.from('session'),
  addressHash: Buffer.from('network'),
  userAgent: 'Browser',
  ...(change as object),
});

const known = (state: GuestState): Guest => ({ id: 'k', state }) as Guest;

/** The code of an error, or what a rule returned. */
function codeOf(result: unknown): unknown {
  if (result instanceof ApiError) return result.kind.code;
  return result instanceof ErrorKind ? result.code : result;
}

describe('an invite', () => {
  it.each([
    [{ state: 'revoked', role: 'viewer', locked: true }, 'invite_revoked'],
    [{ state: 'expired', locked: true }, 'invite_expired'],
    [{ role: 'viewer', locked: true }, 'wrong_invite'],
    [{ locked: true }, 'call_locked'],
    [{ state: 'exhausted' }, null],
  ] as const)('%j is for a guest: %s', (change, code) => {
    expect(codeOf(rejectFor(invite(change), 'guest'))).toBe(code);
  });

  it.each([
    ['personal', GINA, null, false, true, true],
    ['personal', 'other@partner.example', null, false, true, false],
    ['link', 'other@partner.example', null, false, false, false],
    ['link', 'other@partner.example', 'requested', false, true, true],
    ['link', 'other@partner.example', 'requested', false, false, false],
    ['link', 'other@partner.example', 'allowed', false, false, true],
    ['link', 'other@partner.example', 'denied', false, true, false],
    ['link', 'other@partner.example', 'allowed', true, true, false],
  ] as const)(
    '%s for %s, domain %s, banned %s, open %s: %s',
    (kind, email, domain, isBanned, isOpen, fits) => {
      expect(fitsInvite(invite({ kind }), email, { domain, is_banned: isBanned }, { isOpen })).toBe(fits);
    },
  );
});

describe('a claim', () => {
  const facts: ClaimFacts = { domain: null, is_banned: false, is_suspect: false };
  const link = { kind: 'link', email: null, max_uses: 5 } as const;

  it('of a personal invite without a code is for its own address', () => {
    expect(addressOf(invite(), { email: 'other@partner.example' })).toBe(GINA);
    expect(addressOf(invite({ require_otp: true }), { email: 'other@partner.example' })).toBe(
      'other@partner.example',
    );
    expect(addressOf(invite(link), { email: null })).toBeNull();
  });

  it('needs what the invite requires', () => {
    const required = invite({ require_otp: true });
    const missing = (given: Partial<NewGuest>) =>
      (rejectClaim(required, values(given)) as ApiError).extras.details?.map(({ field, code }) => [
        field,
        code,
      ]);
    expect(missing({ email: null })).toEqual([['email', 'required']]);
    expect(missing({ codes: null })).toEqual([['code', 'required']]);
    expect(missing({ email: null, codes: null })).toEqual([
      ['email', 'required'],
      ['code', 'required'],
    ]);
    expect(rejectClaim(required, values())).toBeNull();
    expect(rejectClaim(invite(), values({ email: null, codes: null }))).toBeNull();
    expect(codeOf(rejectClaim({ ...required, locked: true }, values({ codes: null })))).toBe('call_locked');
  });

  it.each([
    ['another address', {}, { is_banned: true }, null, 'guest_removed'],
    ['a denied domain', {}, { domain: 'denied' }, null, 'guest_removed'],
    ['a removed guest', { uses: 1 }, {}, 'removed', 'guest_removed'],
    ['a second claim without a code', {}, {}, 'admitted', 'invite_exhausted'],
    ['an invite that is used up', { uses: 1 }, {}, null, 'invite_exhausted'],
  ] as const)('with %s is rejected', (_, change, fact, state, code) => {
    const guest = state && known(state);
    expect(codeOf(claimInvite(invite(change), values(), guest, { ...facts, ...fact }, POLICY))).toBe(code);
  });

  it('of a link without an address has no domain', () => {
    const anonymous = values({ email: null, codes: null });
    const denied = { ...facts, domain: 'denied' } as const;
    expect(claimInvite(invite(link), anonymous, null, denied, POLICY)).toMatchObject({ email: null });
  });

  it('makes a guest with a session of 15 minutes', () => {
    expect(claimInvite(invite(link), values(), null, facts, POLICY)).toEqual({
      id: 'g',
      invite_id: 'i',
      call_id: 'c',
      room_id: 'r',
      role: 'guest',
      state: 'admitted',
      display_name: 'Gina',
      email: GINA,
      email_verified_at: null,
      token_hash: Buffer.from('token'),
      session_hash: Buffer.from('session'),
      session_expires_at: before(-900),
      active_at: now,
      updated_at: now,
      waiting_since: null,
      token_at: null,
      admitted_seq: '7',
      address_hash: Buffer.from('network'),
      user_agent: 'Browser',
    });
  });

  it.each([
    [{ require_approval: true }, false],
    [{}, true],
  ] as const)('with %j, suspect %s, waits and sees no earlier message', (change, isSuspect) => {
    const made = claimInvite(
      invite({ ...link, require_otp: true, ...change }),
      values(),
      null,
      { ...facts, is_suspect: isSuspect },
      POLICY,
    );
    const waiting = { state: 'waiting', waiting_since: now, admitted_seq: null, email_verified_at: now };
    expect(made).toMatchObject(waiting);
  });

  it('with a code continues as the guest with the address, also of an invite that is used up', () => {
    const again = (state: GuestState) =>
      claimInvite(invite({ require_otp: true, uses: 1 }), values(), known(state), facts, POLICY);
    const renewed = {
      display_name: 'Gina',
      email_verified_at: now,
      token_hash: Buffer.from('token'),
      session_hash: Buffer.from('session'),
      session_expires_at: before(-900),
      active_at: now,
      updated_at: now,
    };
    for (const state of ['waiting', 'admitted', 'in_session', 'left', 'denied'] as const)
      expect(again(state)).toEqual(renewed);
    expect(again('expired')).toEqual({ ...renewed, state: 'waiting', waiting_since: now });
  });
});

describe('a guest token', () => {
  const next = { token_hash: Buffer.from('token'), session_hash: Buffer.from('session') };

  it('renews the session, also of a guest who has left', () => {
    expect(renewGuest(known('left'), next, now, POLICY)).toEqual({
      ...next,
      session_expires_at: before(-900),
      active_at: now,
      updated_at: now,
    });
  });

  it.each([
    [null, 'guest_token_invalid'],
    [known('removed'), 'guest_removed'],
  ])('of %j is rejected: %s', (guest, code) => {
    expect(codeOf(renewGuest(guest, next, now, POLICY))).toBe(code);
  });

  it.each([
    ['in_session', 'left'],
    ['admitted', undefined],
    ['waiting', undefined],
  ] as const)('that was used before ends the sessions of a guest who is %s', (state, after) => {
    const hash = Buffer.from('random');
    const ended = endSessions({ state }, hash, now);
    expect(ended).toMatchObject({ token_hash: hash, session_hash: null, session_expires_at: null });
    expect(ended.state).toBe(after);
  });
});

describe('entering a call', () => {
  it.each([
    ['removed', {}, false, 0, 'guest_removed'],
    ['admitted', {}, true, 0, 'guest_removed'],
    ['waiting', {}, true, 0, 'guest_removed'],
    ['admitted', { is_chat_link: true, locked: true }, false, 0, 'chat_only'],
    ['waiting', { is_chat_link: true }, false, 0, 'chat_only'],
    ['admitted', { locked: true }, false, 0, 'call_locked'],
    ['left', { call_state: 'ended' }, false, 0, 'call_not_live'],
    ['in_session', {}, false, 2, 'call_full'],
  ] as const)('%s, %j, banned %s, %s places taken: %s', (state, change, isBanned, places, code) => {
    const guest = { state, requests: 1, decided_at: null, is_banned: isBanned };
    expect(codeOf(enterCall(invite(change as Partial<InviteState>), guest, places))).toBe(code);
  });

  it.each([
    ['admitted', {}, 1],
    ['left', {}, 1],
    ['in_session', { max_guests: null }, 9],
  ] as const)('%s, %j, %s places taken: takes one in the call of the invite', (state, change, places) => {
    const guest = { state, requests: 1, decided_at: null, is_banned: false };
    expect(enterCall(invite(change), guest, places)).toEqual({
      state: 'in_session',
      call_id: 'c',
      active_at: now,
      token_at: now,
      updated_at: now,
    });
  });

  it.each([
    ['left', before(1), false],
    ['left', null, false],
    ['left', before(-1), true],
    ['removed', null, true],
  ] as const)('%s has a session until %s: %s', (state, sessionExpiresAt, has) => {
    expect(hasSession({ state, session_expires_at: sessionExpiresAt }, now)).toBe(has);
  });
});

describe('the queue', () => {
  /** A locked, full call that is not live: guests in the queue do not learn of it. */
  const enter = (guest: Pick<Guest, 'state' | 'requests' | 'decided_at'>) =>
    enterCall(invite({ locked: true, call_state: 'ended' }), { ...guest, is_banned: false }, 9);

  it('is joined again after a pause, three times', () => {
    const denied = { state: 'denied', requests: 1, decided_at: before(61) } as const;
    expect(enter(denied)).toMatchObject({ state: 'waiting', requests: 2, waiting_since: now });
    expect(codeOf(enter({ ...denied, decided_at: before(59) }))).toBe('guest_denied');
    expect(codeOf(enter({ ...denied, requests: 3 }))).toBe('guest_denied');
  });

  it('keeps the place of a waiting guest; an expired one joins again without a pause', () => {
    const waiting = { state: 'waiting', requests: 3, decided_at: null } as const;
    expect(enter(waiting)).toEqual({ state: 'waiting', active_at: now, updated_at: now });
    expect(enter({ ...waiting, state: 'expired', decided_at: before(1) })).toEqual({
      state: 'waiting',
      active_at: now,
      updated_at: now,
      waiting_since: now,
    });
  });

  const decision = { reason: '', remember: false, userId: 'u', now };

  it.each([
    ['waiting', null, true, { state: 'admitted', admitted_seq: '7' }],
    ['waiting', null, false, { state: 'denied', admitted_seq: null }],
    ['left', 'u', true, 'unchanged'],
    ['in_session', 'u', true, 'unchanged'],
    ['left', null, true, 'already_reviewed'],
    ['left', 'u', false, 'already_reviewed'],
    ['denied', 'u', false, 'unchanged'],
    ['denied', 'u', true, 'already_reviewed'],
    ['expired', 'u', true, 'already_reviewed'],
    ['removed', 'u', false, 'already_reviewed'],
  ] as const)('a guest who is %s, decided by %s, admitted %s: %j', (state, decidedBy, admits, result) => {
    const reviewed = reviewGuest(
      { state, decided_by: decidedBy, admitted_seq: null },
      { ...decision, admits },
      '7',
    );
    if (typeof result === 'string') expect(codeOf(reviewed)).toBe(result);
    else expect(reviewed).toMatchObject(result);
  });

  it('a first admission decides which messages are hidden; a remembered denial is final', () => {
    const waiting = { state: 'waiting', decided_by: null, admitted_seq: '3' } as const;
    expect(reviewGuest(waiting, { ...decision, admits: true }, '7')).toMatchObject({ admitted_seq: '3' });
    expect(reviewGuest(waiting, { ...decision, admits: false, remember: true }, '7')).toMatchObject({
      requests: 3,
    });
  });

  it.each([
    ['requested', true, { state: 'allowed', reviewed_by: 'u', reviewed_at: now }],
    ['requested', false, { state: 'denied', reviewed_by: 'u', reviewed_at: now }],
    ['allowed', true, 'unchanged'],
    ['denied', false, 'unchanged'],
    ['allowed', false, 'already_reviewed'],
    ['denied', true, 'already_reviewed'],
  ] as const)('a domain that is %s, allowed %s: %j', (state, admits, result) => {
    expect(codeOf(reviewDomain({ state }, { admits, userId: 'u', now }))).toEqual(result);
  });

  it.each([
    ['waiting', 'expired'],
    ['admitted', 'left'],
    ['in_session', 'left'],
    ['denied', undefined],
    ['removed', undefined],
  ] as const)('a guest who is %s and leaves is %s', (state, after) => {
    expect(leaveCall({ state, session_expires_at: before(-60) }, now)).toMatchObject({
      session_expires_at: now,
    });
    expect(leaveCall({ state, session_expires_at: before(-60) }, now).state).toBe(after);
    expect(leaveCall({ state, session_expires_at: before(60) }, now)).not.toHaveProperty(
      'session_expires_at',
    );
  });
});

describe('the chat', () => {
  const guest = { role: 'guest', state: 'in_session', isBanned: false, isAdmitted: true } as const;
  const open = { state: 'active', chat_allowed: true } as const;

  it.each([
    [{ ...open, guest }, null],
    [{ ...open, state: 'revoked' as const, guest }, 'invite_revoked'],
    [{ ...open, guest: null }, 'guest_session_required'],
    [{ ...open, guest: { ...guest, isBanned: true } }, 'guest_removed'],
    [{ ...open, guest: { ...guest, state: 'waiting' as GuestState } }, 'guest_waiting'],
    [{ ...open, guest: { ...guest, state: 'denied' as GuestState } }, 'guest_denied'],
    [{ ...open, guest: { ...guest, isAdmitted: false } }, 'chat_not_allowed'],
    [{ ...open, chat_allowed: false, guest }, 'chat_not_allowed'],
    [{ ...open, guest: { ...guest, role: 'viewer' as const } }, 'chat_not_allowed'],
  ])('%j: %s', (facts, code) => {
    expect(codeOf(rejectChat(facts))).toBe(code);
  });

  it('counts the bytes of files', () => {
    expect(writeToChat({ upload_bytes: '10' }, 5, now)).toMatchObject({ upload_bytes: '15' });
    expect(codeOf(writeToChat({ upload_bytes: String(50 * 1024 * 1024) }, 1, now))).toBe(
      'upload_quota_exceeded',
    );
  });
});

describe('the audience of a livestream', () => {
  const stream = invite({ role: 'viewer' });
  const join = (
    change: Partial<InviteState>,
    state: GuestState | null,
    hasToken: boolean,
    { places = 0, is_banned = false } = {},
  ) =>
    joinAudience(
      { ...stream, ...change },
      state && { state, is_banned },
      places,
      { ...values(), hasToken },
      POLICY,
    );

  it.each([
    [{ locked: true, require_otp: true }, null, false, {}, 'call_locked'],
    [{ require_otp: true }, null, false, {}, 'verification_required'],
    [{}, null, true, {}, 'verification_required'],
    [{}, 'removed', true, {}, 'guest_removed'],
    [{}, 'left', true, { is_banned: true }, 'guest_removed'],
    [{ call_kind: 'meeting' }, null, false, {}, 'not_live'],
    [{ call_state: 'ended', uses: 1 }, null, false, {}, 'not_live'],
    [{ uses: 1, max_viewers: 0 }, null, false, {}, 'invite_exhausted'],
    [{}, null, false, { places: 2 }, 'livestream_full'],
    [{}, 'left', true, { places: 2 }, 'livestream_full'],
  ] as const)('%j, viewer %s, token %s, %j: %s', (change, state, hasToken, given, code) => {
    expect(codeOf(join(change, state, hasToken, given))).toBe(code);
  });

  it('has a place for a new viewer, without an address, and for a known one of a used invite', () => {
    expect(join({}, null, false)).toMatchObject({
      id: 'g',
      role: 'viewer',
      state: 'in_session',
      email: null,
      token_at: now,
      session_hash: Buffer.from('session'),
    });
    const place = { state: 'in_session', call_id: 'c', active_at: now, token_at: now, updated_at: now };
    expect(join({ uses: 1, max_viewers: null }, 'left', true, { places: 9 })).toEqual(place);
  });

  const verify = (state: GuestState | null, change: Partial<InviteState> = {}, isBanned = false) => {
    const claim = { domain: null, is_banned: isBanned, is_suspect: true };
    return verifyViewer({ ...stream, ...change }, values(), state && { state }, claim, POLICY);
  };

  it.each([
    ['removed', {}, false, 'guest_removed'],
    [null, { uses: 1 }, true, 'guest_removed'],
    [null, { uses: 1 }, false, 'invite_exhausted'],
  ] as const)('has no viewer who is %s, %j, banned %s: %s', (state, change, isBanned, code) => {
    expect(codeOf(verify(state, change, isBanned))).toBe(code);
  });

  it('has viewers with an address, who never wait', () => {
    expect(verify(null)).toMatchObject({ state: 'admitted', email: GINA, email_verified_at: now });
    const renewed = verify('left', { uses: 1 });
    expect(renewed).toMatchObject({ session_hash: Buffer.from('session'), email_verified_at: now });
    expect(renewed).not.toHaveProperty('state');
  });
});
