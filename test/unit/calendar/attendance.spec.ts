import fc from 'fast-check';
import { CalendarZones, component } from '../../../src/lib/icalendar/index.js';
import {
  changeAll,
  changeOne,
  withoutOne,
  withResponse,
} from '../../../src/modules/calendar/changes/event-change.js';
import { split } from '../../../src/modules/calendar/changes/series-split.js';
import { attendeesAt, recordFor, withAttendeesAt } from '../../../src/modules/calendar/model/attendance.js';
import { FOLLOWING } from '../../../src/modules/calendar/model/event-policy.js';
import type {
  AttendeeResponse,
  EventRecord,
  ParticipantRow,
} from '../../../src/modules/calendar/model/event-record.js';
import { contentOf, isSeries, occurrencesIn } from '../../../src/modules/calendar/model/event-series.js';
import { wallOf, wallText } from '../../../src/modules/calendar/model/event-times.js';
import { veventsOf } from '../../../src/modules/calendar/model/vevent.js';
import { readEvent } from '../../../src/modules/calendar/model/vevent-reader.js';
import { EventClock } from '../../../src/modules/calendar/model/vevent-times.js';
import { runs } from '../../support/property-runs.ts';

const NOW = '2026-01-01T00:00:00.000Z';
const WINDOW = { from: 0, to: 4_000_000_000, readerZone: 'UTC' };
const PEOPLE = ['ann', 'bob', 'eve', 'zoe'].map((name) => `${name}@acme.example`);
const [ORGANIZER] = PEOPLE as [string];

const participant = (email: string, role: ParticipantRow['role'] = 'required'): ParticipantRow => ({
  recurrence_key: '',
  email,
  user_id: null,
  name: '',
  role,
  kind: 'person',
  response: email === ORGANIZER ? 'accepted' : 'needs_action',
  rsvp: true,
  comment: '',
  responded_at: null,
  reply_sequence: null,
  reply_dtstamp: null,
  delegated_to: null,
  delegated_from: null,
  schedule_status: null,
  uninvited: false,
  removed: false,
});

const people = fc
  .subarray(PEOPLE)
  .chain((emails) =>
    fc.tuple(
      ...emails.map((email) =>
        fc.constantFrom('required', 'optional').map((role) => participant(email, role as 'required')),
      ),
    ),
  );

const series = fc
  .record({ zone: fc.constantFrom('Europe/Berlin', null), days: fc.boolean(), attendees: people })
  .map(
    ({ zone, days, attendees }): EventRecord =>
      ({
        id: '01890a5d-ac96-774b-bcce-b302099a8057',
        uid: 'uid',
        title: 'Series',
        description: 'Of the series',
        location: '',
        locations: [],
        status: 'confirmed',
        show_as: 'busy',
        visibility: 'default',
        color: null,
        categories: [],
        conference: null,
        links: [],
        custom: {},
        starts: days ? '2026-03-02' : '2026-03-02T09:00:00',
        ends: days ? '2026-03-03' : '2026-03-02T10:00:00',
        time_zone: days ? null : zone,
        end_time_zone: null,
        exact_duration: false,
        rules: ['FREQ=WEEKLY;COUNT=8'],
        added: [],
        excluded: [],
        sequence: 0,
        dtstamp: NOW,
        created_at: NOW,
        updated_at: NOW,
        overrides: [],
        participants: attendees,
        proposals_allowed: true,
        organizer_email: ORGANIZER,
        organizer_name: 'Ann',
        origin_calendar_id: 'c',
        origin: 'internal',
      }) as unknown as EventRecord,
  );

const keysOf = (record: EventRecord): string[] =>
  occurrencesIn(record, WINDOW, 100)
    .flatMap(({ key }) => key ?? [])
    .toSorted();

type Step = (record: EventRecord) => EventRecord;
const at =
  (n: number, change: (record: EventRecord, key: string) => EventRecord): Step =>
  (record) => {
    const keys = keysOf(record);
    return keys.length === 0 ? record : change(record, keys[n % keys.length] as string);
  };
const steps: fc.Arbitrary<Step> = fc.oneof(
  fc.tuple(fc.nat(20), people).map(([n, wanted]) =>
    at(n, (record, key) => {
      const participants = withAttendeesAt(record, key, wanted);
      return changeOne(record, key, { content: {}, participants }, NOW)?.record ?? record;
    }),
  ),
  fc
    .nat(20)
    .map((n) =>
      at(
        n,
        (record, key) => changeOne(record, key, { content: { title: `At ${n}` } }, NOW)?.record ?? record,
      ),
    ),
  fc.nat(20).map((n) => at(n, (record, key) => withoutOne(record, key, NOW).record)),
  fc
    .tuple(
      fc.nat(20),
      fc.constantFrom(...PEOPLE),
      fc.constantFrom('', 'one', FOLLOWING),
      fc.constantFrom<AttendeeResponse | 'removed'>('accepted', 'declined', 'tentative', 'removed'),
    )
    .map(([n, email, scope, wanted]) =>
      at(n, (record, key) => {
        const responseKey = scope === 'one' ? key : scope && `${scope}${key}`;
        const atKey = attendeesAt(record, key).find((row) => row.email === email);
        // Attendees do not see what they removed, and so do not respond to it and the later ones.
        const mayRespond =
          scope === 'one'
            ? atKey !== undefined
            : record.participants.some((row) => row.email === email && !row.uninvited) &&
              !(scope === FOLLOWING && atKey?.removed);
        const isRemoval = wanted === 'removed' && scope !== '';
        const response = wanted === 'removed' ? 'declined' : wanted;
        const values = {
          response,
          comment: '',
          responded_at: NOW,
          ...(isRemoval && { removed: true as const }),
        };
        return mayRespond ? withResponse(record, email, responseKey, values) : record;
      }),
    ),
  // The series moves by a day and an hour.
  fc.constant<Step>((record) => {
    const isDate = record.starts.length === 10;
    const shifted = (text: string) => wallText(wallOf(text) + 86_400 + (isDate ? 0 : 3_600), isDate);
    const { time_zone, end_time_zone, exact_duration } = record;
    const times = {
      starts: shifted(record.starts),
      ends: shifted(record.ends),
      time_zone,
      end_time_zone,
      exact_duration,
    };
    return changeAll(record, { content: {}, times }, NOW)?.record ?? record;
  }),
  fc.integer({ min: 2, max: 8 }).map(
    (count): Step =>
      (record) =>
        changeAll(
          record,
          {
            content: {},
            recurrence: { rules: [`FREQ=WEEKLY;COUNT=${count}`], added: record.added, excluded: [] },
          },
          NOW,
        )?.record ?? record,
  ),
  fc.nat(20).map((n) => at(n, (record, key) => split(record, key, NOW).later)),
);

