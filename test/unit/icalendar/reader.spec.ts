import { Readable } from 'node:stream';
import fc from 'fast-check';
import {
  component,
  type Component,
  escapeText,
  formatComponent,
  ICalendarError,
  parameterOf,
  parseCalendars,
  property,
  propertiesOf,
  propertyOf,
  READ_LIMITS,
  readCalendar,
  textList,
  textOf,
  unescapeText,
} from '../../../src/lib/icalendar/index.js';
import { runs } from '../../support/property-runs.ts';

const lines = (...all: string[]): string => all.join('\r\n');
const event = (...all: string[]): string =>
  lines('BEGIN:VCALENDAR', 'BEGIN:VEVENT', ...all, 'END:VEVENT', 'END:VCALENDAR', '');
const readEvent = (text: string | Uint8Array): Component => parseCalendars(text)[0]!.components[0]!;

describe('a text', () => {
  test.each([
    ['CRLF', '\r\n'],
    ['LF', '\n'],
    ['CR', '\r'],
    ['CR CR LF', '\r\r\n'],
  ])('has lines that end with %s', (_name, end) => {
    const text = event('SUMMARY:Stand-up', 'DESCRIPTION:a long', '  line').replaceAll('\r\n', end);
    expect(textOf(readEvent(text), 'SUMMARY')).toBe('Stand-up');
    expect(textOf(readEvent(text), 'DESCRIPTION')).toBe('a long line');
  });

  test.each(['utf16le', 'utf-16be'])(
    'may be in %s, with a byte order mark, in chunks of any length',
    async (charset) => {
      const bytes = Buffer.from(`\uFEFF${event('SUMMARY:Bücher – 日本 🎉')}`, 'utf16le');
      if (charset === 'utf-16be') bytes.swap16();
      expect(textOf(readEvent(bytes), 'SUMMARY')).toBe('Bücher – 日本 🎉');
      for (const size of [1, 2, 3, 7]) {
        const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, n) =>
          bytes.subarray(n * size, (n + 1) * size),
        );
        const { value } = await readCalendar(Readable.from(chunks)).next();
        expect(textOf(value!.item, 'SUMMARY')).toBe('Bücher – 日本 🎉');
      }
    },
  );

  test('may have names of any length whose quotes are not closed', () => {
    const attendee = (parameters: string) =>
      propertyOf(readEvent(event(`ATTENDEE${parameters}:a`)), 'ATTENDEE');
    const count = 200_000;
    expect(attendee(`;CN=${'"a,'.repeat(count)}`)?.parameters).toHaveLength(1);
    expect(attendee(';CN="a'.repeat(count))?.parameters).toHaveLength(count);
    expect(attendee('; CN="a'.repeat(count))?.parameters).toHaveLength(count);
    expect(attendee(`;CN=${'"a",'.repeat(count)}`)?.parameters[0]?.values).toHaveLength(count + 1);
    expect(attendee(`${';CN=a:b'.repeat(count)}:x`)?.parameters[0]?.values).toEqual(['a']);
    const { parameters } = attendee(`${';CN=a:b'.repeat(count)}:mailto`) ?? { parameters: [] };
    expect([parameters.length, parameters.at(-1)?.values]).toEqual([count, ['a:b']]);
  });

  test.each([
    ['DTSTART;TZID="Europe/Berlin"x:20260302T090000', { TZID: 'Europe/Berlin' }, '20260302T090000'],
    [
      'ATTENDEE;CN="Pat" Doe;PARTSTAT=ACCEPTED;SENT-BY="mailto:b@x":mailto:a@x',
      { CN: 'Pat', PARTSTAT: 'ACCEPTED', 'SENT-BY': 'mailto:b@x' },
      'mailto:a@x',
    ],
    [
      'ATTENDEE;CN="Pat;PARTSTAT=ACCEPTED;SENT-BY="mailto:b@x":mailto:a@x',
      { CN: 'Pat', PARTSTAT: 'ACCEPTED', 'SENT-BY': 'mailto:b@x' },
      'mailto:a@x',
    ],
    ['ATTENDEE;CN=Team: North;ROLE=CHAIR:mailto:a@x', { CN: 'Team: North', ROLE: 'CHAIR' }, 'mailto:a@x'],
  ])('has the quotes of each parameter only: %s', (line, stated, value) => {
    const [read] = readEvent(event(line)).properties;
    expect(Object.fromEntries(read!.parameters.map(({ name, values }) => [name, values[0]]))).toEqual(stated);
    expect(read!.value).toBe(value);
  });

  test('may be folded inside a UTF-8 sequence, and begin with a byte order mark', () => {
    const bytes = Buffer.from(event('SUMMARY:Bücher – 日本 🎉'));
    const folded = [...bytes].flatMap((byte) => (byte >= 0x80 ? [13, 10, 32, byte] : [byte]));
    const text = Buffer.concat([Buffer.from('\uFEFF'), Buffer.from(folded)]);
    expect(textOf(readEvent(text), 'SUMMARY')).toBe('Bücher – 日本 🎉');
  });

  test('may be in Latin-1', () => {
    expect(textOf(readEvent(Buffer.from(event('SUMMARY:Bücher'), 'latin1')), 'SUMMARY')).toBe('Bücher');
    const quoted = Buffer.from(event('SUMMARY:"Bücher"'), 'latin1').map((byte) =>
      byte === 0x22 ? 0x93 : byte,
    );
    expect(textOf(readEvent(quoted), 'SUMMARY')).toBe('“Bücher“');
  });

  test('may have a damaged character among others of UTF-8', () => {
    const whole = Buffer.from(event('SUMMARY:日本国際博覧会'));
    const cut = whole.indexOf(Buffer.from('博')) + 1;
    const damaged = Buffer.concat([whole.subarray(0, cut), whole.subarray(cut + 1)]);
    expect(textOf(readEvent(damaged), 'SUMMARY')).toBe('日本国際\uFFFD覧会');
  });

  // vCalendar 1.0.
  test.each([
    ['SUMMARY;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:Fr=C3=BChst=C3=BCck', 'Frühstück'],
    ['SUMMARY;ENCODING=QUOTED-PRINTABLE;CHARSET=ISO-8859-1:Fr=FChst=FCck', 'Frühstück'],
    ['SUMMARY;ENCODING=quoted-printable:two=0D=0Alines', 'two\nlines'],
    ['SUMMARY;ENCODING=QUOTED-PRINTABLE:with=\r\nBEGIN:x=\r\n; y', 'withBEGIN:x; y'],
    ['SUMMARY;ENCODING=QUOTED-PRINTABLE:1 =3D 1 =2C =ZZ', '1 = 1 , =ZZ'],
  ])('may be in quoted-printable: %j', (line, expected) => {
    const found = readEvent(event(line, 'LOCATION:Office'));
    expect([textOf(found, 'SUMMARY'), textOf(found, 'LOCATION')]).toEqual([expected, 'Office']);
    expect(propertyOf(found, 'SUMMARY')!.parameters).toEqual([]);
  });

  test('in quoted-printable that ends within a value is complete', () => {
    const text = lines('BEGIN:VCALENDAR', 'X-A;ENCODING=QUOTED-PRINTABLE:=C3=BC=');
    expect(propertyOf(parseCalendars(text)[0]!, 'X-A')!.value).toBe('ü=');
  });

  test('may have X- parameters, quoted values, carets, groups of values and names in lower case', () => {
    const found = readEvent(
      event(
        'attendee;cn="Doe, J: ^\'Jo^\'";X-NUM=2;MEMBER="mailto:a@x","mailto:b@x":mailto:c@x',
        'DTSTART;TZID=(UTC+01:00) Amsterdam, Berlin:20260302T090000',
        'X-UNKNOWN;FOO=bar:raw\\,value;stays',
      ),
    );
    expect(propertyOf(found, 'ATTENDEE')).toEqual({
      name: 'ATTENDEE',
      parameters: [
        { name: 'CN', values: ['Doe, J: "Jo"'] },
        { name: 'X-NUM', values: ['2'] },
        { name: 'MEMBER', values: ['mailto:a@x', 'mailto:b@x'] },
      ],
      value: 'mailto:c@x',
    });
    expect(parameterOf(propertyOf(found, 'DTSTART')!, 'TZID')).toBe('(UTC+01:00) Amsterdam, Berlin');
    expect(propertyOf(found, 'X-UNKNOWN')?.value).toBe('raw\\,value;stays');
  });

  test('with unescaped line breaks continues the previous value', () => {
    expect(textOf(readEvent(event('DESCRIPTION:one', 'two', 'SUMMARY:x')), 'DESCRIPTION')).toBe('one\ntwo');
  });

  test('with an invalid line after a value that is not text keeps the value', () => {
    const found = readEvent(
      event(
        'DTSTART:20260302T090000Z',
        'X-PLACE;X-ADDRESS="Street 1:geo:1,2',
        'X.Y:1',
        'UID:1',
        'plain',
        'SEQUENCE:2',
      ),
    );
    expect(found.properties.map(({ name, value }) => [name, value])).toEqual([
      ['DTSTART', '20260302T090000Z'],
      ['UID', '1'],
      ['SEQUENCE', '2'],
    ]);
  });

  test('may be folded after each byte', () => {
    const long = 'Tea 🍵 '.repeat(20_000);
    const folded = [...Buffer.from(`SUMMARY:${long}x`)].flatMap((byte) => [byte, 10, 32]);
    const text = Buffer.concat([
      Buffer.from('BEGIN:VCALENDAR\nBEGIN:VEVENT\n'),
      Buffer.from(folded),
      Buffer.from('\nEND:VEVENT\nEND:VCALENDAR'),
    ]);
    expect(textOf(readEvent(text), 'SUMMARY')).toBe(`${long}x`);
  });

  test('keeps nested components and the order of properties', () => {
    const found = readEvent(
      event('UID:1', 'BEGIN:VALARM', 'TRIGGER:-PT15M', 'END:VALARM', 'EXDATE:20260101', 'EXDATE:20260102'),
    );
    expect(found.components.map(({ name }) => name)).toEqual(['VALARM']);
    expect(propertiesOf(found, 'EXDATE').map(({ value }) => value)).toEqual(['20260101', '20260102']);
  });

  test.each([
    ['', 'no_calendar'],
    ['<html></html>', 'no_calendar'],
    ['BEGIN:VEVENT\nUID:1\nEND:VEVENT', 'no_calendar'],
    ['BEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:1', 'truncated'],
    ['BEGIN:VCALENDAR\n'.repeat(READ_LIMITS.depth + 1), 'too_large'],
    [`BEGIN:VCALENDAR\nX:${'x'.repeat(READ_LIMITS.lineBytes)}`, 'too_large'],
    [`BEGIN:VCALENDAR\nBEGIN:VEVENT\n${'X:1\n'.repeat(90_000)}`, 'too_large'],
    [`BEGIN:VCALENDAR\nBEGIN:VEVENT\n${'BEGIN:VALARM\nEND:VALARM\n'.repeat(90_000)}`, 'too_large'],
  ])('is rejected (%#)', (text, code) => {
    expect(() => parseCalendars(text)).toThrow(expect.objectContaining({ name: 'ICalendarError', code }));
  });

  test('may have a time zone after more components than it may have time zones', () => {
    const zones = (count: number): string =>
      'BEGIN:VTIMEZONE\nTZID:Europe/Berlin\nEND:VTIMEZONE\n'.repeat(count);
    const calendar = (content: string): string => `BEGIN:VCALENDAR\n${content}END:VCALENDAR\n`;
    const events = 'BEGIN:VEVENT\nEND:VEVENT\n'.repeat(READ_LIMITS.zones);
    const [first, second] = parseCalendars(
      calendar(events + zones(READ_LIMITS.zones)) + calendar(zones(READ_LIMITS.zones)),
    );
    expect([first!.components.length, second!.components.length]).toEqual([
      2 * READ_LIMITS.zones,
      READ_LIMITS.zones,
    ]);
    expect(() => parseCalendars(calendar(zones(READ_LIMITS.zones + 1)))).toThrow('at most 500 time zones');
  });

  test('of any bytes gives components or a typed error', () => {
    const tokens = fc.constantFrom(
      'BEGIN:',
      'END:',
      'VCALENDAR',
      'VEVENT',
      '\r\n',
      '\n',
      '\r',
      ' ',
      ':',
      ';',
      '=',
      '"',
      '^',
      ',',
      '\\',
      'TZID=(',
      'é',
      'X',
    );
    const noise = fc.array(tokens, { maxLength: 80 }).map((list) => Buffer.from(list.join('')));
    const inCalendar = noise.map((bytes) =>
      Buffer.concat([Buffer.from('BEGIN:VCALENDAR\nBEGIN:VEVENT\n'), bytes, Buffer.from('\nEND:VCALENDAR')]),
    );
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array({ maxLength: 200 }), noise, inCalendar), (bytes) => {
        try {
          const [calendar] = parseCalendars(bytes);
          expect(calendar?.name).toBe('VCALENDAR');
          // The components can be written, and are read back unchanged.
          expect(parseCalendars(formatComponent(calendar!))).toEqual([calendar]);
        } catch (error) {
          expect(error).toBeInstanceOf(ICalendarError);
        }
      }),
      { numRuns: runs(400) },
    );
  });
});

