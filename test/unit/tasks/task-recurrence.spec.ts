import fc from 'fast-check';
import {
  canonicalRule,
  nextOccurrence,
  type Repeating,
} from '../../../src/modules/tasks/model/task-recurrence.js';
import { runs } from '../../support/property-runs.ts';

/** `YYYY-MM-DD` */
const dayIn = (timeZone: string, moment: Date): string =>
  new Intl.DateTimeFormat('sv', { timeZone }).format(moment);

const base: Repeating = {
  rrule: 'FREQ=DAILY',
  from: 'schedule',
  start: '2026-01-05',
  timeZone: 'UTC',
  date: '2026-01-05',
  dueAt: null,
};
const LONG_AGO = new Date('2000-01-01T00:00:00Z');
const next = (more: Partial<Repeating>, now = LONG_AGO) => nextOccurrence({ ...base, ...more }, now);
const day = (more: Partial<Repeating>, now?: Date) => next(more, now)?.date ?? null;

describe('canonicalRule', () => {
  test.each([
    ['freq=weekly;byday=mo,we', 'FREQ=WEEKLY;BYDAY=MO,WE'],
    ['RRULE:BYDAY=-1FR;FREQ=MONTHLY', 'FREQ=MONTHLY;BYDAY=-1FR'],
    ['FREQ=YEARLY;BYMONTH=02;BYMONTHDAY=-1;INTERVAL=4', 'FREQ=YEARLY;INTERVAL=4;BYMONTHDAY=-1;BYMONTH=02'],
    ['FREQ=DAILY;UNTIL=20261231T235959Z', 'FREQ=DAILY;UNTIL=20261231T235959Z'],
    ['FREQ=DAILY;UNTIL=20280229', 'FREQ=DAILY;UNTIL=20280229'],
    ['FREQ=YEARLY;BYDAY=53MO', 'FREQ=YEARLY;BYDAY=53MO'],
    ['FREQ=YEARLY;BYMONTH=1;BYDAY=5MO', 'FREQ=YEARLY;BYDAY=5MO;BYMONTH=1'],
    ['FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO', 'FREQ=YEARLY;BYDAY=MO;BYWEEKNO=20'],
    ['FREQ=YEARLY;BYYEARDAY=366;BYDAY=MO', 'FREQ=YEARLY;BYDAY=MO;BYYEARDAY=366'],
    ['SKIP=OMIT;RSCALE=gregorian;FREQ=MONTHLY', 'FREQ=MONTHLY'],
    ['FREQ=MONTHLY;skip=backward;RSCALE=GREGORIAN', 'RSCALE=GREGORIAN;FREQ=MONTHLY;SKIP=BACKWARD'],
    ['RSCALE=GREGORIAN;FREQ=DAILY;SKIP=FORWARD', 'FREQ=DAILY'],
  ])('%s', (given, expected) => expect(canonicalRule(given)).toBe(expected));

  test.each([
    '',
    'DAILY',
    'FREQ=SECONDLY',
    'FREQ=MINUTELY',
    'FREQ=HOURLY',
    'FREQ=DAILY;BYHOUR=9',
    'FREQ=DAILY;BYMINUTE=0',
    'FREQ=DAILY;BYSECOND=0',
    'FREQ=DAILY;FREQ=DAILY',
    'FREQ=DAILY;COUNT=0',
    'FREQ=DAILY;COUNT=367',
    'FREQ=DAILY;COUNT=2;UNTIL=20270101',
    'FREQ=DAILY;INTERVAL=0',
    'FREQ=DAILY;INTERVAL=1001',
    'FREQ=DAILY;INTERVAL=1e3',
    'FREQ=DAILY;UNTIL=20261399',
    'FREQ=DAILY;UNTIL=20270230',
    'FREQ=DAILY;UNTIL=20270229T000000Z',
    'FREQ=DAILY;UNTIL=20270228T240000Z',
    'FREQ=DAILY;UNTIL=20270228T236000',
    'FREQ=DAILY;BYSETPOS=1',
    'FREQ=WEEKLY;BYMONTHDAY=1',
    'FREQ=MONTHLY;BYDAY=6MO',
    'FREQ=MONTHLY;BYDAY=MO,-6TU',
    'FREQ=YEARLY;BYMONTH=1;BYDAY=6MO',
    'FREQ=YEARLY;BYDAY=54MO',
    'FREQ=YEARLY;BYWEEKNO=20;BYDAY=1MO',
    'FREQ=WEEKLY;BYDAY=1MO',
    'FREQ=WEEKLY;BYWEEKNO=3',
    'FREQ=MONTHLY;BYDAY=54MO',
    'FREQ=MONTHLY;BYMONTHDAY=0',
    'FREQ=MONTHLY;BYMONTHDAY=32',
    'FREQ=YEARLY;BYYEARDAY=367',
    'FREQ=DAILY;RSCALE=CHINESE',
    'RSCALE=GREGORIAN;RSCALE=GREGORIAN;FREQ=DAILY',
    'RSCALE=GREGORIAN;FREQ=MONTHLY;SKIP=NEAREST',
    'RSCALE=GREGORIAN;FREQ=MONTHLY;SKIP=BACKWARD;SKIP=OMIT',
    'FREQ=DAILY;__proto__=1',
    'FREQ=DAILY\nEXDATE:20260101',
    'FREQ=DAILY;',
    `FREQ=YEARLY;BYYEARDAY=${Array.from({ length: 32 }, (_, n) => n + 1).join(',')}`,
    `FREQ=DAILY${' '.repeat(500)}`,
  ])('rejects %j', (given) => expect(canonicalRule(given)).toBeNull());
});

