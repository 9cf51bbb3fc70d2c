import {
  DAY,
  formatWallTime,
  instancesOf,
  lastInstance,
  nextInstance,
  parseRule,
  parseWallTime,
  type Rule,
  type Series,
} from '../../../src/lib/recurrence/index.js';

const wall = (text: string): number => parseWallTime(text) as number;
const utc = (start: string, rule: Rule | string, added: number[] = []): Series => ({
  start: wall(start),
  zone: 'UTC',
  isDate: false,
  rules: [typeof rule === 'string' ? parseRule(rule) : rule],
  added,
});

describe('the end of year 9999', () => {
  test.each([
    ['FREQ=WEEKLY;BYDAY=SA,SU', '9999-12-19T09:00:00', ['9999-12-25T09:00:00', '9999-12-26T09:00:00']],
    ['FREQ=YEARLY;BYWEEKNO=52;BYDAY=SU', '9998-12-27T09:00:00', []],
    ['FREQ=WEEKLY;BYDAY=FR,SA;BYHOUR=23', '9999-12-30T09:00:00', ['9999-12-31T23:00:00']],
    ['FREQ=DAILY;INTERVAL=2', '9999-12-28T09:00:00', ['9999-12-30T09:00:00']],
    ['FREQ=HOURLY;INTERVAL=9', '9999-12-31T09:00:00', ['9999-12-31T18:00:00']],
  ])('ends %s', (rule, start, expected) => {
    const series = utc(start, rule);
    const window = { from: series.start + 1, to: Number.POSITIVE_INFINITY, limit: 9 };
    const found = instancesOf(series, window).map(({ key }) => formatWallTime(key));
    expect(found).toEqual(expected);
  });

  test('ends a series with COUNT', () => {
    const last = lastInstance(utc('9999-12-18T09:00:00', 'FREQ=WEEKLY;BYDAY=SA,SU;COUNT=9'));
    expect(last).toMatchObject({ key: wall('9999-12-26T09:00:00') });
  });
});

describe('a rule without instances', () => {
  /** The rule, and the number of reads of one of its parts: at least one for each period. */
  function counted(text: string): { rule: Rule; reads: () => number } {
    let reads = 0;
    const rule = new Proxy(parseRule(text), {
      get(target, key) {
        reads += 1;
        return Reflect.get(target, key) as unknown;
      },
    });
    return { rule, reads: () => reads };
  }
  const from = wall('2026-03-01T00:00:00');

  test.each([
    'FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30',
    'FREQ=YEARLY;BYWEEKNO=10;BYMONTH=7',
    'FREQ=MONTHLY;BYMONTH=2;BYMONTHDAY=30',
    'FREQ=MONTHLY;BYDAY=MO;BYSETPOS=6',
    'FREQ=WEEKLY;BYDAY=MO;BYSETPOS=2',
  ])('%s is not searched after the window', (text) => {
    const { rule, reads } = counted(text);
    expect(instancesOf(utc('2020-01-01T09:00:00', rule), { from, to: from + 31 * DAY })).toEqual([]);
    expect(reads()).toBeLessThan(300);
  });

  test.each([[[]], [[wall('2026-03-05T09:00:00')]]])('is not searched after UNTIL (RDATE %j)', (added) => {
    const { rule, reads } = counted('FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30;UNTIL=20280101T000000Z');
    const series = utc('2020-01-01T09:00:00', rule, added);
    expect(lastInstance(series)).toMatchObject({ key: added[0] ?? series.start });
    expect(nextInstance(series, from)?.key).toBe(added[0]);
    expect(reads()).toBeLessThan(500);
  });
});