const name = fc.stringMatching(/^X-[A-Z]{1,8}$/);
const value = fc.string({ unit: 'grapheme', maxLength: 120 }).map(escapeText);
const properties = fc.array(
  fc.tuple(name, value, fc.dictionary(name, fc.string({ unit: 'grapheme', maxLength: 30 }), { maxKeys: 3 })),
  { maxLength: 6 },
);

test('written values are read back; lines have at most 75 octets', () => {
  fc.assert(
    fc.property(fc.array(properties, { minLength: 1, maxLength: 3 }), (all) => {
      const children = all.map((list) =>
        component(
          'VEVENT',
          list.map(([key, text, parameters]) => property(key, text, parameters)),
        ),
      );
      const calendar = component('VCALENDAR', [property('VERSION', '2.0')], children);
      const text = formatComponent(calendar);
      for (const line of text.split('\r\n')) expect(Buffer.byteLength(line)).toBeLessThanOrEqual(75);
      const [found] = parseCalendars(text);
      expect(formatComponent(found!)).toBe(text);
      const texts = (given: Component) =>
        given.components.map((each) => each.properties.map((one) => unescapeText(one.value)));
      expect(texts(found!)).toEqual(texts(calendar));
    }),
    { numRuns: runs(200) },
  );
});

test('text is escaped and lists are split at commas that are not escaped', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      expect(unescapeText(escapeText(text))).toBe(text.replaceAll(/\r\n?/g, '\n'));
    }),
  );
  expect(textList('one,two\\, three,, \\;four')).toEqual(['one', 'two, three', ';four']);
});

