import fc from 'fast-check';
import {
  continuedRule,
  DAY,
  formatRule,
  instancesOf,
  movedRule,
  parseRule,
  parseWallTime,
} from '../../../src/lib/recurrence/index.js';
import { runs } from '../../support/property-runs.ts';

const wall = (text: string): number => parseWallTime(text) as number;
const timed = (text: string, zone: string | null = 'UTC') => ({ start: wall(text), zone, isDate: false });
const day = (text: string) => ({ start: wall(text), zone: null, isDate: true });
const moved = (rule: string, from: string, to: string): string | null => {
  const found = movedRule(parseRule(rule), timed(from), timed(to));
  return found && formatRule(found);
};
const wallsOf = (rule: string, start: number, limit = 60): number[] =>
  instancesOf(
    { start, zone: null, isDate: false, rules: [parseRule(rule)] },
    { from: start, to: Number.POSITIVE_INFINITY, limit },
  ).map(({ key }) => key);

describe('the rule of a series that moves', () => {
  test.each([
    ['FREQ=WEEKLY', '2027-01-04', '2027-01-05', 'FREQ=WEEKLY'],
    ['FREQ=WEEKLY;BYDAY=MO,SU', '2027-01-04', '2027-01-05', 'FREQ=WEEKLY;BYDAY=TU,MO'],
    [
      'FREQ=WEEKLY;INTERVAL=2;BYDAY=MO',
      '2027-01-04',
      '2027-01-03',
      'FREQ=WEEKLY;INTERVAL=2;BYDAY=SU;WKST=SU',
    ],
    ['FREQ=DAILY;BYDAY=MO,TU', '2027-01-04', '2027-01-06', 'FREQ=DAILY;BYDAY=WE,TH'],
    ['FREQ=MONTHLY', '2027-01-31', '2027-02-01', 'FREQ=MONTHLY'],
    ['FREQ=MONTHLY;BYDAY=MO', '2027-01-04', '2027-01-05', 'FREQ=MONTHLY;BYDAY=TU'],
    ['FREQ=MONTHLY;INTERVAL=2;BYDAY=MO', '2027-01-04', '2027-01-05', null],
    ['FREQ=MONTHLY;BYDAY=2MO', '2027-01-11', '2027-01-12', null],
    ['FREQ=MONTHLY;BYMONTHDAY=4,18', '2027-01-04', '2027-01-05', 'FREQ=MONTHLY;BYMONTHDAY=5,19'],
    ['FREQ=MONTHLY;BYMONTHDAY=4,28', '2027-01-04', '2027-01-05', null],
    ['FREQ=MONTHLY;BYMONTHDAY=31', '2027-01-31', '2027-01-30', 'FREQ=MONTHLY;BYMONTHDAY=30'],
    ['FREQ=MONTHLY;BYMONTHDAY=-1', '2027-01-31', '2027-01-30', 'FREQ=MONTHLY;BYMONTHDAY=-2'],
    ['FREQ=MONTHLY;BYMONTHDAY=-1', '2027-01-31', '2027-02-28', 'FREQ=MONTHLY;BYMONTHDAY=-1'],
    ['FREQ=MONTHLY;BYMONTHDAY=-1', '2027-01-31', '2027-02-27', 'FREQ=MONTHLY;BYMONTHDAY=-2'],
    // The instances after it would be on 4 March and 3 April, and of the second rule in months of 31 days only.
    ['FREQ=MONTHLY;BYMONTHDAY=-1', '2027-01-31', '2027-02-01', null],
    ['FREQ=MONTHLY;BYMONTHDAY=-1', '2027-01-31', '2027-01-01', null],
    ['FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=28', '2027-02-28', '2027-03-01', 'FREQ=YEARLY;BYMONTHDAY=1;BYMONTH=3'],
    ['FREQ=YEARLY;BYMONTH=2,8', '2027-02-28', '2027-03-01', null],
    ['FREQ=YEARLY;BYYEARDAY=4', '2027-01-04', '2027-01-05', null],
    ['FREQ=YEARLY;BYWEEKNO=1', '2027-01-04', '2027-01-05', null],
    ['FREQ=DAILY;BYMONTH=1', '2027-01-04', '2027-01-05', null],
    ['FREQ=DAILY;BYHOUR=9,15', '2027-01-04T09:30', '2027-01-04T10:00', 'FREQ=DAILY;BYHOUR=10,16'],
    ['FREQ=DAILY;BYHOUR=9,23', '2027-01-04T09:00', '2027-01-04T10:00', null],
    ['FREQ=DAILY;BYHOUR=9;BYMINUTE=0,30', '2027-01-04T09:00', '2027-01-04T09:15', null],
    ['FREQ=HOURLY;BYDAY=MO', '2027-01-04T09:00', '2027-01-04T10:00', null],
    ['FREQ=HOURLY;BYDAY=MO', '2027-01-04T09:00', '2027-01-04T09:15', 'FREQ=HOURLY;BYDAY=MO'],
  ])('%s from %s to %s is %s', (rule, from, to, expected) => {
    expect(moved(rule, from, to)).toBe(expected);
  });

  test.each([
    ['FREQ=DAILY;UNTIL=20270108T090000Z', '2027-01-04T09:00', '2027-01-05T07:00', 'UNTIL=20270109T070000Z'],
    ['FREQ=DAILY;UNTIL=20270108', '2027-01-04T23:00', '2027-01-05T01:00', 'UNTIL=20270109'],
    ['FREQ=DAILY;UNTIL=20270108', '2027-01-04T09:00', '2027-01-04T11:00', 'UNTIL=20270108'],
    ['FREQ=YEARLY;UNTIL=20270301', '2024-03-01', '2024-02-28', 'UNTIL=20270228'],
    ['FREQ=MONTHLY;UNTIL=20271130T090000Z', '2027-01-30T09:00', '2027-02-01T09:00', 'UNTIL=20271201T090000Z'],
  ])('%s from %s to %s has %s', (rule, from, to, until) => {
    expect(moved(rule, from, to)).toContain(until);
  });

  test('UNTIL follows the zone, and becomes a day and a time with the start', () => {
    const rule = parseRule('FREQ=DAILY;UNTIL=20270702T070000Z');
    const berlin = timed('2027-01-04T09:00', 'Europe/Berlin');
    const until = (after: Parameters<typeof movedRule>[2]) => movedRule(rule, berlin, after)?.until;
    expect(until(timed('2027-01-04T09:00', 'America/New_York'))).toEqual({
      kind: 'utc',
      time: wall('2027-07-02T13:00'),
    });
    expect(until(timed('2027-01-04T09:00', null))).toEqual({ kind: 'wall', time: wall('2027-07-02T09:00') });
    expect(until(day('2027-01-05'))).toEqual({ kind: 'date', time: wall('2027-07-03') });
    const days = parseRule('FREQ=DAILY;UNTIL=20270702');
    expect(movedRule(days, day('2027-01-04'), berlin)?.until).toEqual({
      kind: 'utc',
      time: wall('2027-07-02T07:00'),
    });
  });

  test('each instance of days of the week or without named days moves by as much', () => {
    const rules = fc
      .record({
        freq: fc.constantFrom('WEEKLY', 'DAILY'),
        interval: fc.integer({ min: 1, max: 3 }),
        days: fc.subarray(['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU']),
        weekStart: fc.constantFrom('MO', 'SU', 'WE'),
        position: fc.option(fc.constantFrom(1, -1)),
        count: fc.option(fc.integer({ min: 1, max: 20 })),
      })
      .map(({ freq, interval, days, weekStart, position, count }) =>
        [
          `FREQ=${freq};INTERVAL=${interval};WKST=${weekStart}`,
          ...(days.length > 0 ? [`BYDAY=${days.join(',')}`] : []),
          ...(days.length > 0 && position !== null ? [`BYSETPOS=${position}`] : []),
          count === null ? 'UNTIL=20271001T093000' : `COUNT=${count}`,
        ].join(';'),
      );
    const shifts = fc.integer({ min: -240, max: 240 }).map((quarters) => quarters * 900);
    fc.assert(
      fc.property(rules, fc.integer({ min: 0, max: 200 }), shifts, (rule, after, shift) => {
        const start = wall('2027-01-01T09:30') + after * DAY;
        const found = movedRule(
          parseRule(rule),
          { start, zone: null, isDate: false },
          { start: start + shift, zone: null, isDate: false },
        );
        expect(found).not.toBeNull();
        expect(wallsOf(formatRule(found!), start + shift)).toEqual(
          wallsOf(rule, start).map((each) => each + shift),
        );
      }),
      { numRuns: runs(200) },
    );
  });
});

