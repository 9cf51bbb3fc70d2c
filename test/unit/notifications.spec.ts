import fc from 'fast-check';
import {
  INVALID_TRANSITION,
  type Lifecycle,
  REQUESTED_STATES,
  type RequestedState,
  transition,
} from '../../src/modules/notifications/inbox/lifecycle.js';
import { afterQuiet, emailTime } from '../../src/modules/notifications/mails/email-time.js';

/** The contract of the lifecycle as a table: the state after a request, `-` for a rejection. `prev` is the state before archiving. */
const MODEL: Record<string, Record<RequestedState, string>> = {
  unread: {
    seen: 'unread',
    read: 'read',
    unread: 'unread',
    archived: 'archived/unread',
    snoozed: 'snoozed',
    dismissed: 'dismissed',
  },
  read: {
    seen: 'read',
    read: 'read',
    unread: 'unread',
    archived: 'archived/read',
    snoozed: 'snoozed',
    dismissed: 'dismissed',
  },
  snoozed: {
    seen: 'snoozed',
    read: '-',
    unread: 'unread',
    archived: 'archived/unread',
    snoozed: 'snoozed',
    dismissed: 'dismissed',
  },
  'archived/unread': {
    seen: 'archived/unread',
    read: '-',
    unread: 'unread',
    archived: 'archived/unread',
    snoozed: '-',
    dismissed: 'dismissed',
  },
  'archived/read': {
    seen: 'archived/read',
    read: 'read',
    unread: '-',
    archived: 'archived/read',
    snoozed: '-',
    dismissed: 'dismissed',
  },
  dismissed: { seen: '-', read: '-', unread: '-', archived: '-', snoozed: '-', dismissed: 'dismissed' },
};
const NEW: Lifecycle = {
  state: 'unread',
  previous_state: null,
  seen_at: null,
  read_at: null,
  snooze_until: null,
};
const nameOf = ({ state, previous_state }: Lifecycle): string =>
  state === 'archived' ? `archived/${previous_state}` : state;

test('any sequence of requests follows the table of the lifecycle', () => {
  const request = fc.record({
    state: fc.constantFrom(...REQUESTED_STATES),
    days: fc.integer({ min: 1, max: 90 }),
  });
  fc.assert(
    fc.property(fc.array(request, { maxLength: 12 }), (requests) => {
      let row = NEW;
      for (const [n, { state, days }] of requests.entries()) {
        const now = new Date(n * 1_000);
        const expected = MODEL[nameOf(row)]![state];
        const end = state === 'snoozed' ? new Date(days * 86_400_000) : null;
        const after = transition(row, state, now, end);
        if (after === INVALID_TRANSITION) {
          expect(expected).toBe('-');
          continue;
        }
        expect(nameOf(after)).toBe(expected);
        expect(after.snooze_until).toEqual(after.state === 'snoozed' ? (end ?? row.snooze_until) : null);
        expect(transition(after, state, new Date(9e9), end)).toBe(after);
        if (after !== row) expect(after.seen_at).not.toBeNull();
        if (after.state === 'read') expect(after.read_at).not.toBeNull();
        if (after.state === 'unread') expect(state === 'seen' || after.read_at === null).toBe(true);
        row = after;
      }
    }),
  );
});

const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
const time = fc
  .tuple(fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 59 }))
  .map(([hour, minute]) => `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`);
const range = fc
  .record({ from: time, to: time, days: fc.option(fc.subarray(DAYS, { minLength: 1 }), { nil: undefined }) })
  .filter(({ from, to }) => from !== to);

test('an e-mail never leaves in the quiet hours', () => {
  const zones = fc.constantFrom(
    'UTC',
    'Europe/Berlin',
    'America/Sao_Paulo',
    'Asia/Ho_Chi_Minh',
    'Asia/Kathmandu',
  );
  const instants = fc.date({ min: new Date('2026-01-01'), max: new Date('2027-01-01'), noInvalidDate: true });
  fc.assert(
    fc.property(instants, zones, fc.array(range, { maxLength: 4 }), (now, timeZone, quietRanges) => {
      const settings = { timeZone, quietRanges, digest: 'off' as const };
      const end = afterQuiet(now, settings);
      expect(end === null).toBe(isEndless(quietRanges));
      if (end === null) {
        expect(emailTime(now, settings, false)).toBeNull();
        return;
      }
      expect(end.getTime()).toBeGreaterThanOrEqual(now.getTime());
      // A change of the offset may move the end of a range back into it, for an hour.
      const isMoved = afterQuiet(end, settings)?.getTime() !== end.getTime();
      if (!isMoved) expect(isQuiet(end, settings)).toBe(false);
      expect(emailTime(now, settings, true)).toBe(now);
    }),
  );
});

