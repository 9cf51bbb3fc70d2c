import { TestApp, type TestUser } from '../../support/app.ts';
import { importCards } from '../../support/domains/contacts.ts';

const vcard = (version: string, ...rows: string[]): string =>
  ['BEGIN:VCARD', `VERSION:${version}`, 'UID:card-1', ...rows, 'END:VCARD', ''].join('\r\n');

describe('values of contacts on devices and here', () => {
  let app: TestApp;
  let alice: TestUser;
  let bookId: string;

  beforeAll(async () => {
    app = await TestApp.start();
    [alice] = await app.tenant('acme', 'alice');
  });
  afterAll(() => app?.stop());
  beforeEach(async () => {
    const { body } = await alice.api.post('/contact/addressbooks', { name: 'Values', default_country: 'CZ' });
    bookId = body.addressbook.id;
  });

  const send = (text: string): Promise<any> =>
    importCards(alice, text, { addressbook_id: bookId, device_id: 'pixel' });
  const list = async (query = ''): Promise<any[]> =>
    (await alice.api.get(`/contact/addressbooks/${bookId}/contacts?limit=100${query}`)).body.contacts;
  const put = async (contact: any, fields: object): Promise<any> =>
    (await alice.api.put(`/contact/addressbooks/${bookId}/contacts/${contact.external_id}`, fields)).body
      .contact;
  const rows = async (version: string): Promise<string[]> => {
    const path = `/contact/phone-sync/export?addressbook_id=${bookId}&version=${version}&device_id=b`;
    return (await alice.api.get(path)).text.replaceAll('\r\n ', '').split('\r\n');
  };
  const numbers = async (): Promise<string[]> => (await list())[0].phones.map(({ value }: any) => value);

  test.each([
    ['IN', '९८१०१२३४५६', '+919810123456', null],
    ['TH', '๐๘๑๒๓๔๕๖๗๘', '+66812345678', null],
    ['US', '\u202a+1 201 555 0123\u202c', '+12015550123', null],
    ['US', '\u2066(201)\u200e 555\u20110123\u2069', '+12015550123', null],
    ['US', '1-800-GO-FEDEX', '+18004633339', null],
    ['US', '1-800-FLOWERS x5', '+18003569377', '5'],
    ['US', '1-800-FLOWERS ext. 5', '+18003569377', '5'],
  ])('of country %s, %s is %s', async (country, value, e164, extension) => {
    const { body } = await alice.api.post('/contact/addressbooks', {
      name: 'Here',
      default_country: country,
    });
    const path = `/contact/addressbooks/${body.addressbook.id}/contacts`;
    const made = await alice.api.post(path, { full_name: 'Ina', phones: [value] });
    expect(made.body.contact.phones).toMatchObject([{ value, e164, extension }]);
  });

  test.each(['3.0', '4.0'])(
    'an extension that the number names is exported once in version %s',
    async (version) => {
      const forms = ['ext. 5', 'x9', ',,12#', 'int. 44', ';ext=6', '#7'].map(
        (text) => `+1 201 555 0123 ${text}`,
      );
      const phones = [...forms, { value: '+420 601 123 435', extension: '35' }];
      await alice.api.post(`/contact/addressbooks/${bookId}/contacts`, {
        full_name: 'Ina',
        uid: 'card-1',
        phones,
      });
      const [made] = await list();
      const exported = await rows(version);
      expect(exported.filter((row) => row.startsWith('TEL')).map((row) => row.split(':')[1])).toEqual([
        ...forms.map((text) => text.replaceAll(/[,;]/g, String.raw`\$&`)),
        '+420 601 123 435 ext. 35',
      ]);
      const { body } = await alice.api.post('/contact/addressbooks', { name: 'Copy' });
      bookId = body.addressbook.id;
      await send(exported.join('\r\n'));
      const numbersOf = (contact: any): unknown[] =>
        contact.phones.map(({ e164, extension }: any) => [e164, extension]);
      expect(numbersOf((await list())[0])).toEqual(numbersOf(made));
    },
  );

  test('an extension that an earlier version exported twice is read once', async () => {
    await send(vcard('3.0', 'FN:Ina', 'TEL:+1 201 555 0123 ext. 5 ext. 5'));
    expect((await list())[0].phones).toMatchObject([{ value: '+1 201 555 0123', extension: '5' }]);
  });

  test('links to media say in version 3.0 that they are links', async () => {
    await send(vcard('4.0', 'FN:Ina', 'LOGO:https://pictures.example/l.png'));
    expect(await rows('3.0')).toContain('LOGO;VALUE=uri:https://pictures.example/l.png');
  });

  test.each([
    ['3.0', 'GEO:60.39;5.32'],
    ['3.0', 'KEY;VALUE=uri:https://keys.example/ina.asc'],
    ['3.0', 'SOUND;VALUE=URI;X-OWN=1:https://sounds.example/ina.ogg'],
    ['4.0', 'GEO:geo:60.39,5.32;u=35'],
    ['4.0', 'KEY:https://keys.example/ina.asc'],
    ['4.0', 'LOGO;TYPE=work:https://pictures.example/l.png'],
  ])('an export of version %s with %s changes nothing when it is imported', async (version, line) => {
    await send(vcard(version, 'FN:Ina Holm', line, 'NOTE:x'));
    const before = await list();
    for (const other of ['3.0', '4.0', '3.0']) {
      expect(await send((await rows(other)).join('\r\n'))).toMatchObject({ unchanged: 1 });
      expect(await list()).toEqual(before);
    }
    const [{ custom }] = before;
    const changed = (await rows('3.0')).join('\r\n').replace('NOTE:x', 'TITLE:Joiner');
    expect(await send(changed)).toMatchObject({ updated: 1 });
    expect(await list()).toMatchObject([{ job_title: 'Joiner', custom }]);
    // What was removed here stays away, in each spelling.
    const [{ external_id }] = await list();
    await put({ external_id }, { custom: [] });
    expect(await send(changed)).toMatchObject({ unchanged: 1 });
    expect(await list()).toMatchObject([{ custom: [] }]);
  });

  test('a card that changed on the device replaces what it has said, also when the contact has changed here', async () => {
    const card = (number: string, ...more: string[]) =>
      vcard('3.0', 'FN:Ina Holm', `TEL;TYPE=CELL:${number}`, ...more);
    await send(card('+420601000001', 'TITLE:Joiner'));
    expect(await send(card('+420601000002'))).toMatchObject({ updated: 1 });
    expect(await list()).toMatchObject([
      { job_title: null, phones: [{ value: '+420601000002' }], custom: [] },
    ]);
    await send(card('+420601000003'));
    expect(await numbers()).toEqual(['+420601000003']);
    await put((await list())[0], { notes: 'here' });
    await send(card('+420601000004'));
    expect(await numbers()).toEqual(['+420601000004']);
    expect((await list())[0].notes).toBe('here');
  });

  test('cards of one file with one uid and nothing in common are those of several people', async () => {
    const person = (...lines: string[]): string => vcard('3.0', ...lines);
    const file = [
      person('FN:Ada One', 'TEL:601000001'),
      person('FN:Bob Two', 'TEL:601000002', 'EMAIL:bob@x.example'),
      // A newer card of the first one, by the name, and by the number.
      person('FN:Ada One', 'TEL:601000003'),
      person('FN:Ada Married', 'TEL:+420 601 000 001'),
    ].join('');
    const first = await send(file);
    expect(first).toMatchObject({
      total: 4,
      failed: 0,
      created: 2,
      errors: [{ index: 1, name: 'Bob Two', error: 'uid_not_unique' }],
    });
    const names = async (): Promise<string[]> => (await list()).map(({ full_name: name }) => name).toSorted();
    expect(await names()).toEqual(['Ada Married', 'Bob Two']);
    const uids = (await list()).map(({ uid }) => uid);
    expect(new Set(uids).size).toBe(2);
    // A repeated import finds both.
    expect(await send(file)).toMatchObject({ created: 0, failed: 0 });
    expect((await list()).map(({ uid }) => uid)).toEqual(uids);
  });

  test('people with one uid keep their contacts in a file of another order', async () => {
    const person = (name: string, ...lines: string[]): string => vcard('3.0', `FN:${name}`, ...lines);
    const ada = person('Ada One', 'TEL:601000001');
    const bob = person('Bob Two', 'TEL:601000002');
    await send(ada + bob);
    const before = (await list()).map(({ full_name, external_id }) => [full_name, external_id]).toSorted();
    expect(await send(bob + ada)).toMatchObject({ created: 0, unchanged: 2 });
    // A changed card, and a person whom no contact has, before the one who has the uid.
    expect(await send(person('Bob Two', 'TEL:601000009') + ada)).toMatchObject({ created: 0, updated: 1 });
    expect(await send(person('Cid Three', 'TEL:601000003') + ada + bob)).toMatchObject({ created: 1 });
    const after = (await list()).map(({ full_name, external_id }) => [full_name, external_id]).toSorted();
    expect(after).toEqual([...before, ['Cid Three', expect.any(String)]]);
  });

  test('a first card without a name and a number is that of any person with its uid', async () => {
    await send(vcard('3.0', 'NOTE:') + vcard('3.0', 'FN:Ada One', 'TEL:601000001'));
    expect((await list()).map(({ full_name: name }) => name)).toEqual(['Ada One']);
  });

  test('groups and parameters come back, and are removed with their value', async () => {
    await send(
      vcard(
        '4.0',
        'FN:Ina Holm',
        'N;SORT-AS="Holm,Ina":Holm;Ina;;;;Sund;',
        'ITEM1.EMAIL;PID=1.1:ina@home.example',
        'ITEM1.X-PM-SIGN:true',
        'TEL;TYPE=CELL;waid=420601000001:+420601000001',
        'PHOTO;TYPE=JPEG:https://pictures.example/p.jpg',
      ),
    );
    const sent = [
      'N;SORT-AS="Holm,Ina":Holm;Ina;;;;Sund;',
      'ITEM1.EMAIL;PID=1.1:ina@home.example',
      'ITEM1.X-PM-SIGN:true',
      'TEL;TYPE=cell;WAID=420601000001:+420601000001',
      'PHOTO;VALUE=uri;TYPE=JPEG:https://pictures.example/p.jpg',
    ];
    expect(await rows('4.0')).toEqual(expect.arrayContaining(sent));
    const [contact] = await list();
    const { custom } = await put(contact, {
      job_title: 'Joiner',
      phones: [{ value: '+420601000001', types: ['cell'] }],
    });
    expect(custom).toEqual(contact.custom);
    const changed = await put(contact, { emails: ['ina@work.example'], custom: contact.custom });
    expect(changed.custom.map(({ name }: any) => name)).toEqual(['X-PM-SIGN', 'N', 'TEL', 'PHOTO']);
    expect(JSON.stringify(await rows('4.0'))).not.toContain('ina@home.example');
  });

  test('an edit of a device removes the parameters of a value that it removes', async () => {
    await send(vcard('4.0', 'FN:Ina', 'EMAIL;PID=1.1:ina@home.example', 'EMAIL;PID=2.1:ina@work.example'));
    const [{ external_id, revision }] = await list();
    const contact = { emails: ['ina@work.example'] };
    const { body } = await alice.api.post(`/contact/addressbooks/${bookId}/contacts/sync`, {
      conflict: 'merge',
      changes: [{ op: 'upsert', external_id, base_revision: revision, contact }],
    });
    expect(body.results[0].contact.custom).toMatchObject([{ name: 'EMAIL', value: 'ina@work.example' }]);
  });

  test.each([
    ['members', Array.from({ length: 2_001 }, (_, n) => `MEMBER:urn:x:${n}`), 2_000],
    ['members', [`MEMBER:urn:x:${'1'.repeat(300)}`, 'MEMBER:urn:x:1'], 1],
    ['nicknames', [`NICKNAME:${Array.from({ length: 201 }, (_, n) => `n${n}`).join()}`], 200],
    ['custom', [`X-A:1`, `X-B;X-P=${'x'.repeat(1_001)}:1`], 1],
  ])('%s within the limits are imported, and the others are reported', async (field, values, count) => {
    const { created, errors } = await send(vcard('4.0', 'KIND:group', 'FN:Crew', ...values));
    expect([created, errors]).toEqual([1, [expect.objectContaining({ index: 0, error: 'value_too_large' })]]);
    expect((await list())[0][field]).toHaveLength(count);
  });

  test('a card with too many parameters is rejected alone', async () => {
    const hostile = `TEL${';TYPE=a'.repeat(30_000)}:1`;
    const file = vcard('3.0', 'FN:Hostile', hostile) + vcard('3.0', 'FN:Ina').replace('card-1', 'card-2');
    const { created, failed, errors } = await send(file);
    expect([created, failed, errors]).toEqual([
      1,
      1,
      [expect.objectContaining({ index: 0, error: 'card_too_large' })],
    ]);
  });

  test('?phone= with few digits is the whole number of a contact', async () => {
    const create = (full_name: string, ...phones: string[]) =>
      alice.api.post(`/contact/addressbooks/${bookId}/contacts`, { full_name, phones });
    await create('Long', '+420 601 777 001');
    await create('Room 7001');
    await create('Short', '7001', '+420 601 777 002');
    await create('Seven', '177-7001');
    await create('Arabic', '٧٠٠٢');
    const found = async (number: string): Promise<string[]> =>
      (await list(`&phone=${encodeURIComponent(number)}`)).map(({ full_name }) => full_name);
    expect(await found('7001')).toEqual(['Short']);
    expect(await found('1777001')).toEqual(['Seven']);
    expect(await found('7002')).toEqual(['Arabic']);
    expect(await found('۷۰۰۲')).toEqual(['Arabic']);
    expect(await found('601777001')).toEqual(['Long']);
    expect(await found('77001')).toEqual([]);
  });

  test('without a country, ?phone= is a number as it was written, or a national one', async () => {
    const book = (await alice.api.post('/contact/addressbooks', { name: 'None' })).body.addressbook.id;
    const path = `/contact/addressbooks/${book}/contacts`;
    await alice.api.post(path, { full_name: 'Local', phones: ['601 777 001'] });
    await alice.api.post(path, { full_name: 'World', phones: ['+420 601 777 002'] });
    const found = async (number: string): Promise<string[]> =>
      (await alice.api.get(`${path}?phone=${number}`)).body.contacts.map(({ full_name }: any) => full_name);
    expect(await found('601777001')).toEqual(['Local']);
    expect(await found('601777002')).toEqual(['World']);
    expect(await found('420601777002')).toEqual(['World']);
    expect(await found('1777002')).toEqual([]);
  });

  test('a merge keeps second names, organizations and titles as properties', async () => {
    const path = `/contact/addressbooks/${bookId}/contacts`;
    const emails = ['ina@home.example'];
    const first = {
      external_id: 'a',
      full_name: 'Ina',
      organization: { name: 'Boatyard' },
      job_title: 'Joiner',
      emails,
    };
    const second = {
      external_id: 'b',
      full_name: 'Ina Holm',
      name: { given: 'Ina', family: 'Holm' },
      organization: { name: 'Sailing club', units: ['Crew; A'] },
      job_title: 'Treasurer',
      time_zone: 'Europe/Oslo',
    };
    await alice.api.post(path, first);
    await alice.api.post(path, second);
    const merged = await alice.api.post('/contact/merges', {
      addressbook_id: bookId,
      external_ids: ['a', 'b'],
    });
    const { contact } = merged.body;
    expect(contact).toMatchObject({
      full_name: 'Ina',
      name: { family: 'Holm' },
      organization: { name: 'Boatyard' },
      job_title: 'Joiner',
      time_zone: 'Europe/Oslo',
    });
    expect(contact.custom.map(({ name, value }: any) => `${name}:${value}`)).toEqual([
      'FN:Ina Holm',
      'ORG:Sailing club;Crew\\; A',
      'TITLE:Treasurer',
    ]);
    expect(await rows('3.0')).not.toContain('FN:Ina Holm');
    expect(await rows('4.0')).toEqual(
      expect.arrayContaining(['FN:Ina', 'FN:Ina Holm', 'ORG:Sailing club;Crew\\; A']),
    );
  });

  test('a merge does not repeat an address in another spelling because of its parameters', async () => {
    await send(vcard('4.0', 'FN:Ina', 'EMAIL;PID=1.1:INA@home.example', 'TEL;PID=1.1:601 777 001'));
    await alice.api.post(`/contact/addressbooks/${bookId}/contacts`, {
      external_id: 'a',
      full_name: 'Ina',
      emails: ['ina@home.example'],
      phones: ['+420601777001'],
    });
    const other = (await list()).find(({ external_id }) => external_id !== 'a').external_id;
    await alice.api.post('/contact/merges', { addressbook_id: bookId, external_ids: ['a', other] });
    const written = (await rows('4.0')).filter((row) => /^(EMAIL|TEL)/.test(row));
    expect(written).toEqual(['EMAIL:ina@home.example', 'TEL:+420601777001']);
  });
});