describe('the rule of a series that starts anew with a later instance', () => {
  test.each([
    ['FREQ=WEEKLY', '2027-01-04T09:00', '2027-01-07T09:00', 'FREQ=WEEKLY;BYDAY=MO'],
    ['FREQ=MONTHLY', '2027-01-31T09:00', '2027-02-28T09:00', 'FREQ=MONTHLY;BYMONTHDAY=31'],
    ['FREQ=YEARLY', '2027-01-04T09:00', '2027-03-04T09:00', 'FREQ=YEARLY;BYMONTHDAY=4;BYMONTH=1'],
    ['FREQ=DAILY', '2027-01-04T09:00', '2027-01-05T15:30', 'FREQ=DAILY;BYMINUTE=0;BYHOUR=9'],
    ['FREQ=WEEKLY;INTERVAL=2', '2027-01-04T09:00', '2027-01-18T09:00', 'FREQ=WEEKLY;INTERVAL=2'],
    ['FREQ=WEEKLY;INTERVAL=2', '2027-01-04T09:00', '2027-01-11T09:00', null],
    ['FREQ=DAILY;INTERVAL=3', '2027-01-04T09:00', '2027-01-05T09:00', null],
    ['FREQ=MONTHLY;INTERVAL=3', '2027-01-04T09:00', '2027-03-04T09:00', null],
  ])('%s from %s at %s is %s', (rule, start, next, expected) => {
    const found = continuedRule(parseRule(rule), { start: wall(start), isDate: false }, wall(next));
    expect(found && formatRule(found)).toBe(expected);
  });
});
