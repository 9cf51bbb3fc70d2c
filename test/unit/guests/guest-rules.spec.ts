import { ApiError } from '../../../src/platform/http/errors.js';
import type { GuestState } from '../../../src/modules/calls/guests/guests.schema.js';
import {
  continueGuest,
  countRequest,
  enterCall,
  fitsInvite,
  hasSession,
  type InviteState,
  joinAudience,
  joinQueue,
  leaveCall,
  rejectChat,
  rejectFor,
  reviewGuest,
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

/** The code of an error, or what a rule returned. */
const codeOf = (result: unknown): unknown => (result instanceof ApiError ? result.kind.code : result);

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
    ['personal', 'gina@partner.example', undefined, false, true, true],
    ['personal', 'other@partner.example', undefined, false, true, false],
    ['link', 'other@partner.example', undefined, false, false, false],
    ['link', 'other@partner.example', 'requested', false, true, true],
    ['link', 'other@partner.example', 'requested', false, false, false],
    ['link', 'other@partner.example', 'allowed', false, false, true],
    ['link', 'other@partner.example', 'denied', false, true, false],
    ['link', 'other@partner.example', 'allowed', true, true, false],
  ] as const)(
    '%s for %s, domain %s, banned %s, open %s: %s',
    (kind, email, domain, isBanned, isOpen, fits) => {
      expect(fitsInvite(invite({ kind }), email, { domain, isBanned }, isOpen)).toBe(fits);
    },
  );
});

describe('entering a call', () => {
  const free = { isBanned: false, places: 0 };

  it.each([
    ['removed', {}, free, 'guest_removed'],
    ['admitted', {}, { ...free, isBanned: true }, 'guest_removed'],
    ['admitted', { is_chat_link: true }, free, 'chat_only'],
    ['waiting', { locked: true }, free, 'queue'],
    ['expired', {}, free, 'queue'],
    ['denied', {}, free, 'queue'],
    ['admitted', { locked: true }, free, 'call_locked'],
    ['left', { call_state: 'ended' }, free, 'call_not_live'],
    ['in_session', {}, { ...free, places: 2 }, 'call_full'],
  ] as const)('%s, %j, %j: %s', (state, change, facts, code) => {
    expect(codeOf(enterCall(invite(change as Partial<InviteState>), { state }, facts))).toBe(code);
  });

  it('takes a place in the call of the invite', () => {
    expect(enterCall(invite(), { state: 'left' }, { isBanned: false, places: 1 })).toMatchObject({
      state: 'in_session',
      call_id: 'c',
      token_at: now,
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
  it('is joined again after a pause, three times', () => {
    const denied = { state: 'denied', requests: 1, decided_at: before(61) } as const;
    expect(joinQueue(denied, now)).toMatchObject({ state: 'waiting', requests: 2, waiting_since: now });
    expect(codeOf(joinQueue({ ...denied, decided_at: before(59) }, now))).toBe('guest_denied');
    expect(codeOf(joinQueue({ ...denied, requests: 3 }, now))).toBe('guest_denied');
  });

  it('keeps the place of a waiting guest', () => {
    expect(joinQueue({ state: 'waiting', requests: 1, decided_at: null }, now)).not.toHaveProperty(
      'waiting_since',
    );
    expect(continueGuest({ state: 'admitted' }, 'Gina', now)).not.toHaveProperty('state');
    expect(continueGuest({ state: 'expired' }, 'Gina', now)).toMatchObject({ state: 'waiting' });
  });

  const decision = { reason: '', remember: false, userId: 'u', now };

  it.each([
    ['waiting', null, true, { state: 'admitted', admitted_seq: '7' }],
    ['waiting', null, false, { state: 'denied', admitted_seq: null }],
    ['left', 'u', true, 'unchanged'],
    ['left', null, true, 'already_reviewed'],
    ['left', 'u', false, 'already_reviewed'],
    ['denied', 'u', false, 'unchanged'],
    ['expired', 'u', true, 'already_reviewed'],
  ] as const)('a guest who is %s, decided by %s, admitted %s: %j', (state, decidedBy, admits, result) => {
    const reviewed = reviewGuest(
      { state, decided_by: decidedBy, admitted_seq: null },
      { ...decision, admits },
      '7',
    );
    if (typeof result === 'string') expect(reviewed).toBe(result);
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
  const facts = { isBanned: false, places: 0 };

  it.each([
    [{ require_otp: true }, null, false, 'verification_required'],
    [{}, null, true, 'verification_required'],
    [{}, 'removed', true, 'guest_removed'],
    [{ call_kind: 'meeting' }, null, false, 'not_live'],
    [{ uses: 1 }, null, false, 'invite_exhausted'],
    [{ max_viewers: 0 }, null, false, 'livestream_full'],
  ] as const)('%j, viewer %s, token %s: %s', (change, state, hasToken, code) => {
    const given = { ...stream, ...change };
    expect(codeOf(joinAudience(given, state && { state }, facts, hasToken))).toBe(code);
  });

  it('has a place for a new viewer and for a known one of a used invite', () => {
    expect(joinAudience(stream, null, facts, false)).toMatchObject({ state: 'in_session' });
    expect(joinAudience({ ...stream, uses: 1 }, { state: 'left' }, facts, true)).toMatchObject({
      state: 'in_session',
    });
  });
});

describe('limits of codes', () => {
  const limit = (max: number, seconds: number) => ({ scope: 's', subject: Buffer.alloc(0), max, seconds });

  it('count in sliding windows, and all or none of them', () => {
    const two = [limit(2, 60), limit(1, 10)];
    expect(countRequest(two, [[before(70), before(30)], []], now)).toEqual({
      wait: 0,
      times: [[before(30), now], [now]],
    });
    expect(countRequest(two, [[before(30)], [before(4)]], now)).toEqual({
      wait: 6,
      times: [[before(30)], [before(4)]],
    });
    expect(countRequest([limit(2, 60)], [[before(50), before(30)]], now).wait).toBe(10);
  });

  it('of zero requests reject with the whole window', () => {
    expect(countRequest([limit(0, 60)], [[]], now)).toEqual({ wait: 60, times: [[]] });
  });
});
