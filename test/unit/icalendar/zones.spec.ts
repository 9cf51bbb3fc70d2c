import fc from 'fast-check';
import { DAY, parseWallTime, Zone } from '../../../src/lib/recurrence/index.js';
import {
  allTimesOf,
  CalendarZones,
  component,
  type Component,
  formatComponent,
  formatDuration,
  formatTime,
  parseCalendars,
  parseDuration,
  parseTime,
  property,
  type Property,
  type ResolvedZone,
  vtimezoneOf,
  zoneOfName,
  ZoneRules,
} from '../../../src/lib/icalendar/index.js';
import { runs } from '../../support/property-runs.ts';

const AROUND = Date.UTC(2026, 2, 1) / 1000;

describe('a TZID', () => {
  test.each([
    ['Europe/Berlin', 'Europe/Berlin'],
    ['europe/berlin', 'Europe/Berlin'],
    ['W. Europe Standard Time', 'Europe/Berlin'],
    ['"Romance Standard Time"', 'Europe/Paris'],
    ['/freeassociation.sourceforge.net/Europe/Prague', 'Europe/Prague'],
    ['/mozilla.org/20050126_1/America/New_York', 'America/New_York'],
    ['/citadel.org/20210210_1/America/Argentina/Buenos_Aires', 'America/Argentina/Buenos_Aires'],
    ['UTC', 'UTC'],
    ['GMT', 'UTC'],
    ['Etc/UTC', 'UTC'],
    ['tzone://Microsoft/Utc', 'UTC'],
    ['(UTC) Coordinated Universal Time', 'UTC'],
    ['(UTC-05:00) Eastern Time (US & Canada)', 'America/New_York'],
    ['Eastern Time (US & Canada)', 'America/New_York'],
    ['(GMT-08:00) Pacific Time (US & Canada); Tijuana', 'America/Los_Angeles'],
    ['(UTC+01:00) Amsterdam, Berlin, Bern, Rome, Stockholm, Vienna', 'Europe/Berlin'],
    ['Amsterdam, Berlin, Bern, Rome, Stockholm, Vienna', 'Europe/Berlin'],
    ['(UTC+02:00) Helsinki, Kyiv, Riga, Sofia, Tallinn, Vilnius', 'Europe/Helsinki'],
    ['(UTC+05:30) Chennai, Kolkata, Mumbai, New Delhi', 'Asia/Kolkata'],
    ['(UTC+08:00) Beijing, Chongqing, Hong Kong, Urumqi', 'Asia/Shanghai'],
    ['(UTC+10:00) Canberra, Melbourne, Sydney', 'Australia/Sydney'],
    ['Western/Central Europe', 'Europe/Berlin'],
    ['Mitteleuropäische Zeit', 'Europe/Berlin'],
    ['Mitteleuropäische Sommerzeit', 'Europe/Berlin'],
    ['GMT +0100 (Standard) / GMT +0200 (Daylight)', 'Europe/Berlin'],
    ['GMT-05:00/-04:00', 'America/New_York'],
    ['GMT-05.00/-04.00', 'America/New_York'],
    ['+1000/+1100', 'Australia/Sydney'],
    ['EST/EDT', 'America/New_York'],
    ['CET/CEST', 'Europe/Berlin'],
    ['MEST', 'Europe/Berlin'],
    ['US-Eastern', 'America/New_York'],
    ['America-New_York', 'America/New_York'],
    ['America_New_York', 'America/New_York'],
    ['Europe-Berlin', 'Europe/Berlin'],
    ["'Europe/Berlin'", 'Europe/Berlin'],
    ['+0200', 'Etc/GMT-2'],
    ['-05:30', null],
    ['+05:30', 'Asia/Kolkata'],
    ['Standard-Time', null],
    ['Romance', 'Europe/Paris'],
    ['(GMT +01:00)', 'Etc/GMT-1'],
    ['GMT+0530', 'Asia/Kolkata'],
    ['UTC-3', 'Etc/GMT+3'],
    ['Europe/Kyiv', 'Europe/Kyiv'],
    ['tzone://Microsoft/Custom', null],
    ['Customized Time Zone', null],
    ['Eastern Daylight Time', 'America/New_York'],
    ['Eastern Standard Time 1', 'America/New_York'],
    ['America/New_York_1', 'America/New_York'],
    ['Mexico Standard Time', 'America/Mexico_City'],
    ['Mexico Standard Time 2', 'America/Mazatlan'],
    ['Mountain Standard Time (Mexico)', 'America/Mazatlan'],
    ['Central Asia Standard Time', 'Asia/Bishkek'],
    ['(GMT+05.30)', 'Asia/Kolkata'],
    ['BST', 'Europe/London'],
    ['AST', 'America/Halifax'],
    ['NST', 'America/St_Johns'],
    ['PST', 'America/Los_Angeles'],
    ['PDT', 'America/Los_Angeles'],
    ['SystemV/AST4', null],
    ['constructor', null],
    ['', null],
  ])('%s is %s', (tzid, expected) => {
    const name = zoneOfName(tzid);
    expect(name && Zone.of(name).offsetAt(AROUND)).toBe(expected && Zone.of(expected).offsetAt(AROUND));
    if (expected?.includes('Europe')) expect(name).toBe(expected);
  });

  test.each([
    ['(UTC+01:00) ', ' '],
    ['+01', ' '],
    ['GMT ', '('],
    ['x', ' ('],
  ])('%s with a million of "%s" after it is none, at once', (start, repeated) => {
    const from = performance.now();
    expect(zoneOfName(`${start}${repeated.repeat(1_000_000)}x`)).toBeNull();
    expect(performance.now() - from).toBeLessThan(500);
  });

  const custom = (tzid: string, ...children: Component[]): Component =>
    component('VCALENDAR', [], [component('VTIMEZONE', [property('TZID', tzid)], children)]);
  const observance = (name: string, start: string, from: string, to: string, rule?: string): Component =>
    component(name, [
      property('DTSTART', start),
      property('TZOFFSETFROM', from),
      property('TZOFFSETTO', to),
      ...(rule ? [property('RRULE', rule)] : []),
    ]);
  const resolve = (calendar: Component, tzid: string): ResolvedZone | null =>
    new CalendarZones(calendar).resolve(tzid, AROUND);

  test('of a custom zone is the IANA zone with the same offsets', () => {
    const calendar = custom(
      'Customized Time Zone',
      observance('STANDARD', '16010101T030000', '+0200', '+0100', 'FREQ=YEARLY;BYDAY=-1SU;BYMONTH=10'),
      observance('DAYLIGHT', '16010101T020000', '+0100', '+0200', 'FREQ=YEARLY;BYDAY=-1SU;BYMONTH=3'),
    );
    const found = resolve(calendar, 'Customized Time Zone');
    expect(found?.kind).toBe('iana');
    const zone = Zone.of((found as { name: string }).name);
    for (const month of [0, 3, 6, 9, 11])
      expect(zone.offsetAt(Date.UTC(2026, month, 5) / 1000)).toBe(month > 2 && month < 10 ? 7200 : 3600);
  });

  // No IANA zone has these offsets all year.
  test.each([
    ['UTC-03:30', -3.5],
    ['GMT-0330', -3.5],
    ['-0330', -3.5],
    ['"UTC-03:30"', -3.5],
    ['(UTC-03:30) Nowhere', -3.5],
    ['+07:30', 7.5],
    ['UTC+10:30', 10.5],
    ['UTC-3.5', -3.5],
    ['GMT-02:30', -2.5],
  ])('%s states its offset', (tzid, hours) => {
    const found = resolve(component('VCALENDAR'), tzid);
    expect(found).toMatchObject({ kind: 'rules' });
    const { rules } = found as { rules: ZoneRules };
    for (const month of [0, 6]) {
      const wall = Date.UTC(2026, month, 5) / 1000;
      expect(rules.toInstant(wall)).toBe(wall - hours * 3600);
    }
  });

  test.each([
    ['(UTC-03:30) Newfoundland', 'America/St_Johns'],
    ['+05:45', 'Asia/Kathmandu'],
    ['Etc/GMT+3', 'Etc/GMT+3'],
    ['UTC+3', 'Etc/GMT-3'],
    ['UTC+5.5', 'Asia/Kolkata'],
    ['UTC+5.75', 'Asia/Kathmandu'],
  ])('%s is the zone %s', (tzid, zone) => {
    const found = resolve(component('VCALENDAR'), tzid) as { name: string };
    for (const month of [0, 6]) {
      const at = Date.UTC(2026, month, 5) / 1000;
      expect(Zone.of(found.name).offsetAt(at)).toBe(Zone.of(zone).offsetAt(at));
    }
  });

  test.each(['UTC-15:30', 'UTC-0x', '+99:30'])('%s states no offset', (tzid) => {
    expect(resolve(component('VCALENDAR'), tzid)).toBeNull();
  });

  const london = [
    observance('STANDARD', '19701025T020000', '+0100', '+0000', 'FREQ=YEARLY;BYDAY=-1SU;BYMONTH=10'),
    observance('DAYLIGHT', '19700329T010000', '+0000', '+0100', 'FREQ=YEARLY;BYDAY=-1SU;BYMONTH=3'),
  ];

  test.each(['Etc/GMT', 'Etc/UTC', 'Etc/GMT-1', 'GMT'])(
    '%s with summer time is what the file defines',
    (tzid) => {
      expect(resolve(custom(tzid, ...london), tzid)).toEqual({ kind: 'iana', name: 'Europe/London' });
    },
  );

  test('is the place that its VTIMEZONE names, unless the rules are those of another place', () => {
    const located = (place: string): Component => {
      const calendar = custom('My zone', ...london);
      calendar.components[0]!.properties.push(property('X-LIC-LOCATION', place));
      return calendar;
    };
    expect(resolve(located('Europe/Lisbon'), 'My zone')).toEqual({ kind: 'iana', name: 'Europe/Lisbon' });
    expect(resolve(located('America/New_York'), 'My zone')).toEqual({ kind: 'iana', name: 'Europe/London' });
  });

  test('of a custom zone without an IANA zone keeps its own rules', () => {
    const calendar = custom(
      'Moon',
      observance('STANDARD', '20200101T000000', '+0013', '+0013'),
      observance('DAYLIGHT', '20200601T020000', '+0013', '+0113', 'FREQ=YEARLY;BYMONTH=6;BYMONTHDAY=1'),
      observance('STANDARD', '20200701T020000', '+0113', '+0013', 'FREQ=YEARLY;BYMONTH=7;BYMONTHDAY=1'),
    );
    const found = resolve(calendar, 'Moon');
    if (found?.kind !== 'rules') throw new Error('rules expected');
    expect(found.rules.toInstant(parseWallTime('2026-06-15T12:00')!)).toBe(
      Date.UTC(2026, 5, 15, 10, 47) / 1000,
    );
    expect(found.rules.toInstant(parseWallTime('2026-08-15T12:00')!)).toBe(
      Date.UTC(2026, 7, 15, 11, 47) / 1000,
    );
    // In the gap of 1 June, the offset before the gap applies.
    expect(found.rules.toInstant(parseWallTime('2026-06-01T02:30')!)).toBe(
      Date.UTC(2026, 5, 1, 2, 17) / 1000,
    );
  });

  test('of a custom zone with dates far apart keeps the last offset between them', () => {
    const dated = (name: string, dates: string[], from: string, to: string): Component => ({
      ...observance(name, dates[0] as string, from, to),
      properties: [
        ...observance(name, dates[0] as string, from, to).properties,
        property('RDATE', dates.join()),
      ],
    });
    const rules = new ZoneRules(
      component(
        'VTIMEZONE',
        [],
        [
          dated('DAYLIGHT', ['19400401T020000', '20800401T020000'], '+0013', '+0113'),
          dated('STANDARD', ['19401001T030000', '20801001T030000'], '+0113', '+0013'),
        ],
      ),
    );
    const offsets = [1939, 1941, 1980, 2026, 2079, 2081].map((year) =>
      rules.offsetAt(Date.UTC(year, 6, 1) / 1000),
    );
    expect(offsets).toEqual(Array.from({ length: 6 }, () => 780));
    expect(rules.offsetAt(Date.UTC(1940, 6, 1) / 1000)).toBe(780 + 3600);
  });

  test('with too many rules, dates or changes is unknown', () => {
    const many = (n: number, name: string, value: (at: number) => string) =>
      Array.from({ length: n }, (_, at) => property(name, value(at)));
    const start = observance('STANDARD', '20200101T000000', '+0013', '+0017');
    const zone = (...properties: Property[]) =>
      custom('Moon', { ...start, properties: [...start.properties, ...properties] });
    const date = (n: number) => `20${String(10 + (n % 80))}0101T000000`;
    expect(resolve(zone(...many(2, 'RRULE', () => 'FREQ=YEARLY')), 'Moon')?.kind).toBe('rules');
    expect(resolve(zone(...many(41, 'RRULE', () => 'FREQ=YEARLY')), 'Moon')).toBeNull();
    expect(resolve(zone(...many(1_001, 'RDATE', date)), 'Moon')).toBeNull();
    expect(
      resolve(zone(property('RDATE', Array.from({ length: 300_000 }, (_, n) => date(n)).join())), 'Moon'),
    ).toBeNull();
    expect(resolve(zone(property('RRULE', 'FREQ=DAILY')), 'Moon')).toBeNull();
  });

  test('without VTIMEZONE, or with an empty one, is unknown', () => {
    expect(resolve(component('VCALENDAR'), 'Nowhere')).toBeNull();
    expect(resolve(custom('Nowhere'), 'Nowhere')).toBeNull();
    expect(resolve(custom('Nowhere', observance('STANDARD', 'x', '+0100', '+0100')), 'Nowhere')).toBeNull();
  });
});

