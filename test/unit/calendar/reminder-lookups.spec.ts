import type { EventRecord } from '../../../src/modules/calendar/model/event-record.js';
import { veventsOf } from '../../../src/modules/calendar/model/vevent.js';
import { dueReminders, nextCheck } from '../../../src/modules/calendar/reminders/reminder-clock.js';

const HOUR = 3600;
const START = Date.UTC(2030, 0, 7, 9) / 1000;
const wall = (hours: number): string => new Date((START + hours * HOUR) * 1000).toISOString().slice(0, 19);
const many = <T>(length: number, make: (n: number) => T): T[] => Array.from({ length }, (_, n) => make(n));

/** An hourly series in UTC. */
const series = (fields: Partial<EventRecord> = {}): EventRecord =>
  ({
    starts: wall(0),
    ends: wall(0.5),
    time_zone: 'UTC',
    end_time_zone: null,
    exact_duration: false,
    location: '',
    status: 'confirmed',
    rules: ['FREQ=HOURLY'],
    added: [],
    excluded: [],
    overrides: [],
    participants: [],
    deleted_at: null,
    ...fields,
  }) as unknown as EventRecord;
const query = (record: EventRecord, hours: readonly number[], minutes: number | null) => ({
  record,
  reminders: [],
  instances: Object.fromEntries(
    hours.map((n) => [
      wall(n),
      { reminders: minutes === null ? [] : [{ method: 'popup' as const, minutes }] },
    ]),
  ),
  userId: 'ann',
  readerZone: 'UTC',
});

describe('the reminders of many instances', () => {
  test('of a series with many removed dates take little processor time', () => {
    const record = series({ excluded: many(2_000, (n) => wall(5_000 + n)) });
    const asked = query(
      record,
      many(300, (n) => n + 1),
      5,
    );
    dueReminders(asked, START, START + 60);
    const begun = process.cpuUsage();
    for (let n = 0; n < 5; n += 1) {
      expect(dueReminders(asked, START + 3_200, START + 3_310)).toMatchObject([{ key: wall(1), minutes: 5 }]);
      expect(nextCheck(asked, START, null)).toBe(START + HOUR - 300);
    }
    const { user, system } = process.cpuUsage(begun);
    expect((user + system) / 5_000).toBeLessThan(100);
  });

  test('ring weeks ahead, and not for an instance that the series lacks', () => {
    const record = series({ excluded: [wall(720)] });
    const lead = 600 * 60;
    expect(nextCheck(query(record, [700, 720], lead), START, null)).toBe(START + 100 * HOUR);
    expect(
      dueReminders(query(record, [700, 720], lead), START + 99 * HOUR, START + 200 * HOUR),
    ).toMatchObject([{ key: wall(700), minutes: lead }]);
  });

  test('that have passed are checked no more', () => {
    const at = START + 900 * HOUR;
    expect(nextCheck(query(series(), [1, 2, 3], 5), at, null)).toBeNull();
    expect(nextCheck(query(series(), [2_000], 5), at, null)).toBe(at + 14 * 86_400);
    expect(nextCheck(query(series(), [2_000], null), at, null)).toBeNull();
  });

  test('of a series with many removed dates are written to a text in little processor time', () => {
    const texts = { uid: 'a', title: 'Course', description: '', location: '' };
    const content = { ...texts, custom: {}, categories: [], locations: [], links: [], sequence: 0 };
    const stamps = { dtstamp: wall(0), created_at: wall(0), updated_at: wall(0), proposals_allowed: true };
    const record = series({
      excluded: many(2_000, (n) => wall(5_000 + n)),
      ...({ ...content, ...stamps } as Partial<EventRecord>),
    });
    const own = { reminders: [{ method: 'popup' as const, minutes: 5 }], alarms: [] };
    const hours = many(300, (n) => n + 1);
    const view = {
      seesDetails: true,
      instanceAlarms: Object.fromEntries([...hours, 6_000].map((n) => [wall(n), own])),
    };
    expect(veventsOf(record, view)).toHaveLength(301);
    const begun = process.cpuUsage();
    for (let n = 0; n < 5; n += 1) veventsOf(record, view);
    const { user, system } = process.cpuUsage(begun);
    expect((user + system) / 5_000).toBeLessThan(100);
  });
});
