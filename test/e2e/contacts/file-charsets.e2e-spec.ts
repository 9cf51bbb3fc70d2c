import { TestApp, type TestUser } from '../../support/app.ts';
import { DavClient, valuesOf } from '../../support/dav/dav-client.ts';
import { newCalendar } from '../../support/domains/calendars.ts';

/** `При` in Windows-1251 and KOI8-R, `日本` in Shift_JIS and ISO-2022-JP, `Łódź` in Windows-1250. */
const CASES: [charset: string, bytes: number[], text: string][] = [
  ['windows-1251', [0xcf, 0xf0, 0xe8], 'При'],
  ['"Windows-1251"', [0xcf, 0xf0, 0xe8], 'При'],
  ['koi8-r', [0xf0, 0xd2, 0xc9], 'При'],
  ['Shift_JIS', [0x93, 0xfa, 0x96, 0x7b], '日本'],
  // The second byte of this character is that of a backslash.
  ['shift_jis', [0x95, 0x5c], '表'],
  ['iso-2022-jp', [0x1b, 0x24, 0x42, 0x46, 0x7c, 0x4b, 0x5c, 0x1b, 0x28, 0x42], '日本'],
  ['windows-1250', [0xa3, 0xf3, 0x64, 0x9f], 'Łódź'],
  ['iso-8859-1', [0xe9], 'é'],
  // A charset that programs state without looking, or that the runtime does not know, is detected.
  ['utf-8', [0xe9], 'é'],
  ['iso-8859-1', [0xc3, 0xa9], 'é'],
  ['iso-8859-15', [0xc3, 0xa9], 'é'],
  ['windows-1250', [0xc5, 0x81, 0xc3, 0xb3], 'Łó'],
  ['windows-1251', [0xd0, 0x9f, 0xd1, 0x80], 'Пр'],
  ['us-ascii', [0xc3, 0xa9], 'é'],
  ['x-no-such-charset', [0xc3, 0xa9], 'é'],
];