const ZONES = [
  'Europe/Berlin',
  'America/New_York',
  'Australia/Lord_Howe',
  'Africa/Cairo',
  'Antarctica/Troll',
  'Asia/Kolkata',
  'Pacific/Apia',
  'America/Santiago',
  'Africa/Casablanca',
];

describe('a written VTIMEZONE', () => {
  test('has the offsets of its zone in the years that it covers', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...ZONES),
        fc.integer({ min: 2008, max: 2024 }),
        fc.nat(5),
        (name, year, years) => {
          const written = vtimezoneOf(name, year, year + years);
          const [read] = parseCalendars(formatComponent(component('VCALENDAR', [], [written])));
          const rules = new ZoneRules(read!.components[0]!);
          const zone = Zone.of(name);
          const end = Date.UTC(year + years + 1, 0, 1) / 1000;
          for (let at = Date.UTC(year, 0, 1) / 1000; at < end; at += 5 * DAY + 3600)
            expect([at, rules.offsetAt(at)]).toEqual([at, zone.offsetAt(at)]);
        },
      ),
      { numRuns: runs(60) },
    );
  });

  test('of thousands of years is short and has the offsets until 2100', () => {
    fc.assert(
      fc.property(fc.constantFrom(...ZONES), fc.integer({ min: 1, max: 2100 }), (name, year) => {
        const text = formatComponent(vtimezoneOf(name, 1, 9998));
        expect(text.length).toBeLessThan(50_000);
        const rules = new ZoneRules(
          parseCalendars(`BEGIN:VCALENDAR\r\n${text}END:VCALENDAR\r\n`)[0]!.components[0]!,
        );
        for (let at = Date.UTC(year, 0, 1) / 1000, n = 0; n < 73; at += 5 * DAY, n += 1)
          expect([at, rules.offsetAt(at)]).toEqual([at, Zone.of(name).offsetAt(at)]);
      }),
      { numRuns: runs(30) },
    );
  });

  test('for a series without end has a rule where the changes repeat', () => {
    const text = formatComponent(vtimezoneOf('Europe/Berlin', 2026, null));
    expect(text).toContain('RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU');
    expect(text).toContain('RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU');
    expect(formatComponent(vtimezoneOf('America/New_York', 2026, null))).toContain('BYMONTH=3;BYDAY=2SU');
    expect(formatComponent(vtimezoneOf('Asia/Kolkata', 2026, null))).not.toContain('RRULE');
    // The change in Morocco follows the moon.
    expect(formatComponent(vtimezoneOf('Africa/Casablanca', 2026, null))).not.toContain('RRULE');
    // The rules of New York changed in 2007.
    for (const [name, year] of [
      ['Europe/Berlin', 2026],
      ['America/New_York', 2005],
    ] as const) {
      const rules = new ZoneRules(vtimezoneOf(name, year, null));
      for (let month = 0; month < 400; month += 1) {
        const at = Date.UTC(year, month, 20) / 1000;
        expect([name, at, rules.offsetAt(at)]).toEqual([name, at, Zone.of(name).offsetAt(at)]);
      }
    }
  });
});