test('evenings and weekends that follow one another are one quiet time', () => {
  const evenings = { from: '18:00', to: '09:00' };
  const weekends = { from: '09:00', to: '18:00', days: ['sat', 'sun'] };
  const settings = { timeZone: 'UTC', quietRanges: [evenings, weekends] };
  // Friday to Monday.
  expect(afterQuiet(new Date('2026-11-27T19:00:00Z'), settings)).toEqual(new Date('2026-11-30T09:00:00Z'));
});

test.each([
  [
    [
      { from: '00:00', to: '12:00' },
      { from: '12:00', to: '00:00' },
    ],
  ],
  [
    [
      { from: '08:00', to: '20:00' },
      { from: '19:00', to: '09:00' },
    ],
  ],
])('no e-mail leaves when the quiet hours cover the whole week: %j', (quietRanges) => {
  const settings = { timeZone: 'Europe/Berlin', quietRanges };
  const now = new Date('2026-11-27T19:00:00Z');
  expect(afterQuiet(now, settings)).toBeNull();
  for (const digest of ['off', 'daily', 'weekly'] as const)
    expect(emailTime(now, { ...settings, digest }, false)).toBeNull();
  expect(emailTime(now, { ...settings, digest: 'off' }, true)).toBe(now);
});

test('quiet hours end in the hour that the clock repeats', () => {
  const settings = { timeZone: 'Europe/Berlin', quietRanges: [{ from: '22:00', to: '02:30' }] };
  const end = (now: string) => afterQuiet(new Date(now), settings)?.toISOString();
  expect(end('2026-10-25T00:10:00Z')).toBe('2026-10-25T00:30:00.000Z');
  expect(end('2026-10-25T01:10:00Z')).toBe('2026-10-25T01:30:00.000Z');
});

/** The same rule by the clock of the zone, minute by minute of the day. */
function isQuiet(at: Date, { timeZone, quietRanges }: { timeZone: string; quietRanges: any[] }): boolean {
  const local = (when: Date) => {
    const parts = new Intl.DateTimeFormat('en-GB', {
      timeZone,
      weekday: 'short',
      hour: '2-digit',
      minute: '2-digit',
      hourCycle: 'h23',
    }).formatToParts(when);
    const of = (type: string) => parts.find((part) => part.type === type)!.value;
    return { day: of('weekday').toLowerCase(), time: `${of('hour')}:${of('minute')}` };
  };
  const { day, time: now } = local(at);
  return isWithin(day, now, quietRanges);
}

/** Whether the ranges cover the whole week. */
function isEndless(quietRanges: any[]): boolean {
  const two = (number: number) => String(number).padStart(2, '0');
  return DAYS.every((day) =>
    Array.from({ length: 1_440 }, (_, n) => `${two(Math.floor(n / 60))}:${two(n % 60)}`).every((now) =>
      isWithin(day, now, quietRanges),
    ),
  );
}

function isWithin(day: string, now: string, quietRanges: any[]): boolean {
  const yesterday = DAYS[(DAYS.indexOf(day) + 6) % 7]!;
  return quietRanges.some(({ from, to, days = DAYS }) => {
    if (from < to) return days.includes(day) && now >= from && now < to;
    return (days.includes(day) && now >= from) || (days.includes(yesterday) && now < to);
  });
}

test('digests are sent at eight in the morning of the recipient', () => {
  const settings = { timeZone: 'Europe/Berlin', quietRanges: [] };
  const at = (digest: 'daily' | 'weekly', now: string) =>
    emailTime(new Date(now), { ...settings, digest }, false)?.toISOString();
  expect(at('daily', '2026-11-22T06:00:00Z')).toBe('2026-11-22T07:00:00.000Z');
  expect(at('daily', '2026-11-22T07:00:00Z')).toBe('2026-11-23T07:00:00.000Z');
  expect(at('daily', '2026-07-22T05:00:00Z')).toBe('2026-07-22T06:00:00.000Z');
  // 23 November 2026 is a Monday.
  expect(at('weekly', '2026-11-22T12:00:00Z')).toBe('2026-11-23T07:00:00.000Z');
  expect(at('weekly', '2026-11-23T08:00:00Z')).toBe('2026-11-30T07:00:00.000Z');
  expect(emailTime(new Date(0), { ...settings, digest: 'off' }, false)?.getTime()).toBe(60_000);
});