/** The addresses at each instance, and their roles and responses. */
const attendance = (record: EventRecord) =>
  Object.fromEntries(
    keysOf(record).map((key) => [
      key,
      attendeesAt(record, key)
        .map(({ email, role, response }) => `${email} ${role} ${response}`)
        .toSorted(),
    ]),
  );

const changed = fc
  .tuple(series, fc.array(steps, { maxLength: 8 }))
  .map(([record, all]) => all.reduce((before, step) => step(before), record));

describe('attendees of instances', () => {
  test('a participant receives the instances to which they are invited and that they did not remove, with their content, and no others', () => {
    fc.assert(
      fc.property(changed, fc.constantFrom(...PEOPLE), (record, email) => {
        const isOwn = (row: ParticipantRow): boolean => row.email === email;
        const isAt = (key: string | null) =>
          attendeesAt(record, key).some((row) => isOwn(row) && !row.removed);
        fc.pre(record.participants.some((row) => isOwn(row) && !row.uninvited) && isSeries(record));
        const own = recordFor(record, isOwn);
        const shown = (of: EventRecord) =>
          occurrencesIn(of, WINDOW, 100)
            .filter(({ key }) => isAt(key))
            .map((one) => {
              const { title, starts, ends } = contentOf(of, one);
              return `${one.key} ${one.start} ${one.end} ${title} ${starts} ${ends}`;
            })
            .toSorted();
        expect(keysOf(own)).toEqual(keysOf(record).filter(isAt));
        expect(shown(own)).toEqual(shown(record));
        expect(recordFor(own, isOwn).added).toEqual(own.added);
      }),
      { numRuns: runs(400) },
    );
  });

  test('the attendees of an instance are those of the request; the other instances keep theirs', () => {
    fc.assert(
      fc.property(changed, fc.nat(20), people, (record, n, wanted) => {
        const keys = keysOf(record);
        fc.pre(keys.length > 0);
        const key = keys[n % keys.length] as string;
        const next = { ...record, participants: withAttendeesAt(record, key, wanted) };
        const named = (of: EventRecord) => attendeesAt(of, key).map(({ email, role }) => `${email} ${role}`);
        const isImplied = (row: ParticipantRow): boolean =>
          row.email === ORGANIZER && !wanted.some(({ email }) => email === ORGANIZER);
        const implied = attendeesAt(next, key).filter(isImplied);
        expect(named(next).toSorted()).toEqual(
          [...wanted, ...implied].map(({ email, role }) => `${email} ${role}`).toSorted(),
        );
        const others = (of: EventRecord) => ({ ...attendance(of), [key]: [] });
        expect(others(next)).toEqual(others(record));
        // An update with the attendees of a response changes no row.
        const again = { ...next, participants: withAttendeesAt(next, key, attendeesAt(next, key)) };
        expect(attendance(again)).toEqual(attendance(next));
      }),
      { numRuns: runs(400) },
    );
  });

  test('no row names an instance that does not exist', () => {
    fc.assert(
      fc.property(changed, (record) => {
        const keys = new Set(keysOf(record));
        const rows = record.participants.filter(({ recurrence_key: key }) => /^\d/.test(key));
        expect(rows.filter(({ recurrence_key }) => !keys.has(recurrence_key))).toEqual([]);
      }),
      { numRuns: runs(300) },
    );
  });

  test('a file of the event has the attendees and responses of each instance', () => {
    fc.assert(
      fc.property(changed, (record) => {
        fc.pre(isSeries(record) && record.participants.some(({ recurrence_key }) => recurrence_key === ''));
        const [master, ...instances] = veventsOf(record, { seesDetails: true });
        const clock = new EventClock(new CalendarZones(component('VCALENDAR')), null);
        const read = readEvent(master!, instances, clock);
        const { participants, overrides, times, recurrence } = read;
        const next = { ...record, ...times, ...recurrence, participants, overrides };
        // iCalendar has no list without attendees.
        const written = attendance(record);
        const isStated = ([key, rows]: [string, string[]]) => rows.length > 0 && key in attendance(next);
        // The general response to an instance and all later ones has no form in a file: compare lists and roles.
        const plain = (all: Record<string, string[]>) =>
          Object.entries(all)
            .filter(([key]) => isStated([key, written[key] ?? []]))
            .map(([key, rows]) => [key, rows.map((row) => row.split(' ').slice(0, 2).join(' '))]);
        expect(plain(attendance(next))).toEqual(plain(written));
      }),
      { numRuns: runs(300) },
    );
  });
});