describe('nextOccurrence', () => {
  test.each([
    ['FREQ=DAILY', '2026-01-05', '2026-01-06'],
    ['FREQ=DAILY;INTERVAL=3', '2026-01-08', '2026-01-11'],
    ['FREQ=WEEKLY;BYDAY=MO,TH', '2026-01-05', '2026-01-08'],
    ['FREQ=WEEKLY;INTERVAL=2', '2026-01-05', '2026-01-19'],
    ['FREQ=MONTHLY;BYMONTHDAY=31', '2026-01-31', '2026-03-31'],
    ['FREQ=MONTHLY;BYMONTHDAY=-1', '2026-01-31', '2026-02-28'],
    ['FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1', '2026-01-30', '2026-02-27'],
    ['FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29', '2028-02-29', '2032-02-29'],
    ['FREQ=DAILY;COUNT=3', '2026-01-06', '2026-01-07'],
    ['FREQ=DAILY;COUNT=3', '2026-01-07', null],
    ['FREQ=DAILY;UNTIL=20260107', '2026-01-06', '2026-01-07'],
    ['FREQ=DAILY;UNTIL=20260107', '2026-01-07', null],
    ['FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30', '2026-01-05', null],
    ['FREQ=YEARLY;BYYEARDAY=366;BYDAY=MO', '2026-01-05', '2040-12-31'],
    // Moved to a Tuesday by hand: the series stays on Mondays.
    ['FREQ=WEEKLY', '2026-01-06', '2026-01-12'],
  ])('%s after %s is %s', (rrule, date, expected) => expect(day({ rrule, date })).toBe(expected));

  // Each task lies on 6 January; the next day by the rule is the 7th.
  test.each([
    ['20260107', null, true],
    ['20260106', null, false],
    // The evening of the 7th in Los Angeles is the 8th in UTC.
    ['20260108T075959Z', null, true],
    ['20260107T075959Z', null, false],
    ['20260107T000000', null, true],
    ['20260106T235959', null, false],
    ['20260107', '20:00:00', true],
    ['20260106', '20:00:00', false],
    ['20260108T040000Z', '20:00:00', true],
    ['20260108T035959Z', '20:00:00', false],
    ['20260107T200000', '20:00:00', true],
    ['20260107T195959', '20:00:00', false],
  ])('UNTIL=%s is read in the time zone of the task (due at %s): %s', (until, hour, included) => {
    const found = day({
      rrule: `FREQ=DAILY;UNTIL=${until}`,
      timeZone: 'America/Los_Angeles',
      start: hour === null ? '2026-01-05' : `2026-01-05T${hour}`,
      date: '2026-01-06',
      dueAt: hour === null ? null : new Date('2026-01-07T04:00:00Z'),
    });
    expect(found).toBe(included ? '2026-01-07' : null);
  });

  test.each([
    ['moved earlier', '2026-01-10', '2026-01-19'],
    ['moved to the day of the occurrence before', '2026-01-05', '2026-01-19'],
    ['moved later', '2026-01-14', '2026-01-19'],
    ['moved past the next occurrence', '2026-01-20', '2026-01-26'],
  ])('an occurrence that was %s does not come back', (_, date, expected) => {
    const moved = { rrule: 'FREQ=WEEKLY', scheduled: '2026-01-12', date };
    expect(day(moved)).toBe(expected);
    const dueAt = new Date(`${date}T09:00:00Z`);
    expect(next({ ...moved, start: '2026-01-05T09:00:00', dueAt })?.dueAt).toEqual(
      new Date(`${expected}T09:00:00Z`),
    );
  });

  test('an occurrence that is due in the night of another zone does not come back when it was moved', () => {
    const found = next({
      rrule: 'FREQ=WEEKLY',
      timeZone: 'Pacific/Auckland',
      start: '2026-01-05T01:00:00',
      scheduled: '2026-01-12',
      date: '2026-01-10',
      dueAt: new Date('2026-01-09T12:00:00Z'),
    });
    expect(found).toEqual({ date: '2026-01-19', dueAt: new Date('2026-01-18T12:00:00Z') });
  });

  test('from completion it also lies after the day of completing, where the task is', () => {
    const late = new Date('2026-03-10T23:30:00Z');
    expect(day({ from: 'schedule' }, late)).toBe('2026-01-06');
    expect(day({ from: 'completion' }, late)).toBe('2026-03-11');
    expect(day({ from: 'completion', timeZone: 'Europe/Paris' }, late)).toBe('2026-03-12');
    expect(day({ from: 'completion' }, LONG_AGO)).toBe('2026-01-06');
  });

  test.each([
    // Completed on a Thursday. Rules that name no day, or have an interval, count from it.
    ['FREQ=DAILY;INTERVAL=3', '2026-03-15'],
    ['FREQ=WEEKLY', '2026-03-19'],
    ['FREQ=WEEKLY;INTERVAL=2', '2026-03-26'],
    ['FREQ=MONTHLY', '2026-04-12'],
    ['FREQ=YEARLY;INTERVAL=2', '2028-03-12'],
    ['FREQ=WEEKLY;INTERVAL=2;BYDAY=MO', '2026-03-23'],
    ['FREQ=MONTHLY;INTERVAL=3;BYMONTHDAY=1', '2026-06-01'],
    // The days of these do not depend on it.
    ['FREQ=WEEKLY;BYDAY=MO', '2026-03-16'],
    ['FREQ=MONTHLY;BYMONTHDAY=31', '2026-03-31'],
    ['FREQ=YEARLY;BYMONTH=1;BYMONTHDAY=5', '2027-01-05'],
  ])('from completion the interval counts from the day of completing: %s', (rrule, expected) => {
    expect(day({ rrule, from: 'completion' }, new Date('2026-03-12T10:00:00Z'))).toBe(expected);
  });

  test('from completion a task that was completed early is not due again before its date', () => {
    const early = { rrule: 'FREQ=DAILY;INTERVAL=3', from: 'completion', date: '2026-01-20' } as const;
    expect(day(early, new Date('2026-01-18T10:00:00Z'))).toBe('2026-01-21');
    expect(day(early, new Date('2026-01-20T10:00:00Z'))).toBe('2026-01-23');
  });

  test('from completion the hour stays, on the day of the completion in the zone of the task', () => {
    const timed = {
      rrule: 'FREQ=DAILY;INTERVAL=2',
      from: 'completion',
      start: '2026-03-01T09:00:00',
      timeZone: 'Europe/Paris',
      date: '2026-03-01',
      dueAt: new Date('2026-03-01T08:00:00Z'),
    } as const;
    // 00:30 on 28 March in Paris; on the 29th, summer time begins.
    const found = next(timed, new Date('2026-03-27T23:30:00Z'));
    expect(found).toEqual({ date: '2026-03-30', dueAt: new Date('2026-03-30T07:00:00Z'), number: 2 });
  });

  test('from completion COUNT counts the occurrences, and UNTIL ends the series', () => {
    const rule = { rrule: 'FREQ=DAILY;INTERVAL=3;COUNT=4', from: 'completion' } as const;
    const found: (string | null)[] = [];
    let task: Partial<Repeating> = rule;
    let now = new Date('2026-02-01T10:00:00Z');
    for (let n = 0; n < 4; n += 1) {
      const following = next(task, now);
      found.push(following?.date ?? null);
      if (following) task = { ...rule, date: following.date, number: following.number };
      now = new Date(now.getTime() + 10 * 86_400_000);
    }
    expect(found).toEqual(['2026-02-04', '2026-02-14', '2026-02-24', null]);
    // An occurrence of an earlier release has no number: the schedule has it.
    expect(day({ ...rule, date: '2026-01-11' }, now)).not.toBeNull();
    expect(day({ ...rule, date: '2026-01-14' }, now)).toBeNull();
    // The date of the first one may have been moved.
    expect(day({ ...rule, date: '2026-01-14', scheduled: '2026-01-05' }, now)).not.toBeNull();
    expect(
      day({ rrule: 'FREQ=DAILY;UNTIL=20260131', from: 'completion' }, new Date('2026-01-31T10:00:00Z')),
    ).toBeNull();
  });

  test.each([
    ['FREQ=MONTHLY;SKIP=BACKWARD', '2027-01-31', '2027-02-28'],
    ['FREQ=MONTHLY;SKIP=FORWARD', '2027-01-31', '2027-03-01'],
    ['FREQ=MONTHLY;INTERVAL=6;SKIP=BACKWARD', '2027-08-31', '2028-02-29'],
    ['FREQ=YEARLY;SKIP=BACKWARD', '2028-02-29', '2029-02-28'],
    ['FREQ=YEARLY;SKIP=FORWARD', '2028-02-29', '2029-03-01'],
  ])('takes a day for one that the month lacks: %s', (rule, date, expected) => {
    expect(day({ rrule: `RSCALE=GREGORIAN;${rule}`, start: date, date })).toBe(expected);
  });

  test('returns to the day of the rule after a shorter month', () => {
    const rrule = 'RSCALE=GREGORIAN;FREQ=MONTHLY;SKIP=BACKWARD';
    expect(day({ rrule, start: '2027-01-31', date: '2027-02-28', scheduled: '2027-02-28' })).toBe(
      '2027-03-31',
    );
  });

  test('keeps the local hour over daylight saving, whether an hour is skipped or occurs twice', () => {
    let dueAt = new Date('2026-03-28T01:30:00Z');
    const hours: string[] = [];
    for (let n = 0; n < 3; n += 1) {
      const found = next({
        rrule: 'FREQ=DAILY',
        start: '2026-03-28T02:30:00',
        timeZone: 'Europe/Paris',
        date: dayIn('Europe/Paris', dueAt),
        dueAt,
      });
      dueAt = found?.dueAt as Date;
      hours.push(`${found?.date} ${dueAt.toISOString()}`);
    }
    expect(hours).toEqual([
      // On the 29th there is no half past two: the offset before the gap makes it half past three (RFC 5545, 3.3.5).
      '2026-03-29 2026-03-29T01:30:00.000Z',
      '2026-03-30 2026-03-30T00:30:00.000Z',
      '2026-03-31 2026-03-31T00:30:00.000Z',
    ]);
    const autumn = next({
      start: '2026-10-24T02:30:00',
      timeZone: 'Europe/Paris',
      date: '2026-10-24',
      dueAt: new Date('2026-10-24T00:30:00Z'),
    });
    expect(autumn).toEqual({ date: '2026-10-25', dueAt: new Date('2026-10-25T00:30:00Z') });
  });

  const rules = fc
    .record({
      FREQ: fc.constantFrom('DAILY', 'WEEKLY', 'MONTHLY', 'YEARLY'),
      INTERVAL: fc.option(fc.integer({ min: 1, max: 1_000 }), { nil: undefined }),
      COUNT: fc.option(fc.integer({ min: 1, max: 366 }), { nil: undefined }),
      BYDAY: fc.option(fc.subarray(['MO', 'TU', '2WE', '-1FR', '5SU', 'SA'], { minLength: 1 }).map(String), {
        nil: undefined,
      }),
      BYMONTHDAY: fc.option(
        fc.array(fc.integer({ min: -31, max: 31 }), { minLength: 1, maxLength: 31 }).map(String),
        { nil: undefined },
      ),
      BYYEARDAY: fc.option(
        fc.array(fc.integer({ min: -366, max: 366 }), { minLength: 1, maxLength: 31 }).map(String),
        { nil: undefined },
      ),
      BYWEEKNO: fc.option(
        fc.array(fc.integer({ min: -53, max: 53 }), { minLength: 1, maxLength: 4 }).map(String),
        { nil: undefined },
      ),
      BYMONTH: fc.option(
        fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 4 }).map(String),
        { nil: undefined },
      ),
      BYSETPOS: fc.option(fc.integer({ min: -366, max: 366 }).map(String), { nil: undefined }),
    })
    .map((parts) =>
      Object.entries(parts)
        .flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${value}`]))
        .join(';'),
    );
  const days = fc
    .date({ min: new Date('1970-01-01'), max: new Date('2200-01-01'), noInvalidDate: true })
    .map((d) => d.toISOString().slice(0, 10));

  // This test would not end if a rule escaped the engine's limits.
  test('of any rule that is accepted comes after the task, or not at all', () => {
    fc.assert(
      fc.property(
        rules,
        days,
        days,
        fc.constantFrom('UTC', 'Europe/Paris', 'Pacific/Apia', 'America/St_Johns'),
        fc.boolean(),
        (text, one, other, timeZone, timed) => {
          const rrule = canonicalRule(text);
          if (rrule === null) return;
          expect(canonicalRule(rrule)).toBe(rrule);
          const [start = '', date = ''] = [one, other].toSorted();
          const dueAt = timed ? new Date(`${date}T12:00:00Z`) : null;
          const found = next({ rrule, timeZone, date, dueAt, start: timed ? `${start}T09:30:00` : start });
          if (found === null) return;
          expect(found.date >= date).toBe(true);
          if (timed) {
            expect(found.dueAt! > dueAt!).toBe(true);
            expect(dayIn(timeZone, found.dueAt!)).toBe(found.date);
          } else expect(found.date > date).toBe(true);
        },
      ),
      { numRuns: runs(150) },
    );
  });

  test('no text causes an exception', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 600 }), (text) => {
        const rrule = canonicalRule(text);
        if (rrule !== null) next({ rrule });
      }),
    );
  });
});
