import { jest } from '@jest/globals';
import { labelOf } from '../../../src/lib/text/index.js';
import fc from 'fast-check';
import { ContactsRepository } from '../../../src/modules/contacts/contacts.repository.js';
import { TestApp, type TestUser } from '../../support/app.ts';
import { runs } from '../../support/property-runs.ts';

const BOOKS = '/contact/addressbooks';

const MARIA = {
  external_id: 'maria/1 ü',
  kind: 'individual',
  name: { given: ' Maria ', family: 'Silva' },
  nicknames: ['Mia', 'Mia', ' '],
  organization: { name: 'Acme', units: ['Research'] },
  job_title: 'Head',
  emails: [
    'Maria@Example.com',
    { value: 'm@home.example', types: ['HOME', 'home'], primary: true, label: 'Private' },
  ],
  phones: [{ value: '601 123 456', types: ['cell'] }, { value: '+44 20 7946 0018 ext. 7' }, 'no number'],
  addresses: [{ street: 'Street 1', locality: 'Prague', country_code: 'cz' }, { label: 'empty' }],
  urls: ['https://example.com'],
  profiles: [{ service: 'Mastodon', user: '@maria' }],
  dates: [{ type: 'birthday', month: 4, day: 30 }],
  notes: 'Met\r\nin Prague ',
  categories: ['Customers'],
  related: [{ type: 'Manager', name: 'Ivo' }],
  time_zone: 'Europe/Prague',
  language: 'cs',
  custom: [{ name: 'x-phonetic-org', params: { type: ['a'] }, value: 'Ak-mi' }],
};