describe('the charset of a content type', () => {
  let app: TestApp;
  let ann: TestUser;
  let dav: DavClient;
  let calendar: string;

  beforeAll(async () => {
    app = await TestApp.start();
    [ann] = await app.tenant('acme', 'ann');
    dav = await DavClient.of(app, ann);
    calendar = await newCalendar(ann, 'Files');
  });
  afterAll(() => app?.stop());

  const fileOf = (before: string, bytes: readonly number[], after: string): Buffer =>
    Buffer.concat([Buffer.from(before), Buffer.from(bytes), Buffer.from(after)]);
  const eventFile = (uid: string, bytes: readonly number[]): Buffer =>
    fileOf(
      `BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Test//EN\r\nBEGIN:VEVENT\r\nUID:${uid}\r\nDTSTAMP:20270101T000000Z\r\nDTSTART:20270601T100000Z\r\nSUMMARY:`,
      bytes,
      '\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n',
    );
  const cardFile = (uid: string, bytes: readonly number[]): Buffer =>
    fileOf(`BEGIN:VCARD\r\nVERSION:3.0\r\nUID:${uid}\r\nFN:`, bytes, '\r\nTEL:1\r\nEND:VCARD\r\n');

  const titleOf = async (raw: Buffer, charset: string): Promise<string> => {
    const headers = { 'content-type': `text/calendar; charset=${charset}` };
    const { status, body } = await ann.api.post(`/calendar/${calendar}/events/batch`, undefined, {
      raw,
      headers,
    });
    expect([status, body.failed]).toEqual([200, 0]);
    return (await ann.api.get(`/calendar/${calendar}/events/${body.results[0].event_id}`)).body.event.title;
  };
  const nameOf = async (raw: Buffer, uid: string, charset: string): Promise<string> => {
    const headers = { 'content-type': `text/vcard; charset=${charset}` };
    const { status } = await ann.api.post('/contact/phone-sync/import', undefined, { raw, headers });
    expect(status).toBe(200);
    const [row] = await app.sql(`SELECT card->>'full_name' AS full_name FROM contacts WHERE uid = $1`, [uid]);
    return row.full_name;
  };

  test.each(CASES)('%s is that of calendar files and vCards', async (charset, bytes, text) => {
    const uid = `${charset}-${bytes.join('-')}`.replaceAll('"', 'q');
    expect(await titleOf(eventFile(uid, bytes), charset)).toBe(text);
    expect(await nameOf(cardFile(uid, bytes), uid, charset)).toBe(text);
  });

  test('a byte order mark, and a property with a charset of its own, win', async () => {
    const utf8 = [...Buffer.from('é')];
    const marked = (file: Buffer): Buffer => Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), file]);
    expect(await titleOf(marked(eventFile('bom', utf8)), 'windows-1251')).toBe('é');
    expect(await nameOf(marked(cardFile('bom', utf8)), 'bom', 'windows-1251')).toBe('é');
    const utf16 = (file: Buffer): Buffer =>
      Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(file.toString('utf8'), 'utf16le')]);
    expect(await titleOf(utf16(eventFile('bom16', utf8)), 'windows-1251')).toBe('é');
    expect(await nameOf(utf16(cardFile('bom16', utf8)), 'bom16', 'windows-1251')).toBe('é');
    const old = fileOf(
      'BEGIN:VCARD\r\nVERSION:2.1\r\nUID:own\r\nFN;CHARSET=UTF-8:',
      utf8,
      '\r\nTEL:1\r\nEND:VCARD\r\n',
    );
    expect(await nameOf(old, 'own', 'windows-1251')).toBe('é');
    const quoted = fileOf(
      'BEGIN:VCARD\r\nVERSION:2.1\r\nUID:qp\r\nFN;ENCODING=QUOTED-PRINTABLE:=CF=F0=E8',
      [],
      '\r\nTEL:1\r\nEND:VCARD\r\n',
    );
    expect(await nameOf(quoted, 'qp', 'windows-1251')).toBe('При');
  });

  const put = async (
    space: 'calendars' | 'addressbooks',
    file: Buffer,
    type: string,
    name = 'stored.x',
  ): Promise<string> => {
    const home = dav.home(space);
    const { text: found } = await dav.propfind(home, '<D:resourcetype/>', '1');
    const collection = valuesOf(found, 'D:href').find(
      (href) => href !== home && !/(?:inbox|outbox)\/$/.test(href),
    );
    const path = `${collection}${name}`;
    expect((await dav.send('PUT', path, file as never, { 'content-type': type })).status).toBe(201);
    return (await dav.send('GET', path)).text;
  };

  test.each([
    ['hz-gb-2312', 'a~{VPND~}b', 'a中文b'],
    ['hz-gb-2312', 'a~{0~VP~}b', 'a剥中b'],
    ['iso-2022-kr', '\x1b$)Ca\x0eGQ1[\x0fb', 'a한글b'],
    ['iso-2022-kr', '\x1b$)C\x0eGQ\x0e1[\x0f b', '한글 b'],
  ])('%s: lines may be folded at any byte: %j', async (charset, written, text) => {
    const bytes = [...Buffer.from(written)];
    const places = Array.from({ length: bytes.length - 1 }, (_, n) => n + 1);
    const folds = [...places.map((place) => [place]), places];
    for (const [n, fold] of folds.entries()) {
      const folded = bytes.flatMap((byte, at) => (fold.includes(at) ? [13, 10, 32, byte] : [byte]));
      const uid = `fold-${charset}-${bytes.join('')}-${n}`;
      expect([fold, await titleOf(eventFile(uid, folded), charset)]).toEqual([fold, text]);
      expect([fold, await nameOf(cardFile(uid, folded), uid, charset)]).toEqual([fold, text]);
      const stored = await put(
        'calendars',
        eventFile(`${uid}-s`, folded),
        `text/calendar; charset=${charset}`,
        uid,
      );
      expect([fold, stored]).toEqual([fold, expect.stringContaining(`SUMMARY:${text}\r\n`)]);
      const card = await put(
        'addressbooks',
        cardFile(`${uid}-s`, folded),
        `text/vcard; charset=${charset}`,
        uid,
      );
      expect([fold, card]).toEqual([fold, expect.stringContaining(`FN:${text}\r\n`)]);
    }
  });

  test('is that of events and contacts which programs store', async () => {
    const [, bytes, text] = CASES[0]!;
    expect(
      await put('calendars', eventFile('stored', bytes), 'text/calendar; charset=windows-1251'),
    ).toContain(`SUMMARY:${text}`);
    expect(
      await put('addressbooks', cardFile('stored', bytes), 'text/vcard; charset=windows-1251'),
    ).toContain(`FN:${text}`);
  });

  test('is applied once to a contact that a program stores, whatever its properties state', async () => {
    const home = dav.home('addressbooks');
    const { text: found } = await dav.propfind(home, '<D:resourcetype/>', '1');
    const book = valuesOf(found, 'D:href').find((href) => href !== home);
    const stored = async (name: string, type: string, ...lines: [before: string, bytes: number[]][]) => {
      const parts = lines.flatMap(([before, bytes]) => [
        Buffer.from(before),
        Buffer.from(bytes),
        Buffer.from('\r\n'),
      ]);
      const card = Buffer.concat([
        Buffer.from(`BEGIN:VCARD\r\nVERSION:2.1\r\nUID:${name}\r\n`),
        ...parts,
        Buffer.from('END:VCARD\r\n'),
      ]);
      const headers = { 'content-type': `text/vcard; charset=${type}` };
      const { status } = await dav.send('PUT', `${book}${name}.vcf`, card, headers);
      return status === 201 ? (await dav.send('GET', `${book}${name}.vcf`)).text : String(status);
    };
    const cyrillic = await stored(
      'own-1251',
      'windows-1251',
      ['FN;CHARSET=windows-1251:', [0xcf, 0xf0, 0xe8]],
      ['TITLE;CHARSET=KOI8-R;ENCODING=QUOTED-PRINTABLE:=F0=D2=C9', []],
    );
    expect(cyrillic).toContain('FN:При\r\n');
    expect(cyrillic).toContain('TITLE:При\r\n');
    expect(await stored('latin', 'iso-8859-1', ['FN:', [0x5a, 0xe9]])).toContain('FN:Zé\r\n');
    expect(await stored('latin-utf8', 'iso-8859-1', ['FN:', [0x5a, 0xc3, 0xa9]])).toContain('FN:Zé\r\n');
    const long = Array.from({ length: 300_000 }, () => 0x61);
    expect(await stored('long', 'hz', ['FN:', [0x61]], ['NOTE:', long])).toBe('413');
  });
});
