import fc from 'fast-check';
import {
  CalendarZones,
  component,
  type Component,
  formatComponent,
  parseCalendars,
  propertyOf,
} from '../../../src/lib/icalendar/index.js';
import { labelsOf } from '../../../src/lib/text/index.js';
import { DAY, formatRule, parseRule } from '../../../src/lib/recurrence/index.js';
import { changeOne } from '../../../src/modules/calendar/changes/event-change.js';
import { replaceValues } from '../../../src/modules/calendar/events/imported-event.js';
import type { EventRecord } from '../../../src/modules/calendar/model/event-record.js';
import { contentOf, occurrencesIn } from '../../../src/modules/calendar/model/event-series.js';
import { parseInstant, wallText } from '../../../src/modules/calendar/model/event-times.js';
import { veventsOf } from '../../../src/modules/calendar/model/vevent.js';
import { EventClock } from '../../../src/modules/calendar/model/vevent-times.js';
import { readEvent, type ReadEvent } from '../../../src/modules/calendar/model/vevent-reader.js';
import { runs } from '../../support/property-runs.ts';

const NOW = '2026-01-01T00:00:00.000Z';
const WINDOW = {
  from: parseInstant('2026-01-01T00:00:00Z') as number,
  to: parseInstant('2027-06-01T00:00:00Z') as number,
  readerZone: 'UTC',
};

const text = (maxLength: number) =>
  fc
    .string({ unit: 'grapheme', maxLength })
    .map((value) => value.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/gu, '').trim());
const longText = fc.array(text(20), { maxLength: 6 }).map((lines) => lines.join('\n'));
const two = (n: number): string => String(n).padStart(2, '0');

