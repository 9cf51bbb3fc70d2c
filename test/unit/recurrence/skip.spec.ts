import fc from 'fast-check';
import {
  describeRule,
  formatDay,
  formatRule,
  instancesOf,
  lastInstance,
  parseRule,
  parseWallTime,
  RecurrenceError,
  type Series,
} from '../../../src/lib/recurrence/index.js';
import { runs } from '../../support/property-runs.ts';

const DAY = 86_400;
const FAR = 4_000 * DAY;

const days = (start: string, rule: string): Series => ({
  start: parseWallTime(start)!,
  zone: null,
  isDate: true,
  rules: [parseRule(`RSCALE=GREGORIAN;${rule}`)],
});
const first = (series: Series, limit: number): string[] =>
  instancesOf(series, { from: series.start, to: Number.POSITIVE_INFINITY, limit }).map(({ key }) =>
    formatDay(key / DAY),
  );

describe('SKIP (RFC 7529, 4.1)', () => {
  test.each([
    // The examples of section 4.3 for a day in February.
    ['2014-01-31', 'FREQ=MONTHLY;SKIP=OMIT', '2014-01-31 2014-03-31 2014-05-31 2014-07-31'],
    ['2014-01-31', 'FREQ=MONTHLY;SKIP=BACKWARD', '2014-01-31 2014-02-28 2014-03-31 2014-04-30'],
    ['2014-01-31', 'FREQ=MONTHLY;SKIP=FORWARD', '2014-01-31 2014-03-01 2014-03-31 2014-05-01'],
    ['2016-02-29', 'FREQ=YEARLY', '2016-02-29 2020-02-29 2024-02-29'],
    ['2016-02-29', 'FREQ=YEARLY;SKIP=BACKWARD', '2016-02-29 2017-02-28 2018-02-28 2019-02-28 2020-02-29'],
    ['2016-02-29', 'FREQ=YEARLY;SKIP=FORWARD', '2016-02-29 2017-03-01 2018-03-01 2019-03-01 2020-02-29'],
    ['2027-08-31', 'FREQ=MONTHLY;INTERVAL=6;SKIP=BACKWARD', '2027-08-31 2028-02-29 2028-08-31'],
    // A day that the rule names and one that was moved there are one instance.
    [
      '2027-01-01',
      'FREQ=MONTHLY;BYMONTHDAY=1,31;SKIP=FORWARD',
      '2027-01-01 2027-01-31 2027-02-01 2027-03-01 2027-03-31',
    ],
    [
      '2027-01-29',
      'FREQ=MONTHLY;BYMONTHDAY=29,30,31;SKIP=BACKWARD;COUNT=5',
      '2027-01-29 2027-01-30 2027-01-31 2027-02-28 2027-03-29',
    ],
    // Days from the end that a month lacks are before it.
    [
      '2027-03-01',
      'FREQ=MONTHLY;BYMONTHDAY=-31;SKIP=BACKWARD',
      '2027-03-01 2027-03-31 2027-05-01 2027-05-31',
    ],
    ['2027-03-01', 'FREQ=MONTHLY;BYMONTHDAY=-31;SKIP=FORWARD', '2027-03-01 2027-04-01 2027-05-01 2027-06-01'],
    // Days of a year.
    ['2024-12-31', 'FREQ=YEARLY;BYYEARDAY=366;SKIP=BACKWARD', '2024-12-31 2025-12-31 2026-12-31'],
    [
      '2024-12-31',
      'FREQ=YEARLY;BYYEARDAY=366;SKIP=FORWARD',
      '2024-12-31 2026-01-01 2027-01-01 2028-01-01 2028-12-31',
    ],
    // BYDAY and BYSETPOS select from the days after SKIP.
    ['2027-01-31', 'FREQ=MONTHLY;BYMONTHDAY=31;BYDAY=SU;SKIP=BACKWARD', '2027-01-31 2027-02-28 2027-10-31'],
    [
      '2027-01-30',
      'FREQ=MONTHLY;BYMONTHDAY=30,31;BYSETPOS=1;SKIP=BACKWARD',
      '2027-01-30 2027-02-28 2027-03-30',
    ],
    // No day of a month is computed.
    ['2027-01-31', 'FREQ=WEEKLY;SKIP=BACKWARD', '2027-01-31 2027-02-07'],
    ['2027-01-31', 'FREQ=DAILY;BYMONTHDAY=31;SKIP=BACKWARD', '2027-01-31 2027-03-31'],
  ])('%s %s', (start, rule, expected) => {
    const list = expected.split(' ');
    expect(first(days(start, rule), list.length)).toEqual(list);
  });

  test.each([
    ['FREQ=MONTHLY;SKIP=BACKWARD', 'RSCALE=GREGORIAN;FREQ=MONTHLY;SKIP=BACKWARD'],
    [
      'skip=forward;rscale=gregorian;freq=yearly;wkst=su',
      'RSCALE=GREGORIAN;FREQ=YEARLY;WKST=SU;SKIP=FORWARD',
    ],
    ['RSCALE=GREGORIAN;FREQ=MONTHLY;SKIP=OMIT', 'FREQ=MONTHLY'],
    ['RSCALE=GREGORIAN;FREQ=WEEKLY;SKIP=FORWARD', 'FREQ=WEEKLY'],
  ])('%s is written as %s', (given, written) => {
    expect(formatRule(parseRule(given))).toBe(written);
    expect(parseRule(written)).toEqual(parseRule(given));
  });

  test.each([
    ['RSCALE=HEBREW;FREQ=MONTHLY;SKIP=BACKWARD', 'rscale_unsupported', 'RSCALE'],
    ['RSCALE=GREGORIAN;FREQ=MONTHLY;SKIP=NEAREST', 'invalid_rule', 'SKIP'],
    ['RSCALE=GREGORIAN;RSCALE=GREGORIAN;FREQ=MONTHLY', 'invalid_rule', 'RSCALE'],
  ])('%s is rejected', (rule, code, part) => {
    expect(() => parseRule(rule)).toThrow(RecurrenceError);
    expect(() => parseRule(rule)).toThrow(expect.objectContaining({ code, part }));
  });

  test('is described', () => {
    const series = { start: parseWallTime('2027-01-31')!, zone: null, isDate: true };
    const rule = parseRule('FREQ=MONTHLY;SKIP=BACKWARD;COUNT=3');
    expect(describeRule(rule, series, 'en')).toBe(
      'Every month on day 31, on the last day of shorter months, 3 times',
    );
  });

  const rules = fc
    .record({
      freq: fc.constantFrom('MONTHLY', 'YEARLY'),
      interval: fc.integer({ min: 1, max: 7 }),
      days: fc.uniqueArray(fc.constantFrom(1, 28, 29, 30, 31, -1, -28, -30, -31), { maxLength: 4 }),
      months: fc.uniqueArray(fc.integer({ min: 1, max: 12 }), { maxLength: 3 }),
      weekdays: fc.constantFrom('', ';BYDAY=MO,TU,WE,TH', ';BYDAY=SU'),
      skip: fc.constantFrom('BACKWARD', 'FORWARD'),
    })
    .map(({ freq, interval, days: list, months, weekdays, skip }) =>
      [
        `FREQ=${freq};INTERVAL=${interval};SKIP=${skip}`,
        list.length > 0 ? `;BYMONTHDAY=${list.join(',')}` : '',
        months.length > 0 ? `;BYMONTH=${months.join(',')}` : '',
        list.length > 0 ? weekdays : '',
      ].join(''),
    );
  const starts = fc.integer({ min: 18_000, max: 22_000 }).map((day) => formatDay(day));

  test('a window has the instances of the whole series, and COUNT the first ones', () => {
    fc.assert(
      fc.property(
        rules,
        starts,
        fc.nat(3_000),
        fc.nat(60),
        fc.integer({ min: 1, max: 30 }),
        (rule, start, offset, length, count) => {
          const series = days(start, rule);
          const whole = instancesOf(series, { from: series.start, to: series.start + FAR });
          const from = series.start + offset * DAY;
          const to = from + length * DAY;
          expect(instancesOf(series, { from, to })).toEqual(
            whole.filter((instance) => instance.start >= from && instance.start < to),
          );
          expect(whole).toEqual([...whole].sort((a, b) => a.start - b.start));
          expect(new Set(whole.map(({ key }) => key)).size).toBe(whole.length);
          if (whole.length < count) return;
          const limited = days(start, `${rule};COUNT=${count}`);
          expect(instancesOf(limited, { from: series.start, to: series.start + FAR })).toEqual(
            whole.slice(0, count),
          );
          expect(lastInstance(limited)).toEqual(whole[count - 1]);
        },
      ),
      { numRuns: runs(300) },
    );
  });
});