test.each([
  ['C:\\temp\\data', 'C:\\temp\\data'],
  ['\\\\server\\share', '\\server\\share'],
  ['a\\ b\\-c\\é', 'a\\ b\\-c\\é'],
  ['a\\:b \\"c\\" d\\\'', 'a:b "c" d\''],
  ['a\\nb\\Nc\\,d\\;e\\\\n', 'a\nb\nc,d;e\\n'],
  ['end\\', 'end\\'],
])('a backslash before a character that needs none stays: %s', (value, text) => {
  expect(unescapeText(value)).toBe(text);
  expect(unescapeText(escapeText(text))).toBe(text);
  expect(textList(value)).toEqual([text]);
});

describe('a stream', () => {
  async function* chunks(text: string, size: number): AsyncGenerator<Uint8Array> {
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  }

  test('of any chunk size gives the components of the whole text', async () => {
    const text = lines(
      'BEGIN:VCALENDAR',
      'PRODID:-//x',
      'BEGIN:VTIMEZONE',
      'TZID:Own',
      'END:VTIMEZONE',
      'BEGIN:VEVENT',
      'SUMMARY:Tea 🍵 and a l',
      ' ong title',
      'END:VEVENT',
      'BEGIN:VTODO',
      'UID:2',
      'END:VTODO',
      'END:VCALENDAR',
    );
    for (const size of [1, 2, 3, 7, 1_000]) {
      const found = [];
      for await (const { item, calendar } of readCalendar(chunks(text, size)))
        found.push([
          item.name,
          textOf(item, 'SUMMARY'),
          textOf(calendar, 'PRODID'),
          calendar.components.length,
        ]);
      expect(found).toEqual([
        ['VTIMEZONE', null, '-//x', 1],
        ['VEVENT', 'Tea 🍵 and a long title', '-//x', 1],
        ['VTODO', null, '-//x', 1],
      ]);
    }
  });

  test('of 10 MB keeps one component at a time', async () => {
    const body = event('UID:1', `DESCRIPTION:${'x'.repeat(900)}`).slice(
      'BEGIN:VCALENDAR\r\n'.length,
      -'END:VCALENDAR\r\n'.length,
    );
    async function* feed(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('BEGIN:VCALENDAR\r\n');
      const chunk = Buffer.from(body.repeat(64));
      for (let n = 0; n < 170; n += 1) yield chunk;
      yield Buffer.from('END:VCALENDAR\r\n');
    }
    let count = 0;
    let kept = 0;
    for await (const { calendar } of readCalendar(feed())) {
      count += 1;
      kept = Math.max(kept, calendar.components.length);
    }
    expect([count, kept]).toEqual([64 * 170, 0]);
  });

  test('that ends early is rejected', async () => {
    const read = async (): Promise<void> => {
      for await (const each of readCalendar(chunks('BEGIN:VCALENDAR\nBEGIN:VEVENT\n', 5)))
        expect(each).toBeNull();
    };
    await expect(read()).rejects.toMatchObject({ code: 'truncated' });
  });
});

test.each(['UTC+5:30', 'GMT+05:30', 'UTC-08:00', '+02:00', 'UTC+3'])(
  'the zone %s needs no quotes',
  (name) => {
    const found = readEvent(
      event(`DTSTART;TZID=${name}:20260302T090000`, `DTEND;TZID=${name};VALUE=DATE-TIME:20260302T100000`),
    );
    for (const [each, value] of [
      ['DTSTART', '20260302T090000'],
      ['DTEND', '20260302T100000'],
    ] as const) {
      expect(propertyOf(found, each)?.value).toBe(value);
      expect(parameterOf(propertyOf(found, each)!, 'TZID')).toBe(name);
    }
  },
);