const content = fc.record({
  title: text(60),
  description: longText,
  location: text(30),
  locations: fc.constantFrom([], [{ name: '', address: '', geo: { latitude: 52.5, longitude: -13.4 } }]),
  status: fc.constantFrom('confirmed', 'tentative'),
  show_as: fc.constantFrom('busy', 'free', 'tentative', 'out_of_office', 'working_elsewhere'),
  visibility: fc.constantFrom('default', 'private'),
  color: fc.option(fc.stringMatching(/^#[0-9a-f]{6}$/)),
  categories: fc.uniqueArray(text(12), { maxLength: 4 }).map((all) => labelsOf(all).filter(Boolean)),
  conference: fc.constantFrom(null, { kind: 'link', url: 'https://meet.example.com/a;b,c', room_id: null }),
  links: fc.constantFrom(
    [],
    [{ type: 'url' as const, id: null, url: 'https://example.com/x', title: 'A, B; "C"' }],
  ),
  custom: fc.constantFrom(
    {},
    {
      ics: [
        {
          name: 'X-UNKNOWN',
          parameters: [{ name: 'X-P', values: ['a:b', 'c"d'] }],
          value: 'kept\\, as it is',
        },
      ],
    },
  ),
});

const times = fc
  .record({
    month: fc.integer({ min: 1, max: 9 }),
    day: fc.integer({ min: 1, max: 27 }),
    hour: fc.integer({ min: 0, max: 22 }),
    minutes: fc.integer({ min: 0, max: 59 }),
    kind: fc.constantFrom('days', 'wall', 'exact', 'two zones'),
    zone: fc.constantFrom('Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'UTC', null),
  })
  .map(({ month, day, hour, minutes, kind, zone }) => {
    const date = `2026-${two(month)}-${two(day)}`;
    if (kind === 'days')
      return {
        starts: date,
        ends: `2026-${two(month)}-${two(day + 1)}`,
        time_zone: null,
        end_time_zone: null,
        exact_duration: false,
      };
    const isApart = kind === 'two zones' && zone !== null;
    return {
      starts: `${date}T${two(hour)}:${two(minutes)}:00`,
      ends: isApart
        ? `2026-${two(month)}-${two(day + 1)}T23:00:00`
        : `${date}T${two(hour + 1)}:${two(minutes)}:00`,
      time_zone: zone,
      end_time_zone: isApart ? 'Asia/Tokyo' : null,
      exact_duration: kind === 'exact',
    };
  });

const RULES = [
  'FREQ=DAILY;COUNT=20',
  'FREQ=WEEKLY;BYDAY=MO,TH',
  'FREQ=MONTHLY;BYDAY=-1FR;COUNT=6',
  'FREQ=WEEKLY;UNTIL=20261231',
];

const participant = (email: string, response: string, recurrence_key = '') => ({
  recurrence_key,
  email,
  user_id: null,
  name: `Name, "${email}"`,
  role: 'optional',
  kind: 'room',
  response,
  rsvp: true,
  comment: '',
  responded_at: null,
  reply_sequence: null,
  reply_dtstamp: null,
  delegated_to: null,
  delegated_from: null,
  schedule_status: null,
  uninvited: false,
});

const events = fc
  .record({
    content,
    times,
    rule: fc.option(fc.constantFrom(...RULES)),
    organized: fc.boolean(),
    changed: fc.array(
      fc.record({ n: fc.nat(50), content: fc.record({ title: text(20) }), moves: fc.boolean() }),
      {
        maxLength: 3,
      },
    ),
    excluded: fc.array(fc.nat(50), { maxLength: 3 }),
  })
  .map(({ content, times, rule, organized, changed, excluded }): EventRecord => {
    let record = {
      ...content,
      ...times,
      uid: 'uid, with; signs',
      sequence: 3,
      dtstamp: NOW,
      created_at: NOW,
      updated_at: NOW,
      organizer_email: 'ann@acme.example',
      organizer_name: 'Ann',
      rules: rule === null ? [] : [formatRule(parseRule(rule))],
      added: [],
      excluded: [],
      overrides: [],
      participants: organized
        ? [participant('ann@acme.example', 'accepted'), participant('bob@side.example', 'tentative')]
        : [],
      proposals_allowed: !organized,
    } as unknown as EventRecord;
    if (rule === null) return record;
    const keys = occurrencesIn(record, WINDOW, 60).map(({ key }) => key as string);
    const gone = new Set(excluded.map((n) => keys[n % keys.length] as string));
    if (gone.size < keys.length - 3) record = { ...record, excluded: [...gone].toSorted() };
    for (const { n, content: own, moves } of changed) {
      const key = keys[n % keys.length] as string;
      if (gone.has(key)) continue;
      const shifted = {
        ...contentOf(
          record,
          occurrencesIn(record, WINDOW, 60).find((each) => each.key === key)!,
        ),
      };
      const moved = moves && !times.exact_duration && times.starts.includes('T');
      const starts = moved ? `${shifted.starts.slice(0, 17)}07` : shifted.starts;
      record =
        changeOne(
          record,
          key,
          {
            content: own,
            ...(moved && { times: { ...times, starts, ends: shifted.ends.replace(/:00$/, ':40') } }),
          },
          NOW,
        )?.record ?? record;
    }
    return record;
  });

const calendarOf = (parts: Component[]): Component => component('VCALENDAR', [], parts);

function read(ics: string): ReadEvent {
  const [calendar] = parseCalendars(ics) as [Component];
  const vevents = calendar.components.filter(({ name }) => name === 'VEVENT');
  const isPart = (each: Component): boolean => propertyOf(each, 'RECURRENCE-ID') !== undefined;
  const master = vevents.find((each) => !isPart(each)) as Component;
  return readEvent(master, vevents.filter(isPart), new EventClock(new CalendarZones(calendar), null));
}

const written = (record: EventRecord): string =>
  formatComponent(
    calendarOf(veventsOf(record, { seesDetails: true, reminders: [{ method: 'popup', minutes: 15 }] })),
  );

const asRecord = (record: EventRecord, found: ReadEvent): EventRecord => ({
  ...record,
  ...found.content,
  ...found.times,
  ...found.recurrence,
  overrides: found.overrides,
  participants: found.participants,
  proposals_allowed: found.proposals_allowed,
});

/** All instances with their content; an override that repeats the series is no difference. */
const instances = (record: EventRecord) =>
  occurrencesIn(record, WINDOW, 1_000)
    .filter((each) => contentOf(record, each).status !== 'cancelled')
    .map((each) => {
      const { title, description, starts, ends, time_zone, exact_duration } = contentOf(record, each);
      return {
        key: each.key,
        start: each.start,
        end: each.end,
        title,
        description,
        starts,
        ends,
        time_zone,
        exact_duration,
      };
    })
    .toSorted((a, b) => a.start - b.start || ((a.key ?? '') < (b.key ?? '') ? -1 : 1));

describe('VEVENTs', () => {
  test('an event that is written and read is the same event', () => {
    fc.assert(
      fc.property(events, (record) => {
        const ics = written(record);
        const found = read(ics);
        const again = asRecord(record, found);
        expect(instances(again)).toEqual(instances(record));
        for (const name of [
          'title',
          'description',
          'location',
          'status',
          'show_as',
          'visibility',
          'color',
        ] as const)
          expect([name, again[name]]).toEqual([name, record[name]]);
        for (const name of [
          'categories',
          'conference',
          'links',
          'custom',
          'excluded',
          'proposals_allowed',
        ] as const)
          expect([name, again[name]]).toEqual([name, record[name]]);
        expect(
          found.participants
            .filter(({ recurrence_key }) => recurrence_key === '')
            .map(({ email, role, kind, response }) => ({ email, role, kind, response })),
        ).toEqual(
          record.participants
            .filter(({ recurrence_key }) => recurrence_key === '')
            .map(({ email, role, kind, response }) => ({ email, role, kind, response })),
        );
        expect([found.uid, found.sequence, found.dtstamp, found.reminders]).toEqual([
          record.uid,
          record.sequence,
          NOW,
          [{ method: 'popup', minutes: 15 }],
        ]);
        // Only an override that repeats its series is not written again.
        expect(written(asRecord(record, read(written(again))))).toBe(written(again));
        expect(ics).toContain(written(again).slice(0, written(again).indexOf('END:VEVENT')));
      }),
      { numRuns: runs(300) },
    );
  });

  const single = {
    uid: 'a',
    title: 'A',
    description: '',
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
    sequence: 0,
    dtstamp: NOW,
    created_at: NOW,
    updated_at: NOW,
    starts: '2026-03-02T09:00:00',
    ends: '2026-03-02T10:00:00',
    time_zone: 'America/New_York',
    end_time_zone: null,
    exact_duration: false,
    rules: [],
    added: [],
    excluded: [],
    overrides: [],
    participants: [],
    proposals_allowed: true,
  } as unknown as EventRecord;

  test.each(['UNTIL=99991231', 'UNTIL=99991231T235959', 'UNTIL=99991231T235959Z'])(
    'the last UNTIL of iCalendar is written and read: %s',
    (until) => {
      const record = { ...single, rules: [`FREQ=DAILY;${until}`] };
      expect(written(record)).toContain('UNTIL=99991231T235959Z');
      expect(read(written(record)).recurrence.rules).toEqual(['FREQ=DAILY;UNTIL=99991231T235959Z']);
    },
  );

  test('coordinates have no exponent', () => {
    const geo = { latitude: -1e-7, longitude: 13.404_954 };
    expect(written({ ...single, locations: [{ name: 'A', address: '', geo }] })).toContain('GEO:0;13.404954');
  });

  test('an alarm by mail has a subject and the address of its owner', () => {
    const reminders = [
      { method: 'email', minutes: 60 },
      { method: 'popup', minutes: 10 },
    ] as const;
    const [event] = veventsOf(single, { seesDetails: true, reminders, ownerEmail: 'ann@acme.example' });
    const alarms = event!.components.map(({ properties }) =>
      Object.fromEntries(properties.map(({ name, value }) => [name, value])),
    );
    expect(alarms).toEqual([
      {
        ACTION: 'EMAIL',
        SUMMARY: 'Reminder',
        DESCRIPTION: 'Reminder',
        ATTENDEE: 'mailto:ann@acme.example',
        TRIGGER: '-PT1H',
      },
      { ACTION: 'DISPLAY', DESCRIPTION: 'Reminder', TRIGGER: '-PT10M' },
    ]);
  });

  const file = (...lines: string[]): string =>
    ['BEGIN:VCALENDAR', 'BEGIN:VEVENT', 'UID:a', ...lines, 'END:VEVENT', 'END:VCALENDAR', ''].join('\r\n');

  test('a COLOR that an earlier version kept is the colour when a program adds a property', () => {
    const ics = [{ name: 'COLOR', parameters: [], value: 'red' }];
    const stored = { ...single, color: null, custom: { ics } };
    const lines = ['DTSTART:20260302T090000Z', 'COLOR:red'];
    expect(replaceValues(stored, read(file(...lines)))).toMatchObject({ color: null, custom: { ics } });
    const added = replaceValues(stored, read(file(...lines, 'X-NEW:1')));
    expect(added).toMatchObject({ color: '#ff0000', custom: { ics: [{ name: 'X-NEW' }] } });
  });

  const days = (n: number): string =>
    Array.from({ length: n }, (_, at) => wallText((20_000 + at) * DAY, true).replaceAll('-', '')).join();

  test('an event with many days without instances in EXDATE is invalid, and so are many dates in RDATE', () => {
    const daily = ['DTSTART:20260302T090000Z', 'RRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29'];
    expect(read(file(...daily, `EXDATE;VALUE=DATE:${days(1_000)}`)).recurrence.excluded).toEqual([
      '2026-03-02T09:00:00',
    ]);
    for (const line of [`EXDATE;VALUE=DATE:${days(1_001)}`, `RDATE;VALUE=DATE:${days(1_001)}`])
      expect(() => read(file(...daily, line))).toThrow(
        expect.objectContaining({ name: 'ICalendarError', code: 'invalid_value' }),
      );
  });

  /** An event in a zone that no IANA zone matches. */
  const onMoon = (offset: string, ...lines: string[]): string => {
    const zone = [
      'BEGIN:VTIMEZONE',
      'TZID:Moon',
      'BEGIN:STANDARD',
      'DTSTART:20200101T000000',
      `TZOFFSETFROM:${offset}`,
      `TZOFFSETTO:${offset}`,
      'END:STANDARD',
      'END:VTIMEZONE',
    ];
    return file(...lines).replace('BEGIN:VEVENT', [...zone, 'BEGIN:VEVENT'].join('\r\n'));
  };

  test('a date that RDATE has very often counts once, also in a custom zone', () => {
    const often = Array.from({ length: 200_000 }, () => '20260309T090000').join();
    const found = read(onMoon('+0013', 'DTSTART;TZID=Moon:20260302T090000', `RDATE;TZID=Moon:${often}`));
    expect(found.recurrence.added).toEqual(['2026-03-09T08:47:00']);
  });

  test.each([
    ['+0013', '20260302T090000', '20260304T084700Z', ['2026-03-03T08:47:00', '2026-03-04T08:47:00']],
    ['-0013', '20260302T090000', '20260304T091259Z', ['2026-03-03T09:13:00']],
  ])('UNTIL of a series in a custom zone is an instant: %s', (offset, start, until, added) => {
    const lines = [`DTSTART;TZID=Moon:${start}`, `RRULE:FREQ=DAILY;UNTIL=${until}`];
    expect(read(onMoon(offset, ...lines)).recurrence.added).toEqual(added);
  });
});
