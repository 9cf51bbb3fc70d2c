import { changeAll, changeOne, withResponse } from '../../../src/modules/calendar/changes/event-change.js';
import { split } from '../../../src/modules/calendar/changes/series-split.js';
import { recordFor, withAttendeesAt } from '../../../src/modules/calendar/model/attendance.js';
import { FOLLOWING } from '../../../src/modules/calendar/model/event-policy.js';
import {
  type EventRecord,
  NEW_PARTICIPANT,
  type ParticipantRow,
} from '../../../src/modules/calendar/model/event-record.js';
import { hasInstances, occurrencesIn } from '../../../src/modules/calendar/model/event-series.js';
import { instanceRows } from '../../../src/modules/calendar/model/vevent-people.js';

const NOW = '2026-01-01T00:00:00.000Z';
const BOB = 'bob@acme.example';
const row: ParticipantRow = { ...NEW_PARTICIPANT, email: BOB };

const series = (rules: string[], fields: Partial<EventRecord> = {}): EventRecord =>
  ({
    starts: '2026-05-04T09:00:00',
    ends: '2026-05-04T10:00:00',
    time_zone: 'Europe/Berlin',
    end_time_zone: null,
    exact_duration: false,
    rules,
    added: [],
    excluded: [],
    sequence: 0,
    overrides: [],
    participants: [row],
    custom: {},
    locations: [],
    organizer_email: 'ann@acme.example',
    ...fields,
  }) as unknown as EventRecord;
const on = (day: string): string => `2026-${day}T09:00:00`;
const declined = { response: 'declined', comment: '', responded_at: NOW, removed: true } as const;
const removed = (record: EventRecord, day: string, scope = ''): EventRecord =>
  withResponse(record, BOB, `${scope}${on(day)}`, declined);
const bobs = (record: EventRecord): EventRecord => recordFor(record, ({ email }) => email === BOB);
const days = (record: EventRecord): string[] =>
  occurrencesIn(bobs(record), { from: 0, to: 1_800_000_000, readerZone: 'UTC' }, 100)
    .map(({ key }) => (key ?? 'single').slice(5, 10))
    .toSorted();
const withRules = (record: EventRecord, rules: string[]): EventRecord =>
  changeAll(record, { content: {}, recurrence: { rules, added: [], excluded: [] } }, NOW)!.record;

describe('dates that an attendee removed', () => {
  test.each([
    ['a shorter COUNT', ['FREQ=WEEKLY;COUNT=2'], ['05-04', '05-11']],
    ['an earlier UNTIL', ['FREQ=WEEKLY;UNTIL=20260512T000000Z'], ['05-04', '05-11']],
    ['a later end', ['FREQ=WEEKLY;COUNT=9'], ['05-04', '05-11', '05-18']],
    ['no end', ['FREQ=WEEKLY'], ['05-04', '05-11', '05-18']],
  ])('with the later ones: a rule that gets %s has no further date', (_, rules, left) => {
    const record = withRules(removed(series(['FREQ=WEEKLY;COUNT=5']), '05-25', FOLLOWING), rules);
    expect(days(record)).toEqual(left);
  });

  test('with the later ones, of several rules and of added dates', () => {
    const rules = ['FREQ=DAILY;COUNT=3', 'FREQ=WEEKLY;COUNT=5'];
    expect(days(removed(series(rules), '05-18', FOLLOWING))).toEqual(['05-04', '05-05', '05-06', '05-11']);
    const added = series(['FREQ=WEEKLY;COUNT=3'], { added: [on('05-29'), on('06-02')] });
    expect(days(removed(added, '06-02', FOLLOWING))).toEqual(['05-04', '05-11', '05-18', '05-29']);
    const dates = series([], { added: [on('05-11')] });
    expect(days(removed(dates, '05-11', FOLLOWING))).toEqual(['05-04']);
    expect(hasInstances(bobs(removed(dates, '05-04', FOLLOWING)))).toBe(false);
  });

  test('stay removed in the later part of a split series', () => {
    const record = removed(series(['FREQ=WEEKLY;COUNT=5']), '05-18', FOLLOWING);
    expect(days(split(record, on('05-25'), NOW).later)).toEqual([]);
    const parts = split(record, on('05-11'), NOW);
    expect([days(parts.earlier!), days(parts.later)]).toEqual([['05-04'], ['05-11']]);
  });

  test('are shown again at a new time, also of a date after that from which all are removed', () => {
    const record = removed(series(['FREQ=WEEKLY;COUNT=5']), '05-18', FOLLOWING);
    const times = { ...record, starts: '2026-06-02T09:00:00', ends: '2026-06-02T10:00:00' };
    const { starts, ends, time_zone, end_time_zone, exact_duration } = times;
    const moved = changeOne(
      record,
      on('06-01'),
      { content: {}, times: { starts, ends, time_zone, end_time_zone, exact_duration } },
      NOW,
    )!.record;
    expect(days(moved)).toEqual(['05-04', '05-11', '06-01']);
    expect(bobs(moved).overrides).toEqual(moved.overrides);
    // So is one whose series is not answered either: the row of the date is not redundant.
    const stated = [{ ...row, recurrence_key: on('06-01') }];
    expect(instanceRows(record.participants, stated, on('06-01'), undefined)).toEqual(stated);
  });

  test('stay removed where the organizer states the attendees of the date, also of a declined series', () => {
    const whole = { ...row, response: 'declined' as const };
    const record = removed(series(['FREQ=WEEKLY;COUNT=5'], { participants: [whole] }), '05-11');
    const left = ['05-04', '05-18', '05-25', '06-01'];
    expect(days(record)).toEqual(left);
    const eve = { ...NEW_PARTICIPANT, email: 'eve@acme.example' };
    const participants = withAttendeesAt(record, on('05-11'), [whole, eve]);
    expect(days({ ...record, participants })).toEqual(left);
    const stated = record.participants.filter(({ recurrence_key }) => recurrence_key !== '');
    expect(instanceRows(record.participants, stated, on('05-11'), undefined)).toEqual(stated);
  });
});