describe('contacts', () => {
  let app: TestApp;
  let alice: TestUser;
  let bob: TestUser;
  let path: string;
  let bookId: string;

  beforeAll(async () => {
    app = await TestApp.start();
    [alice, bob] = await app.tenant('acme', 'alice', 'bob');
  });
  afterAll(() => app?.stop());
  beforeEach(async () => {
    const { body } = await alice.api.post(BOOKS, { name: 'Customers', default_country: 'CZ' });
    bookId = body.addressbook.id;
    path = `${BOOKS}/${bookId}/contacts`;
  });

  const create = async (fields: object): Promise<any> => {
    const { status, body } = await alice.api.post(path, fields);
    expect([status, body.error]).toEqual([201, undefined]);
    return body.contact;
  };
  const at = ({ external_id }: { external_id: string }) => `${path}/${encodeURIComponent(external_id)}`;
  const outcome = ({ status, body }: { status: number; body: any }) => [status, body.error];
  const list = async (query = ''): Promise<any[]> => {
    const { status, body } = await alice.api.get(`${path}${query}`);
    expect([status, body.error]).toEqual([200, undefined]);
    return body.contacts;
  };
  const found = async (q: string) =>
    (await list(`?q=${encodeURIComponent(q)}`)).map(({ full_name }) => full_name);

  test('a contact is stored in its normal form and read as it was returned', async () => {
    const { status, headers, body } = await alice.api.post(path, MARIA);
    expect(status).toBe(201);
    expect(headers.get('location')).toBe(`/apis/v1${path}/maria%2F1%20%C3%BC`);
    expect(headers.get('etag')).toBe(`"contact:${body.contact.id}:r1"`);
    expect(body.possible_duplicates).toEqual([]);
    const entry = { label: null, types: [], primary: false };
    expect(body.contact).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      external_id: 'maria/1 ü',
      uid: body.contact.id,
      addressbook_id: bookId,
      kind: 'individual',
      full_name: 'Maria Silva',
      name: {
        prefix: null,
        given: 'Maria',
        middle: null,
        family: 'Silva',
        suffix: null,
        phonetic_given: null,
        phonetic_family: null,
      },
      nicknames: ['Mia'],
      organization: { name: 'Acme', units: ['Research'] },
      job_title: 'Head',
      emails: [
        { ...entry, value: 'Maria@Example.com' },
        { value: 'm@home.example', label: 'Private', types: ['home'], primary: true },
      ],
      phones: [
        { ...entry, value: '601 123 456', e164: '+420601123456', extension: null, types: ['cell'] },
        { ...entry, value: '+44 20 7946 0018 ext. 7', e164: '+442079460018', extension: '7' },
        { ...entry, value: 'no number', e164: null, extension: null },
      ],
      addresses: [
        {
          ...entry,
          street: 'Street 1',
          extended: null,
          po_box: null,
          locality: 'Prague',
          region: null,
          postal_code: null,
          country: null,
          country_code: 'CZ',
          formatted: null,
        },
      ],
      urls: [{ ...entry, value: 'https://example.com' }],
      profiles: [{ ...entry, service: 'Mastodon', user: '@maria', uri: null }],
      dates: [{ type: 'birthday', year: null, month: 4, day: 30, label: null }],
      notes: 'Met\nin Prague',
      categories: ['Customers'],
      related: [{ type: 'manager', name: 'Ivo', uri: null }],
      members: [],
      time_zone: 'Europe/Prague',
      language: 'cs',
      custom: [{ group: null, name: 'X-PHONETIC-ORG', params: { TYPE: ['a'] }, value: 'Ak-mi' }],
      photo: null,
      linked_user_id: null,
      source: 'user',
      revision: 1,
      created_at: expect.stringMatching(/Z$/),
      updated_at: expect.stringMatching(/Z$/),
      permissions: { edit: true, delete: true },
    });
    const read = await alice.api.get(at(body.contact));
    expect(read.body.contact).toEqual(body.contact);
    expect(read.headers.get('etag')).toBe(headers.get('etag'));
    // A card written back as it was read changes nothing.
    const again = await alice.api.put(at(body.contact), read.body.contact);
    expect([again.status, again.body.contact]).toEqual([200, body.contact]);
  });

  test('a long name in letters beyond the Basic Multilingual Plane is stored, and a date without parts is none', async () => {
    const full_name = `ab ${['𠀀', '𠀁', '𠀂'].map((letter) => letter.repeat(64)).join(' ')}`;
    const contact = await create({ full_name, dates: [{ type: 'birthday' }, { type: 'birthday', day: 3 }] });
    expect(contact.full_name).toBe(full_name);
    expect(contact.dates).toEqual([{ type: 'birthday', year: null, month: null, day: 3, label: null }]);
  });

  test('an update changes the given fields only', async () => {
    const made = await create(MARIA);
    const updated = await alice.api.put(
      at(made),
      { name: { given: 'Ana', family: 'Silva' }, notes: null, emails: [] },
      { headers: { 'if-match': `"contact:${made.id}:r1"` } },
    );
    expect(updated.status).toBe(200);
    expect(updated.headers.get('etag')).toBe(`"contact:${made.id}:r2"`);
    const { contact } = updated.body;
    expect(contact).toMatchObject({
      full_name: 'Ana Silva',
      notes: null,
      emails: [],
      phones: made.phones,
      revision: 2,
    });
    expect(contact.created_at).toBe(made.created_at);
    const stale = await alice.api.put(at(made), { job_title: 'x', base_revision: 1 });
    expect(outcome(stale)).toEqual([409, 'conflict']);
    expect(stale.body).toMatchObject({ revision: 2, contact });
    const other = await alice.api.put(
      at(made),
      { job_title: 'x' },
      { headers: { 'if-match': `"contact:${bookId}:r2"` } },
    );
    expect(outcome(other)).toEqual([409, 'conflict']);
    const named = (await alice.api.put(at(made), { full_name: 'Doctor Silva' })).body.contact;
    expect((await alice.api.put(at(made), { name: { given: 'Eva' } })).body.contact.full_name).toBe(
      'Doctor Silva',
    );
    expect(named.revision).toBe(3);
    expect(outcome(await alice.api.put(at(made), { kind: 'robot', base_revision: 1 }))).toEqual([
      422,
      'validation_failed',
    ]);
  });

  test('a deleted contact is not found, and its external_id is free again', async () => {
    const made = await create({ full_name: 'Ann', external_id: 'ann' });
    expect(outcome(await alice.api.delete(at(made), { base_revision: 5 }))).toEqual([409, 'conflict']);
    const { body } = await alice.api.delete(at(made), { base_revision: 1 });
    expect(body).toEqual({ contact: made, deleted: true });
    expect(outcome(await alice.api.get(at(made)))).toEqual([404, 'not_found']);
    expect(outcome(await alice.api.delete(at(made)))).toEqual([404, 'not_found']);
    expect(await list()).toEqual([]);
    expect((await create({ full_name: 'Ann', external_id: 'ann' })).id).not.toBe(made.id);
    expect(await app.sql('SELECT FROM contact_words WHERE contact_id = $1', [made.id])).toEqual([]);
    const [removal] = await app.sql('SELECT card::text AS card, words FROM contacts WHERE id = $1', [
      made.id,
    ]);
    expect(removal).toEqual({ card: '{}', words: [] });
  });

  test('of two concurrent creations with one external_id, one succeeds', async () => {
    const results = await Promise.all(
      Array.from({ length: 6 }, (_, n) => alice.api.post(path, { full_name: `n${n}`, external_id: 'same' })),
    );
    expect(results.map(({ status }) => status).toSorted()).toEqual([201, 409, 409, 409, 409, 409]);
    const winner = results.find(({ status }) => status === 201)!.body.contact;
    for (const { body } of results.filter(({ status }) => status === 409)) {
      expect([body.error, body.contact]).toEqual(['duplicate_external_id', winner]);
    }
    const uid = await alice.api.post(path, { full_name: 'x', uid: winner.uid });
    expect(outcome(uid)).toEqual([409, 'duplicate_uid']);
    expect((await alice.api.get(`${BOOKS}/${bookId}`)).body.addressbook.contacts_count).toBe(1);
  });

  test('of many updates of one revision, one succeeds; updates without a revision all succeed', async () => {
    const made = await create({ full_name: 'Ann' });
    const raced = await Promise.all(
      Array.from({ length: 8 }, (_, n) => alice.api.put(at(made), { job_title: `t${n}`, base_revision: 1 })),
    );
    expect(raced.filter(({ status }) => status === 200)).toHaveLength(1);
    const fields = [{ notes: 'n' }, { language: 'de' }, { time_zone: 'UTC' }];
    const free = await Promise.all(fields.map((field) => alice.api.put(at(made), field)));
    expect(free.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect((await alice.api.get(at(made))).body.contact).toMatchObject({
      ...Object.assign({}, ...fields),
      revision: 5,
    });
  });

  test('possible duplicates are reported, merged or rejected', async () => {
    const first = await create({ full_name: 'Maria Silva', emails: ['maria@example.com'], notes: 'one' });
    const byName = (await alice.api.post(path, { full_name: 'Silva, Maria' })).body;
    expect(byName.possible_duplicates).toEqual([
      { id: first.id, external_id: first.external_id, full_name: 'Maria Silva' },
    ]);
    const second = {
      full_name: 'M. Silva',
      emails: ['MARIA@example.com', 'm@x.example'],
      phones: ['+420601123456'],
      notes: 'two',
    };
    const rejected = await alice.api.post(path, { ...second, on_duplicate: 'reject' });
    expect(outcome(rejected)).toEqual([409, 'duplicate_contact']);
    expect(rejected.body.contact.id).toBe(first.id);
    const merged = await alice.api.post(path, { ...second, on_duplicate: 'merge' });
    expect([merged.status, merged.headers.get('etag')]).toEqual([200, `"contact:${first.id}:r2"`]);
    expect(merged.body.contact).toMatchObject({
      id: first.id,
      full_name: 'Maria Silva',
      notes: 'one\n\ntwo',
    });
    expect(merged.body.contact.emails.map(({ value }: any) => value)).toEqual([
      'maria@example.com',
      'm@x.example',
    ]);
    expect(merged.body.contact.phones).toHaveLength(1);
    expect(await list()).toHaveLength(2);
  });

  test('a contact is created when the one with its external_id is deleted at the same time', async () => {
    const made = await create({ external_id: 'taken', full_name: 'First' });
    const repository = app.get(ContactsRepository);
    const insert = repository.insertWithin.bind(repository);
    jest.spyOn(repository, 'insertWithin').mockImplementationOnce(async (...args) => {
      const row = await insert(...args);
      await alice.api.delete(at(made));
      return row;
    });
    const again = await create({ external_id: 'taken', full_name: 'Second' });
    expect(await list()).toMatchObject([{ id: again.id, full_name: 'Second' }]);
  });

  test('among many contacts with one phone number, the best match comes first', async () => {
    const phones = ['+420601123456'];
    for (let n = 0; n < 25; n += 1) await create({ full_name: `Colleague ${n}`, phones });
    const best = await create({ full_name: 'Maria Silva', phones, emails: ['maria@example.com'] });
    const again = { full_name: 'Silva, Maria', phones, emails: ['maria@example.com'] };
    const { body } = await alice.api.post(path, again);
    expect(body.possible_duplicates).toHaveLength(20);
    expect(body.possible_duplicates[0].id).toBe(best.id);
    const rejected = await alice.api.post(path, { ...again, on_duplicate: 'reject' });
    expect([outcome(rejected), rejected.body.contact.id]).toEqual([[409, 'duplicate_contact'], best.id]);
  });

  test('search finds beginnings of words in any script, addresses and digits', async () => {
    const users = [
      { full_name: 'José Ångström', emails: ['jose.angstrom@firma.example'], phones: ['601 123 456'] },
      { full_name: '王小明', organization: { name: '北京大学' } },
      { full_name: 'Владимир Иванов' },
      { full_name: 'محمد أحمد' },
      { full_name: 'สมชาย ใจดี' },
      { full_name: 'O’Brien-Smith', nicknames: ['Obi'] },
      { full_name: '김민수', phones: ['+82 10-1234-5678'] },
    ];
    for (const user of users) await create(user);
    const expected: [string, string[]][] = [
      ['jos', ['José Ångström']],
      ['angstrom jose', ['José Ångström']],
      ['ÅNG', ['José Ångström']],
      ['ose', []],
      ['jose.ang', ['José Ångström']],
      ['jose.angstrom@fir', ['José Ångström']],
      ['firma', ['José Ångström']],
      ['601123', ['José Ångström']],
      ['+420 601', ['José Ångström']],
      ['00420601', ['José Ångström']],
      ['3456', ['José Ångström']],
      ['小明', ['王小明']],
      ['大学', ['王小明']],
      ['王', ['王小明']],
      ['ива', ['Владимир Иванов']],
      ['احمد', ['محمد أحمد']],
      ['ใจ', ['สมชาย ใจดี']],
      ['smi', ['O’Brien-Smith']],
      ['obi', ['O’Brien-Smith']],
      ['민수', ['김민수']],
      ['5678', ['김민수']],
      ['jose smith', []],
      ['', users.map(({ full_name }) => full_name)],
      ['=', []],
      ['%', []],
      ['( )', []],
    ];
    for (const [q, names] of expected)
      expect([q, (await found(q)).toSorted()]).toEqual([q, names.toSorted()]);
  });

  test('filters, sorts, selects fields and pages', async () => {
    for (const [n, name] of ['Čeněk', 'cecil', 'Ada', 'Bára', 'Éva'].entries())
      await create({
        full_name: name,
        emails: [`p${n}@x.example`],
        phones: [`+42060112340${n}`],
        categories: n < 2 ? ['Tým Ž'] : [],
        kind: n === 4 ? 'org' : 'individual',
      });
    const names = async (query: string) => (await list(query)).map(({ full_name }) => full_name);
    expect(await names('')).toEqual(['Ada', 'Bára', 'cecil', 'Čeněk', 'Éva']);
    expect(await names('?email=P1@X.example')).toEqual(['cecil']);
    expect(await names('?email=none')).toEqual([]);
    expect(await names(`?phone=${encodeURIComponent('+420 601 123 402')}`)).toEqual(['Ada']);
    expect(await names('?phone=601123402')).toEqual(['Ada']);
    expect(await names('?phone=x')).toEqual([]);
    expect(await names(`?category=${encodeURIComponent('tym z')}`)).toEqual(['cecil', 'Čeněk']);
    expect(await names('?kind=org')).toEqual(['Éva']);
    expect(await names('?kind=org&q=ada')).toEqual([]);
    const ada = (await list('?q=ada'))[0];
    await alice.api.put(at(ada), { notes: 'x' });
    expect((await names('?sort=updated'))[0]).toBe('Ada');
    const [picked] = await list('?fields=full_name,emails&limit=1');
    expect(Object.keys(picked).toSorted()).toEqual(
      [
        'id',
        'external_id',
        'uid',
        'addressbook_id',
        'full_name',
        'emails',
        'linked_user_id',
        'source',
        'revision',
        'created_at',
        'updated_at',
        'permissions',
      ].toSorted(),
    );
    for (const query of ['?sort=name', '?sort=updated', '?q=x&sort=name', '?q=x&sort=updated']) {
      const seen: string[] = [];
      for (let cursor: string | null = ''; cursor !== null;) {
        const { body }: any = await alice.api.get(`${path}${query}&limit=2${cursor && `&cursor=${cursor}`}`);
        seen.push(...body.contacts.map(({ full_name }: any) => full_name));
        cursor = body.next;
      }
      expect([query, seen]).toEqual([query, await names(query)]);
      expect(seen).toHaveLength(5);
    }
    expect(outcome(await alice.api.get(`${path}?fields=secret`))).toEqual([422, 'validation_failed']);
  });

  test.each([
    [{}, ''],
    [{ full_name: ' ' }, ''],
    [{ full_name: 5 }, 'full_name'],
    [{ full_name: 'x'.repeat(1001) }, 'full_name'],
    [{ full_name: 'x', name: 'y' }, 'name'],
    [{ full_name: 'x', emails: {} }, 'emails'],
    [{ full_name: 'x', emails: [5] }, 'emails.0'],
    [{ full_name: 'x', emails: [{ value: 'a@b.c', types: 'home' }] }, 'emails.0.types'],
    [{ full_name: 'x', phones: Array.from({ length: 101 }, () => '1') }, 'phones'],
    [{ full_name: 'x', dates: [{ type: 'birthday', month: 13 }] }, 'dates.0.month'],
    [{ full_name: 'x', dates: [{ type: 'birthday', year: 2001, month: 2, day: 30 }] }, 'dates.0.day'],
    [{ full_name: 'x', dates: [{ type: 'other', year: 2023, month: 2, day: 29 }] }, 'dates.0.day'],
    [{ full_name: 'x', dates: [{ type: 'birthday', month: 4, day: 31 }] }, 'dates.0.day'],
    [{ full_name: 'x', dates: [{ type: 'birthday', year: 2001, day: 4 }] }, 'dates.0.day'],
    [{ full_name: 'x', addresses: [{ country_code: 'Czechia' }] }, 'addresses.0.country_code'],
    [{ full_name: 'x', custom: [{ name: 'A B', value: '' }] }, 'custom.0.name'],
    [{ full_name: 'x', custom: [{ name: 'A', value: '', params: { A: 'b' } }] }, 'custom.0.params'],
    [{ full_name: 'x', notes: 'x'.repeat(65_537) }, 'notes'],
    [{ full_name: 'x', external_id: 'sync' }, 'external_id'],
    [{ full_name: 'x', external_id: '..' }, 'external_id'],
    [{ full_name: 'x', external_id: '' }, 'external_id'],
    [{ full_name: 'x', external_id: 'a\nb' }, 'external_id'],
    [{ full_name: 'x', default_country: 'XYZ' }, 'default_country'],
    [{ full_name: 'x', default_country: 'UK' }, 'default_country'],
    [{ full_name: 'x', custom: [{ name: 'A.B', value: '' }] }, 'custom.0.name'],
    [{ full_name: 'x\u0000' }, 'full_name'],
  ])('rejects %j', async (fields, field) => {
    const { status, body } = await alice.api.post(path, fields);
    expect([status, body.error, body.details?.[0].field]).toEqual([422, 'validation_failed', field]);
  });

  test('dates that exist, and names of properties that programs use, are accepted', async () => {
    const dates = [
      { type: 'birthday', month: 2, day: 29 },
      { type: 'anniversary', year: 2024, month: 2, day: 29 },
      { type: 'other', day: 31 },
      { type: 'other', year: 2024, month: 6 },
    ];
    const custom = [{ name: 'X-MESSAGING/XMPP-ALL', params: { 'X-P_Q': ['1'] }, value: 'ina@chat.example' }];
    const { status, body } = await alice.api.post(path, { full_name: 'x', dates, custom });
    expect([status, body.contact?.dates.length]).toEqual([201, 4]);
    expect(body.contact.custom).toMatchObject(custom);
  });

  test('a date that does not exist is rejected by synchronisation, too; an import leaves it out', async () => {
    const contact = { full_name: 'x', dates: [{ type: 'birthday', year: 2001, month: 2, day: 30 }] };
    const changes = [{ op: 'upsert', external_id: 'feb-30', contact }];
    expect((await alice.api.post(`${path}/sync`, { changes })).body.results).toMatchObject([{ status: 422 }]);
    const { body } = await alice.api.post('/contact/phone-sync/import', { contacts: [contact] });
    expect(body.import).toMatchObject({ created: 1, failed: 0, errors: [{ error: 'value_too_large' }] });
  });

  test('texts are returned as they were sent, apart from white space at their ends', async () => {
    const text = fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 40 })
      .filter((value) => value.trim() !== '' && !/\r/.test(value));
    const card = fc.record({
      full_name: text,
      notes: text,
      nicknames: fc.uniqueArray(
        text.map((value) => value.trim()),
        { maxLength: 4 },
      ),
      categories: fc.uniqueArray(text.map(labelOf), { maxLength: 3 }),
      emails: fc.array(text, { maxLength: 3 }),
      phones: fc.array(text, { maxLength: 3 }),
    });
    await fc.assert(
      fc.asyncProperty(card, async (fields) => {
        const made = await create(fields);
        const values = (list: any[]) => list.map(({ value }) => value);
        expect({ ...made, emails: values(made.emails), phones: values(made.phones) }).toMatchObject({
          full_name: fields.full_name.trim(),
          notes: fields.notes.trim(),
          nicknames: fields.nicknames,
          categories: fields.categories,
          emails: fields.emails.map((value) => value.trim()),
          phones: fields.phones.map((value) => value.trim()),
        });
        const same = await alice.api.put(at(made), made);
        expect([same.status, same.body.contact]).toEqual([200, made]);
        expect(
          (await list(`?email=${encodeURIComponent(fields.emails[0] ?? '')}`)).length,
        ).toBeGreaterThanOrEqual(0);
      }),
      { numRuns: runs(40) },
    );
  });

  test('another user cannot read them', async () => {
    const made = await create({ full_name: 'Secret' });
    for (const request of [
      bob.api.get(path),
      bob.api.get(at(made)),
      bob.api.put(at(made), { full_name: 'x' }),
      bob.api.delete(at(made)),
      bob.api.post(path, { full_name: 'x' }),
      bob.api.get(`${BOOKS}/${bookId}/global`),
    ])
      expect(outcome(await request)).toEqual([404, 'not_found']);
  });
});