describe('values', () => {
  test('times are dates, local or universal', () => {
    expect(parseTime('20260302')).toEqual({ kind: 'date', wall: parseWallTime('2026-03-02') });
    expect(parseTime('20260302T090000z').kind).toBe('utc');
    expect(formatTime(parseTime('2026-03-02T09:00'))).toBe('20260302T090000');
    expect(() => parseTime('20260230')).toThrow(expect.objectContaining({ code: 'invalid_value' }));
    const event = component('VEVENT', [
      property('EXDATE', '20260302T090000,20260303T090000', { TZID: 'Europe/Berlin' }),
      property('EXDATE', '20260304T090000Z', { VALUE: 'DATE' }),
      property('RDATE', '20260305T090000Z/PT1H', { VALUE: 'PERIOD' }),
    ]);
    expect(allTimesOf(event, 'EXDATE').map((time) => [formatTime(time), time.tzid])).toEqual([
      ['20260302T090000', 'Europe/Berlin'],
      ['20260303T090000', 'Europe/Berlin'],
      ['20260304', null],
    ]);
    expect(allTimesOf(event, 'RDATE').map(formatTime)).toEqual(['20260305T090000Z']);
  });

  test.each([
    ['PT1H30M', 0, 5400, 'PT1H30M'],
    ['P1DT2H', 1, 7200, 'P1DT2H'],
    ['-P2W', -14, 0, '-P14D'],
    ['+PT15S', 0, 15, 'PT15S'],
    ['PT0S', 0, 0, 'PT0S'],
    ['-PT15M', 0, -900, '-PT15M'],
  ])('duration %s', (text, days, seconds, written) => {
    expect(parseDuration(text)).toEqual({ days, seconds });
    expect(formatDuration({ days, seconds })).toBe(written);
  });

  test.each(['', 'P', 'PT', '1H', 'P1H', 'PT1H1H'])('%s is no duration', (text) => {
    expect(() => parseDuration(text)).toThrow(expect.objectContaining({ code: 'invalid_value' }));
  });
});
