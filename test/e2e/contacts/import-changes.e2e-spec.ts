import sharp from 'sharp';
import { TestApp, type TestUser } from '../../support/app.ts';
import { importCards } from '../../support/domains/contacts.ts';

const card = (...lines: string[]): string =>
  `BEGIN:VCARD\nVERSION:3.0\nUID:ina\n${lines.join('\n')}\nEND:VCARD\n`;
const INA = ['FN:Ina', 'EMAIL:ina@x.example'];
/** Properties with what the fields of their values cannot hold. */
const OF_VALUES = [
  { group: 'item1', name: 'EMAIL', params: {}, value: 'ina@x.example' },
  { group: 'item1', name: 'X-OWN', params: {}, value: '1' },
  { group: null, name: 'TEL', params: { PID: ['1.1'] }, value: '0301111111' },
  { group: null, name: 'NICKNAME', params: { LANGUAGE: ['de'] }, value: 'Ini' },
  { group: null, name: 'CATEGORIES', params: { 'X-OWN': ['1'] }, value: 'a' },
];
const photo = async (red: number): Promise<string> => {
  const create = { width: 20, height: 20, channels: 3, background: { r: red, g: 0, b: 0 } } as const;
  const image = await sharp({ create }).png().toBuffer();
  return `PHOTO;ENCODING=b;TYPE=PNG:${image.toString('base64')}`;
};

