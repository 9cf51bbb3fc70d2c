import fc from 'fast-check';
import { changeAll, changeOne, withoutOne } from '../../../src/modules/calendar/changes/event-change.js';
import { split } from '../../../src/modules/calendar/changes/series-split.js';
import type { EventRecord } from '../../../src/modules/calendar/model/event-record.js';
import { occurrencesIn, spanOf } from '../../../src/modules/calendar/model/event-series.js';
import {
  formatDuration,
  isDay,
  parseDuration,
  parseInstant,
  wallOf,
  wallText,
} from '../../../src/modules/calendar/model/event-times.js';
import { runs } from '../../support/property-runs.ts';

const NOW = '2026-01-01T00:00:00.000Z';
const FROM = parseInstant('2026-01-01T00:00:00Z') as number;
const TO = FROM + 400 * 86_400;
const ZONES = ['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'UTC', null];

const two = (n: number) => String(n).padStart(2, '0');
const rules = fc.oneof(
  fc
    .record({ interval: fc.integer({ min: 1, max: 4 }), count: fc.option(fc.integer({ min: 2, max: 40 })) })
    .map(
      ({ interval, count }) => `FREQ=DAILY;INTERVAL=${interval}${count === null ? '' : `;COUNT=${count}`}`,
    ),
  fc
    .subarray(['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU'], { minLength: 1 })
    .map((days) => `FREQ=WEEKLY;BYDAY=${days.join(',')}`),
  fc.constantFrom(
    'FREQ=MONTHLY;BYDAY=-1FR',
    'FREQ=MONTHLY;BYMONTHDAY=15,31;COUNT=9',
    'FREQ=WEEKLY;UNTIL=20260701T000000Z',
  ),
);

const series = fc
  .record({
    month: fc.integer({ min: 1, max: 6 }),
    day: fc.integer({ min: 1, max: 28 }),
    hour: fc.integer({ min: 0, max: 23 }),
    isDate: fc.boolean(),
    zone: fc.constantFrom(...ZONES),
    rule: rules,
  })
  .map(({ month, day, hour, isDate, zone, rule }): EventRecord => {
    const date = `2026-${two(month)}-${two(day)}`;
    return {
      starts: isDate ? date : `${date}T${two(hour)}:30:00`,
      ends: isDate ? `2026-${two(month)}-${two(day + 1)}` : `${date}T${two(hour)}:59:00`,
      time_zone: isDate ? null : zone,
      end_time_zone: null,
      exact_duration: false,
      rules: [rule],
      added: [],
      excluded: [],
      sequence: 0,
      overrides: [],
      participants: [],
      custom: {},
      organizer_email: 'ann@acme.example',
    } as unknown as EventRecord;
  });

const occurrences = (record: EventRecord | null) =>
  record === null
    ? []
    : occurrencesIn(record, { from: FROM, to: TO, readerZone: 'UTC' }, 20_000)
        .map(({ start, end }) => `${start} ${end}`)
        .toSorted();

/** Some instance of a series. */
const keyOf = (record: EventRecord, n: number): string => {
  const all = occurrencesIn(record, { from: FROM, to: TO, readerZone: 'UTC' }, 20_000);
  return all[n % all.length]?.key as string;
};

describe('changes of series', () => {
  test('the parts of a split series have its instances, each once', () => {
    fc.assert(
      fc.property(series, fc.nat(), (record, n) => {
        const { earlier, later } = split(record, keyOf(record, n), NOW);
        expect([...occurrences(earlier), ...occurrences(later)].toSorted()).toEqual(occurrences(record));
      }),
      { numRuns: runs(300) },
    );
  });

  test('so have those of a series with added instances, wherever it is split', () => {
    const added = fc.array(fc.integer({ min: -40, max: 300 }), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(series, added, fc.nat(), (plain, days, n) => {
        const wall = wallOf(plain.starts);
        const keys = days.map((day) => wallText(wall + day * 86_400 + 7_200, isDay(plain.starts)));
        const record = { ...plain, added: [...new Set(keys)].toSorted() };
        const { earlier, later } = split(record, keyOf(record, n), NOW);
        expect([...occurrences(earlier), ...occurrences(later)].toSorted()).toEqual(occurrences(record));
      }),
      { numRuns: runs(300) },
    );
  });

  test('so have those of a series with several rules, each of which counts its own instances and periods', () => {
    const several = fc.array(
      fc.oneof(
        rules,
        fc.constantFrom('FREQ=WEEKLY;INTERVAL=2;COUNT=9', 'FREQ=DAILY;BYHOUR=15;COUNT=5', 'FREQ=MONTHLY'),
      ),
      { minLength: 2, maxLength: 3 },
    );
    fc.assert(
      fc.property(series, several, fc.nat(), (plain, all, n) => {
        const record = { ...plain, rules: all };
        const { earlier, later } = split(record, keyOf(record, n), NOW);
        expect([...occurrences(earlier), ...occurrences(later)].toSorted()).toEqual(occurrences(record));
      }),
      { numRuns: runs(300) },
    );
  });

  test('and those of a date that its month lacks', () => {
    const record = {
      ...fc.sample(series, { numRuns: 1, seed: 1 })[0],
      starts: '2026-01-31T09:00:00',
      ends: '2026-01-31T10:00:00',
      time_zone: 'Europe/Berlin',
      rules: ['RSCALE=GREGORIAN;FREQ=MONTHLY;COUNT=6;SKIP=BACKWARD'],
    } as EventRecord;
    const { earlier, later } = split(record, '2026-02-28T09:00:00', NOW);
    expect([...occurrences(earlier), ...occurrences(later)].toSorted()).toEqual(occurrences(record));
  });

  test('a split keeps excluded and overridden instances in their part', () => {
    fc.assert(
      fc.property(series, fc.nat(), fc.nat(), fc.nat(), (record, a, b, c) => {
        const without = withoutOne(record, keyOf(record, a), NOW).record;
        if (occurrences(without).length === 0) return;
        const key = keyOf(without, b);
        const changed = changeOne(without, key, { content: { title: 'x' } }, NOW)?.record as EventRecord;
        const { earlier, later } = split(changed, keyOf(changed, c), NOW);
        expect([...occurrences(earlier), ...occurrences(later)].toSorted()).toEqual(occurrences(changed));
        expect([...(earlier?.overrides ?? []), ...later.overrides]).toEqual(changed.overrides);
      }),
      { numRuns: runs(200) },
    );
  });

  test('excluding an instance removes exactly this one; every instance lies within the span', () => {
    fc.assert(
      fc.property(series, fc.nat(), (record, n) => {
        const key = keyOf(record, n);
        const left = withoutOne(record, key, NOW).record;
        expect(occurrences(record).length - occurrences(left).length).toBe(1);
        const span = spanOf(record)!;
        const [start, end] = [
          parseInstant(span.span_start)!,
          span.span_end === 'infinity' ? Infinity : parseInstant(span.span_end)!,
        ];
        for (const line of occurrences(record)) {
          const [from, to] = line.split(' ').map(Number) as [number, number];
          expect(from >= start && to <= end).toBe(true);
        }
      }),
      { numRuns: runs(200) },
    );
  });

  test('a series that moves by an hour keeps its overrides', () => {
    fc.assert(
      fc.property(series, fc.nat(), (record, n) => {
        if (record.time_zone === null || record.starts.slice(11, 13) === '23') return;
        const key = keyOf(record, n);
        const changed = changeOne(record, key, { content: { title: 'x' } }, NOW)!.record;
        const hour = two(Number(record.starts.slice(11, 13)) + 1);
        const later = (text: string) => `${text.slice(0, 11)}${hour}${text.slice(13)}`;
        const times = { ...record, starts: later(record.starts), ends: later(record.ends) };
        const moved = changeAll(changed, { content: {}, times }, NOW)!.record;
        expect(moved.overrides).toMatchObject([{ recurrence_key: later(key), patch: { title: 'x' } }]);
      }),
      { numRuns: runs(200) },
    );
  });

  test('durations are read as they are written', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 8_000_000 }), (seconds) => {
        const { days, seconds: rest } = parseDuration(formatDuration(seconds))!;
        expect(days * 86_400 + rest).toBe(seconds);
      }),
    );
    for (const text of ['', 'P', 'PT', 'P1', '1H', 'PT1H1', 'P1DT']) expect(parseDuration(text)).toBeNull();
  });
});
