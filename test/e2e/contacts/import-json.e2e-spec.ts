import { TestApp, type TestUser } from '../../support/app.ts';

const IMPORT = '/contact/phone-sync/import';
const listOf = <T>(count: number, entry: (n: number) => T): T[] =>
  Array.from({ length: count }, (_, n) => entry(n));

describe('contacts of a JSON import', () => {
  let app: TestApp;
  let alice: TestUser;
  let bookId: string;

  beforeAll(async () => {
    app = await TestApp.start();
    [alice] = await app.tenant('acme', 'alice');
  });
  afterAll(() => app?.stop());
  beforeEach(async () => {
    bookId = (await alice.api.post('/contact/addressbooks', { name: 'Phone' })).body.addressbook.id;
  });

  const send = async (...contacts: unknown[]): Promise<any> => {
    const { status, body } = await alice.api.post(IMPORT, { addressbook_id: bookId, contacts });
    expect([status, body.error]).toEqual([200, undefined]);
    return body.import;
  };
  const contacts = async (): Promise<any[]> =>
    (await alice.api.get(`/contact/addressbooks/${bookId}/contacts`)).body.contacts;

  test.each<[string, object, (contact: any) => unknown, unknown]>([
    ['job_title', { job_title: 'x'.repeat(1_001) }, (c) => c.job_title.length, 1_000],
    ['phones', { phones: listOf(101, (n) => `+4930123${1_000 + n}`) }, (c) => c.phones.length, 100],
    ['phones', { phones: ['1'.repeat(201), '030 1'] }, (c) => c.phones.map((p: any) => p.value), ['030 1']],
    [
      'phones',
      { phones: [{ value: '1', label: 'x'.repeat(1_001) }] },
      (c) => c.phones[0].label.length,
      1_000,
    ],
    ['notes', { notes: 'x'.repeat(65_537) }, (c) => c.notes.length, 65_536],
    ['urls', { urls: [`https://e.example/${'x'.repeat(1_990)}`] }, (c) => c.urls, []],
    ['categories', { categories: listOf(201, (n) => `c${n}`) }, (c) => c.categories.length, 200],
    ['nicknames', { nicknames: ['x'.repeat(1_001)] }, (c) => c.nicknames[0].length, 1_000],
    ['name', { name: { given: 'x'.repeat(1_001) } }, (c) => c.name.given.length, 1_000],
    ['dates', { dates: [{ type: 'birthday', month: 2, day: 30 }] }, (c) => c.dates, []],
    ['X-OWN', { custom: [{ name: 'X-OWN', value: 'x'.repeat(65_537) }] }, (c) => c.custom, []],
    [
      'custom',
      { custom: listOf(101, (n) => ({ name: 'X-OWN', value: `${n}` })) },
      (c) => c.custom.length,
      100,
    ],
  ])('without what is beyond a limit of %s', async (field, fields, read, expected) => {
    const done = await send({ full_name: 'Ina', external_id: 'i1', ...fields });
    expect(done).toMatchObject({ created: 1, failed: 0 });
    expect(done.errors).toEqual([
      { index: 0, name: 'Ina', error: 'value_too_large', message: expect.stringContaining(field) },
    ]);
    const [ina] = await contacts();
    expect([ina.external_id, read(ina)]).toEqual(['i1', expected]);
  });

  const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
  test.each<[string, object]>([
    ['a field of another type', { job_title: 'x'.repeat(1_001), notes: 1 }],
    ['an unknown kind', { job_title: 'x'.repeat(1_001), kind: 'robot' }],
    ['entries of other types', { job_title: 'x'.repeat(1_001), phones: [1, null, {}] }],
    [
      'parameters of another type',
      { categories: listOf(201, String), custom: [{ name: 'X', value: '', params: 1 }] },
    ],
    ['a deep value', { nicknames: listOf(201, String), name: JSON.parse(nested(20)) }],
    ['an external_id that is too long', { external_id: 'x'.repeat(256) }],
    ['a list', []],
  ])('%s is reported', async (_, fields) => {
    const done = await send(Array.isArray(fields) ? fields : { full_name: 'Ina', ...fields }, {
      full_name: 'Bo',
    });
    expect(done).toMatchObject({ created: 1, failed: 1, errors: [{ index: 0 }] });
  });

  test.each<[string, object, string]>([
    ['a birthday', { dates: [{ type: 'birthday', month: 1, day: 2 }] }, 'No name'],
    ['a note', { notes: 'plumber\nin Bonn' }, 'plumber'],
    ['a street', { addresses: [{ street: 'Street 1' }] }, 'Street 1'],
    ['a URL', { urls: ['https://a.example'] }, 'https://a.example'],
  ])('one that has only %s gets a name', async (_, fields, name) => {
    for (const outcome of [{ created: 1 }, { unchanged: 1 }])
      expect(await send(fields)).toMatchObject({ ...outcome, failed: 0, errors: [] });
    expect(await contacts()).toMatchObject([{ full_name: name }]);
    const path = `/contact/addressbooks/${bookId}/contacts`;
    expect((await alice.api.post(path, fields)).body.error).toBe('validation_failed');
  });
});