describe('changes of a device and of the server', () => {
  let app: TestApp;
  let alice: TestUser;
  let bookId: string;

  beforeAll(async () => {
    app = await TestApp.start();
    [alice] = await app.tenant('acme', 'alice');
  });
  afterAll(() => app?.stop());
  beforeEach(async () => {
    const { body } = await alice.api.post('/contact/addressbooks', { name: 'Phone', default_country: 'DE' });
    bookId = body.addressbook.id;
  });

  /** @param device_id empty: unknown */
  const send = (raw: string, device_id = 'pixel'): Promise<any> =>
    importCards(alice, raw, { addressbook_id: bookId, ...(device_id && { device_id }) });
  const ina = async (): Promise<any> => {
    const { contacts } = (await alice.api.get(`/contact/addressbooks/${bookId}/contacts`)).body;
    expect(contacts).toHaveLength(1);
    return contacts[0];
  };
  const put = async (fields: object): Promise<void> => {
    const { external_id } = await ina();
    const path = `/contact/addressbooks/${bookId}/contacts/${external_id}`;
    expect((await alice.api.put(path, fields)).status).toBe(200);
  };
  const values = (list: any[]): string[] => list.map(({ value }) => value);

  test.each<[string, string[], object, string[], (contact: any) => unknown, unknown]>([
    [
      'a name, a title and an organization',
      ['TITLE:Old', 'ORG:Old GmbH'],
      { full_name: 'Ina New', job_title: 'New', organization: { name: 'New AG' } },
      ['TITLE:Old', 'ORG:Old GmbH', 'URL:https://x.example'],
      (c) => [c.full_name, c.job_title, c.organization.name, values(c.urls), c.custom],
      ['Ina New', 'New', 'New AG', ['https://x.example'], []],
    ],
    [
      'a removed number and note',
      ['TEL:0301111111', 'NOTE:n1'],
      { phones: [], notes: null },
      ['TEL:0301111111', 'NOTE:n1', 'TITLE:T'],
      (c) => [c.phones, c.notes, c.job_title],
      [[], null, 'T'],
    ],
    [
      'a replaced number',
      ['TEL:0301111111'],
      { phones: ['0309999999'] },
      ['TEL:0301111111', 'TEL:0302222222'],
      (c) => values(c.phones).toSorted(),
      ['0302222222', '0309999999'],
    ],
    [
      'the types of a number',
      ['TEL;TYPE=HOME:0301111111', 'TEL:0302222222'],
      { phones: [{ value: '0302222222' }, { value: '0301111111', types: ['work'], primary: true }] },
      ['TEL;TYPE=HOME:0301111111', 'TEL:0302222222', 'TITLE:T'],
      (c) => c.phones.map(({ value, types, primary }: any) => [value, types, primary]),
      [
        ['0302222222', [], false],
        ['0301111111', ['work'], true],
      ],
    ],
    [
      'properties and parameters',
      ['X-OWN:1', 'NICKNAME;LANGUAGE=de:Ini', 'CATEGORIES:a,b'],
      { custom: [], nicknames: ['Nia'], categories: ['b', 'c'] },
      ['X-OWN:1', 'NICKNAME;LANGUAGE=de:Ini', 'CATEGORIES:a,b', 'TITLE:T'],
      (c) => [c.custom, c.nicknames, c.categories],
      [[], ['Nia'], ['b', 'c']],
    ],
    [
      'a group and parameters of values that do not change',
      ['TEL:0301111111', 'NICKNAME:Ini', 'CATEGORIES:a'],
      { custom: OF_VALUES },
      ['TEL:0301111111', 'NICKNAME:Ini,Nia', 'CATEGORIES:a,b', 'TEL:0302222222', 'EMAIL:b@x.example'],
      (c) => [c.custom, values(c.emails), c.nicknames],
      [OF_VALUES, ['ina@x.example', 'b@x.example'], ['Ini', 'Nia']],
    ],
  ])(
    '%s of the server stay when the device changes something else',
    async (_, old, fields, now, read, expected) => {
      await send(card(...INA, ...old));
      await put(fields);
      expect(await send(card(...INA, ...now))).toMatchObject({ updated: 1, errors: [] });
      expect(read(await ina())).toEqual(expected);
      expect(await send(card(...INA, ...now))).toMatchObject({ unchanged: 1 });
      expect(read(await ina())).toEqual(expected);
    },
  );

  test.each<[string, string[], string[], (contact: any) => unknown, unknown]>([
    ['note', ['NOTE:n1'], ['NOTE:n2'], (c) => c.notes, 'n2'],
    ['number', ['TEL:0301111111'], ['TEL:0302222222'], (c) => values(c.phones), ['0302222222']],
    [
      'removed number',
      ['TEL:0301111111', 'TEL:0302222222'],
      ['TEL:0302222222'],
      (c) => values(c.phones),
      ['0302222222'],
    ],
    ['removed title', ['TITLE:T'], [], (c) => [c.job_title, c.custom], [null, []]],
    [
      'URL',
      ['URL:https://a.example'],
      ['URL:https://b.example'],
      (c) => values(c.urls),
      ['https://b.example'],
    ],
    [
      'address',
      ['ADR:;;S 1;L;;;'],
      ['ADR:;;S 2;L;;;'],
      (c) => c.addresses.map((a: any) => a.street),
      ['S 2'],
    ],
    ['birthday', ['BDAY:19800101'], ['BDAY:19810101'], (c) => c.dates.map((d: any) => d.year), [1981]],
    ['organization', ['ORG:A'], ['ORG:B'], (c) => [c.organization.name, c.custom], ['B', []]],
    ['nickname', ['NICKNAME:A'], ['NICKNAME:B'], (c) => c.nicknames, ['B']],
    ['category', ['CATEGORIES:a,b'], ['CATEGORIES:b,c'], (c) => c.categories, ['b', 'c']],
    ['property', ['X-OWN:1'], ['X-OWN:2'], (c) => values(c.custom), ['2']],
    [
      'type',
      ['TEL;TYPE=HOME:0301'],
      ['TEL;TYPE=WORK:0301'],
      (c) => c.phones.map((p: any) => p.types),
      [['work']],
    ],
    [
      'type of one of two equal numbers',
      ['TEL;TYPE=HOME:0301', 'TEL;TYPE=WORK:0301'],
      ['TEL;TYPE=HOME:0301', 'TEL;TYPE=CELL:0301'],
      (c) => c.phones.map(({ value, types }: any) => [value, types]),
      [
        ['0301', ['home']],
        ['0301', ['cell']],
      ],
    ],
    [
      'type of the first of two equal numbers',
      ['TEL;TYPE=HOME:0301', 'TEL;TYPE=WORK:0301'],
      ['TEL;TYPE=CELL:0301', 'TEL;TYPE=WORK:0301'],
      (c) => c.phones.map(({ types }: any) => types),
      [['cell'], ['work']],
    ],
    [
      'removed one of two equal numbers',
      ['TEL;TYPE=HOME:0301', 'TEL;TYPE=WORK:0301'],
      ['TEL;TYPE=HOME:0301'],
      (c) => c.phones.map(({ types }: any) => types),
      [['home']],
    ],
    [
      'type of the preferred one of two equal numbers',
      ['TEL;TYPE=WORK:0301', 'TEL;TYPE=HOME,PREF:0301'],
      ['TEL;TYPE=CELL,PREF:0301', 'TEL;TYPE=WORK:0301'],
      (c) => c.phones.map(({ types, primary }: any) => [types, primary]),
      [
        [['cell'], true],
        [['work'], false],
      ],
    ],
    [
      'preference',
      ['TEL;TYPE=PREF:1', 'TEL:2'],
      ['TEL:1', 'TEL;TYPE=PREF:2'],
      (c) => c.phones.map((p: any) => p.primary),
      [false, true],
    ],
  ])(
    'a changed %s of the device replaces the former one when the server changed something else',
    async (_, old, now, read, expected) => {
      await send(card(...INA, ...old));
      await put({ language: 'de' });
      expect(await send(card(...INA, ...now))).toMatchObject({ updated: 1, errors: [] });
      expect(read(await ina())).toEqual(expected);
      expect((await ina()).language).toBe('de');
    },
  );

  test('what both sides changed has the values of both; the device wins single ones', async () => {
    await send(card(...INA, 'TEL:0301111111', 'TITLE:Old', 'NOTE:n1'));
    await put({ phones: ['0302222222'], job_title: 'Server', notes: 'n2' });
    await send(card(...INA, 'TEL:0303333333', 'TITLE:Device', 'NOTE:n3'));
    const { phones, job_title, notes, custom } = await ina();
    expect([values(phones), job_title, notes]).toEqual([['0303333333', '0302222222'], 'Device', 'n3\n\nn2']);
    expect(custom).toMatchObject([{ name: 'TITLE', value: 'Server' }]);
  });

  test('each device changes what it has changed itself', async () => {
    const old = card(...INA, 'TITLE:Old', 'TEL:0301111111');
    for (const device of ['p1', 'p2']) await send(old, device);
    await send(card(...INA, 'TITLE:New', 'TEL:0302222222'), 'p1');
    await send(card(...INA, 'TITLE:Old', 'TEL:0301111111', 'NOTE:n'), 'p2');
    const { job_title, phones, notes, custom } = await ina();
    expect([job_title, values(phones), notes, custom]).toEqual(['New', ['0302222222'], 'n', []]);
  });

  test('files of unknown devices do not remove the values of each other', async () => {
    await send(card(...INA, 'TEL:0301111111', 'NOTE:n1'), '');
    await put({ language: 'de' });
    await send(card(...INA, 'TEL:0302222222'), '');
    const { phones, notes, language } = await ina();
    expect([values(phones), notes, language]).toEqual([['0302222222', '0301111111'], 'n1', 'de']);
  });

  test('a full name that was made of other values does not replace a name that the server got', async () => {
    await send(card('EMAIL:a@x.example'));
    await put({ full_name: 'Ina' });
    await send(card('EMAIL:b@x.example'));
    const { full_name, emails } = await ina();
    expect([full_name, values(emails)]).toEqual(['Ina', ['b@x.example']]);
  });

  test('a photo of the server stays until the device has another one', async () => {
    const [first, second] = [await photo(0), await photo(200)];
    await send(card(...INA, first));
    const { external_id } = await ina();
    const path = `/contact/addressbooks/${bookId}/contacts/${external_id}/photo`;
    expect((await alice.api.delete(path)).status).toBe(200);
    await send(card(...INA, first, 'TITLE:T'));
    expect(await ina()).toMatchObject({ job_title: 'T', photo: null });
    await send(card(...INA, second, 'TITLE:T'));
    expect(await ina()).toMatchObject({ photo: expect.anything() });
  });

  test('an item of an earlier version gets the values with the next import, and the contact stays in exports', async () => {
    const old = card(...INA, 'NOTE:n1');
    await send(old);
    await put({ job_title: 'Here' });
    await app.sql('UPDATE contact_import_items SET value_hashes = NULL', []);
    expect(await send(old)).toMatchObject({ unchanged: 1 });
    const exported = await alice.api.get(
      `/contact/phone-sync/export?addressbook_id=${bookId}&device_id=pixel`,
    );
    expect(exported.text).toContain('TITLE:Here');
    await send(card(...INA, 'NOTE:n2'));
    expect(await ina()).toMatchObject({ notes: 'n2', job_title: 'Here' });
  });

  test.each([true, false])(
    'a card that breaks off removes nothing (contact changed here: %s)',
    async (isChanged) => {
      const [whole, broken] = [
        card(...INA, 'TEL:0301', 'X-OWN:1', 'NOTE:n1'),
        'BEGIN:VCARD\nVERSION:3.0\nUID:ina\nFN:Ina B\nEMAIL:ina@x.example\n',
      ];
      await send(whole);
      if (isChanged) await put({ language: 'de' });
      expect(await send(broken)).toMatchObject({ updated: 1, errors: [{ error: 'unfinished_card' }] });
      const { full_name, phones, notes, language, custom } = await ina();
      expect([full_name, values(phones), notes, language]).toEqual([
        'Ina B',
        ['0301'],
        'n1',
        isChanged ? 'de' : null,
      ]);
      expect(custom).toContainEqual(expect.objectContaining({ name: 'X-OWN' }));
    },
  );

  test('a card that broke off is compared with the whole one before it when the next one comes', async () => {
    const broken = 'BEGIN:VCARD\nVERSION:3.0\nUID:ina\nFN:Ina B\nEMAIL:ina@x.example\n';
    await send(card(...INA, 'TEL:0301', 'TITLE:T', 'NOTE:n1'));
    await put({ job_title: null, language: 'de' });
    expect(await send(broken)).toMatchObject({ updated: 1 });
    expect(await send(broken)).toMatchObject({ unchanged: 1 });
    expect(await send(card(...INA, 'TEL:0302', 'TITLE:T', 'NOTE:n1'))).toMatchObject({
      updated: 1,
      errors: [],
    });
    const { full_name, phones, job_title, notes, language } = await ina();
    expect([full_name, values(phones), job_title, notes, language]).toEqual([
      'Ina',
      ['0302'],
      null,
      'n1',
      'de',
    ]);
  });

  test('notes that broke off are not joined with themselves again and again', async () => {
    const whole = card(...INA, 'NOTE:one two');
    await send(whole);
    await send('BEGIN:VCARD\nVERSION:3.0\nUID:ina\nFN:Ina\nNOTE:one t');
    await send(whole);
    expect(await ina()).toMatchObject({ notes: 'one t\n\none two' });
  });

  test('a card that breaks off removes nothing, also where cards replace their contacts', async () => {
    await send(card(...INA, 'TEL:0301', 'NOTE:n1'));
    const query = { addressbook_id: bookId, device_id: 'pixel', on_duplicate: 'replace' };
    await importCards(alice, 'BEGIN:VCARD\nVERSION:3.0\nUID:ina\nFN:Ina B\n', query);
    const { full_name, emails, phones, notes } = await ina();
    expect([full_name, values(emails), values(phones), notes]).toEqual([
      'Ina B',
      ['ina@x.example'],
      ['0301'],
      'n1',
    ]);
    await importCards(alice, card('FN:Ina C'), query);
    expect(await ina()).toMatchObject({ full_name: 'Ina C', emails: [], phones: [], notes: null });
  });

  test('without the values of the earlier card, and with too many, both cards are joined', async () => {
    const numbers = (from: number): string[] =>
      Array.from({ length: 95 }, (_, n) => `TEL:+4930100${from + n}\nURL:https://x.example/${from + n}`);
    const categories = (letter: string): string =>
      `CATEGORIES:${Array.from({ length: 200 }, (_, n) => `${letter}${n}`).join()}`;
    const nicknames = `NICKNAME:${Array.from({ length: 200 }, (_, n) => `n${n}`).join()}`;
    const emails = Array.from({ length: 95 }, (_, n) => `EMAIL:e${n}@x.example`);
    const addresses = Array.from({ length: 95 }, (_, n) => `ADR:;;S ${n};;;;`);
    const large = [...INA, ...numbers(100), categories('a'), nicknames, ...emails, ...addresses];
    await send(card(...large, 'NOTE:n1'));
    await put({ job_title: 'Here' });
    await send(card(...large, 'NOTE:n2'));
    expect(await ina()).toMatchObject({ notes: 'n2\n\nn1', job_title: 'Here' });
  });
});
