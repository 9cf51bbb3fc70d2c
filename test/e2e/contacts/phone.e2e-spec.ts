import { readCards, newCard, writeCard } from '../../../src/lib/vcard/index.js';
import { TestApp, type TestUser } from '../../support/app.ts';
import type { ApiResponse, Client } from '../../support/network/client.ts';
import { upload } from '../../support/network/multipart.ts';

const IMPORT = '/contact/phone-sync/import';
const EXPORT = '/contact/phone-sync/export';

const card = (...lines: string[]): string => `BEGIN:VCARD\nVERSION:3.0\n${lines.join('\n')}\nEND:VCARD\n`;
const JANA = card('FN:Jana Nová', 'TEL;TYPE=CELL:601 123 456', 'EMAIL:jana@example.cz', 'X-OWN:a\\,b');
const IVO = card('UID:ivo-1', 'FN:Ivo Novák', 'EMAIL;TYPE=WORK:ivo@example.cz', 'NICKNAME:Iv');

const NONE = { created: 0, updated: 0, merged: 0, unchanged: 0, skipped: 0, failed: 0 };

describe('phone synchronisation', () => {
  let app: TestApp;
  let alice: TestUser;
  let bob: TestUser;
  let mallory: TestUser;
  let bookId: string;

  beforeAll(async () => {
    app = await TestApp.start();
    [alice, bob] = await app.tenant('acme', 'alice', 'bob');
    [mallory] = await app.tenant('evil', 'mallory');
  });
  afterAll(() => app?.stop());
  beforeEach(async () => {
    const { body } = await alice.api.post('/contact/addressbooks', { name: 'Phone', default_country: 'CZ' });
    bookId = body.addressbook.id;
  });

  const at = (path: string, query: Record<string, string> = {}) =>
    `${path}?${new URLSearchParams({ addressbook_id: bookId, device_id: 'pixel', ...query }).toString()}`;
  const send = (raw: string | Buffer, query: Record<string, string> = {}, api: Client = alice.api) =>
    api.request('POST', at(IMPORT, query), { raw, headers: { 'content-type': 'text/vcard; charset=utf-8' } });
  const imported = ({ status, body }: ApiResponse): any => {
    expect([status, body.error]).toEqual([200, undefined]);
    return body.import;
  };
  const counts = (response: ApiResponse): object => {
    const { created, updated, merged, unchanged, skipped, failed } = imported(response);
    return { created, updated, merged, unchanged, skipped, failed };
  };
  const contacts = async (): Promise<any[]> =>
    (await alice.api.get(`/contact/addressbooks/${bookId}/contacts?limit=200`)).body.contacts;
  const put = (contact: any, fields: object) =>
    alice.api.put(`/contact/addressbooks/${bookId}/contacts/${contact.external_id}`, fields);

  test('the cursor of an import delivers its contacts and later changes', async () => {
    await alice.api.post(`/contact/addressbooks/${bookId}/contacts`, { full_name: 'Before' });
    const { cursor } = (await send(IVO)).body;
    await alice.api.post(`/contact/addressbooks/${bookId}/contacts`, { full_name: 'After' });
    const { changes } = (
      await alice.api.get(`/contact/addressbooks/${bookId}/contacts/sync?cursor=${cursor}`)
    ).body;
    expect(changes.map(({ contact }: any) => contact.full_name)).toEqual(['Ivo Novák', 'After']);
  });

  test('an export of long contacts has each of them once', async () => {
    const names = Array.from({ length: 7 }, (_, n) => `Person ${n}`);
    for (const full_name of names)
      await alice.api.post(`/contact/addressbooks/${bookId}/contacts`, { full_name });
    await app.sql('UPDATE contacts SET size = 400000 WHERE addressbook_id = $1', [bookId]);
    const { text } = await alice.api.get(`${EXPORT}?addressbook_id=${bookId}`);
    expect([...text.matchAll(/^FN:(.*)\r$/gm)].map(([, name]) => name)).toEqual(names);
  });

  test('imports vCard, forms and JSON; the same cards again change nothing, whichever way they come', async () => {
    const first = imported(await send(JANA + IVO));
    expect(first).toMatchObject({
      ...NONE,
      addressbook_id: bookId,
      device_id: 'pixel',
      total: 2,
      created: 2,
      errors: [],
    });
    const [ivo, jana] = await contacts();
    expect(ivo).toMatchObject({
      uid: 'ivo-1',
      full_name: 'Ivo Novák',
      source: 'phone_sync',
      nicknames: ['Iv'],
    });
    expect(jana).toMatchObject({
      full_name: 'Jana Nová',
      phones: [{ value: '601 123 456', e164: '+420601123456', types: ['cell'] }],
      custom: [{ name: 'X-OWN', value: 'a\\,b' }],
    });
    expect(counts(await send(JANA + IVO))).toEqual({ ...NONE, unchanged: 2 });
    expect(counts(await send(JANA + IVO, { device_id: 'other' }))).toEqual({ ...NONE, unchanged: 2 });
    expect(counts(await upload(alice.api, at(IMPORT), JANA + IVO, { filename: 'all.vcf' }))).toEqual({
      ...NONE,
      unchanged: 2,
    });
    const { full_name, phones, emails, custom } = jana;
    const json = [
      { full_name, phones, emails, custom },
      { uid: 'ivo-1', full_name: 'Ivo Novák', emails: ivo.emails, nicknames: ['Iv'] },
    ];
    const body = { contacts: json, addressbook_id: bookId, device_id: 'pixel' };
    expect(counts(await alice.api.post(IMPORT, body))).toEqual({ ...NONE, unchanged: 2 });
    expect(await contacts()).toEqual([ivo, jana]);
  });

  test('without an address book imports into the default one, which the export reads', async () => {
    const { status, body } = await bob.api.request('POST', IMPORT, {
      raw: IVO,
      headers: { 'content-type': 'text/x-vcard' },
    });
    expect(status).toBe(200);
    const books = (await bob.api.get('/contact/addressbooks')).body.addressbooks;
    expect(books).toMatchObject([{ id: body.import.addressbook_id, is_default: true, contacts_count: 1 }]);
    expect((await bob.api.get(EXPORT)).text).toContain('FN:Ivo Novák');
  });

  test('a card that cannot be imported is reported with its position, the others are imported', async () => {
    const result = imported(
      await send(
        `${card('FN:A')}${card('NOTE:no name')}BEGIN:VCARD\nFN:cut\n${card(`FN:${'x'.repeat(1001)}`)}${card('FN:B')}`,
      ),
    );
    expect(result).toMatchObject({ ...NONE, total: 5, created: 5, failed: 0 });
    expect(result.errors).toEqual([
      { index: 2, name: 'cut', error: 'unfinished_card', message: expect.any(String) },
      {
        index: 3,
        name: expect.any(String),
        error: 'value_too_large',
        message: expect.stringContaining('full_name'),
      },
    ]);
    const json = await alice.api.post(IMPORT, {
      addressbook_id: bookId,
      contacts: [
        { full_name: 1 },
        null,
        'x',
        { full_name: 'C' },
        {},
        { full_name: `a${'\u{1f600}'.repeat(200)}`, emails: 1 },
      ],
    });
    expect(imported(json)).toMatchObject({ total: 6, created: 1, failed: 5 });
    expect(imported(json).errors.map(({ index, error }: any) => [index, error])).toEqual([
      [0, 'validation_failed'],
      [1, 'is_object'],
      [2, 'is_object'],
      [4, 'empty_contact'],
      [5, 'validation_failed'],
    ]);
  });

  test.each([
    ['no card', 422, 'no_card', 'text/vcard', 'hello'],
    ['an empty body', 422, 'no_card', 'text/vcard', ''],
    ['too many cards', 422, 'too_many_contacts', 'text/vcard', card('FN:A').repeat(10_001)],
    ['another type', 415, 'unsupported_media_type', 'text/plain', 'x'],
    ['broken JSON', 400, 'invalid_json', 'application/json', '{'],
    ['JSON without contacts', 422, 'validation_failed', 'application/json', '{}'],
    ['a broken form', 400, 'invalid_multipart', 'multipart/form-data', 'x'],
  ])('rejects %s: %d %s', async (_, status, error, type, raw) => {
    const response = await alice.api.request('POST', at(IMPORT), { raw, headers: { 'content-type': type } });
    expect([response.status, response.body.error]).toEqual([status, error]);
    expect(await contacts()).toEqual([]);
  });

  test('rejects a file over 20 MiB, with and without a length, and a compressed one', async () => {
    const large = Buffer.alloc(20 * 1024 * 1024 + 1, 'x');
    const response = await send(large);
    expect([response.status, response.body.error, response.body.max_bytes]).toEqual([
      413,
      'file_too_large',
      20 * 1024 * 1024,
    ]);
    const url = `${alice.api.base}/apis/v1${at(IMPORT)}`;
    const headers = { authorization: `Bearer ${alice.api.token}`, 'content-type': 'text/vcard' };
    const stream = new Blob([large]).stream();
    const chunked = await fetch(url, {
      method: 'POST',
      headers,
      body: stream,
      duplex: 'half',
    });
    expect([chunked.status, ((await chunked.json()) as any).error]).toEqual([413, 'file_too_large']);
    const zipped = await alice.api.request('POST', at(IMPORT), {
      raw: IVO,
      headers: { 'content-type': 'text/vcard', 'content-encoding': 'gzip' },
    });
    expect([zipped.status, zipped.body.error]).toEqual([415, 'unsupported_media_type']);
  });

  test('rejects invalid options, unknown and foreign address books, and readers of a shared one', async () => {
    for (const query of [
      { on_duplicate: 'x' },
      { default_country: 'CZE' },
      { addressbook_id: 'x' },
      { device_id: 'x'.repeat(201) },
    ] as Record<string, string>[])
      expect((await send(IVO, query)).body.error).toBe('validation_failed');
    const unknown = await send(IVO, { addressbook_id: '0199aaaa-bbbb-7ccc-8ddd-eeeeffff0000' });
    expect([unknown.status, unknown.body.error]).toEqual([404, 'not_found']);
    for (const path of [IMPORT, EXPORT])
      for (const { api } of [bob, mallory]) {
        const method = path === IMPORT ? 'POST' : 'GET';
        const foreign = await api.request(
          method,
          at(path),
          path === IMPORT ? { raw: IVO, headers: { 'content-type': 'text/vcard' } } : {},
        );
        expect([foreign.status, foreign.body]).toEqual([404, unknown.body]);
      }
    await alice.api.put(`/contact/addressbooks/${bookId}`, { shares: [{ user_id: bob.id, role: 'reader' }] });
    expect((await send(IVO, {}, bob.api)).status).toBe(403);
    expect((await bob.api.get(at(EXPORT))).status).toBe(200);
  });

  test('merges a card with the contact of the same name and a common address, never by a number alone', async () => {
    const base = `/contact/addressbooks/${bookId}/contacts`;
    const { body } = await alice.api.post(base, {
      full_name: 'Jana Nová',
      emails: ['jana@example.cz'],
      job_title: 'Head',
    });
    await alice.api.post(base, { full_name: 'Petr Nový', phones: ['601 123 456'] });
    expect(counts(await send(JANA))).toEqual({ ...NONE, merged: 1 });
    const [jana] = await contacts();
    expect(jana).toMatchObject({
      id: body.contact.id,
      revision: 2,
      job_title: 'Head',
      phones: [{ e164: '+420601123456' }],
    });
    expect(counts(await send(JANA, { on_duplicate: 'create', device_id: 'b' }))).toEqual({
      ...NONE,
      created: 1,
    });
    expect(await contacts()).toHaveLength(3);
  });

  test('a card that changed on the device updates the contact, an unchanged card leaves it as it is', async () => {
    await send(IVO);
    const [before] = await contacts();
    await put(before, { emails: [], job_title: 'Boss' });
    expect(counts(await send(IVO))).toEqual({ ...NONE, unchanged: 1 });
    expect(await contacts()).toMatchObject([{ emails: [], job_title: 'Boss' }]);
    expect(counts(await send(IVO.replace('FN:Ivo Novák', 'FN:Ivo N.')))).toEqual({ ...NONE, updated: 1 });
    expect(await contacts()).toMatchObject([{ full_name: 'Ivo N.', job_title: 'Boss', emails: [] }]);
    expect(counts(await send(card('UID:ivo-1', 'FN:Only'), { on_duplicate: 'skip' }))).toEqual({
      ...NONE,
      skipped: 1,
    });
    expect(counts(await send(card('UID:ivo-1', 'FN:Only'), { on_duplicate: 'replace' }))).toEqual({
      ...NONE,
      updated: 1,
    });
    expect(await contacts()).toMatchObject([{ full_name: 'Only', job_title: null, emails: [] }]);
  });

  test('another card of the same person is joined with the contact, and does not replace it', async () => {
    const first = card(
      'UID:ina-1',
      'FN:Ina Holm',
      'TEL:+420601000001',
      'EMAIL:a@home.example',
      'NOTE:n1',
      'X-FOO:1',
    );
    const all = { full_name: 'Ina Holm', notes: 'n1' };
    const emails = async () =>
      (await contacts()).map(({ emails: list }) => list.map(({ value }: any) => value).toSorted());
    for (const uid of [['UID:ina-2'], []]) {
      const { body } = await alice.api.post('/contact/addressbooks', {
        name: 'Other',
        default_country: 'CZ',
      });
      bookId = body.addressbook.id;
      expect(counts(await send(first))).toEqual({ ...NONE, created: 1 });
      const second = card(...uid, 'FN:Ina Holm', 'TEL:+420601000001', 'EMAIL:x@work.example');
      expect(counts(await send(second))).toEqual({ ...NONE, merged: 1 });
      expect(await contacts()).toMatchObject([all]);
      expect(await emails()).toEqual([['a@home.example', 'x@work.example']]);
    }
  });

  test('cards without UID of one name and number stay apart when one of them changes', async () => {
    const one = card('FN:Ina Holm', 'TEL:+420601000001', 'EMAIL:a@home.example', 'NOTE:n1', 'ORG:O1');
    const other = (address: string): string => card('FN:Ina Holm', 'TEL:+420601000001', `EMAIL:${address}`);
    const shown = async () =>
      (await contacts()).map(({ emails: [email], notes }) => `${email.value} ${notes}`).toSorted();
    expect(counts(await send(`${one}${other('x@work.example')}`))).toEqual({ ...NONE, created: 2 });
    for (const address of ['y@work.example', 'z@work.example']) {
      expect(counts(await send(`${other(address)}${one}`))).toEqual({ ...NONE, merged: 1, unchanged: 1 });
      expect(await shown()).toEqual(['a@home.example n1', `${address} null`]);
    }
  });

  test('without a device, a card without UID is joined with the contact', async () => {
    const json = (fields: object) =>
      alice.api.post(`${IMPORT}?addressbook_id=${bookId}`, {
        contacts: [{ full_name: 'Ina Holm', ...fields }],
      });
    const phones = [{ value: '+420601000001' }];
    expect(counts(await json({ phones, notes: 'n1' }))).toEqual({ ...NONE, created: 1 });
    expect(counts(await json({ phones, job_title: 'Smith' }))).toEqual({ ...NONE, merged: 1 });
    expect(await contacts()).toMatchObject([{ notes: 'n1', job_title: 'Smith' }]);
  });

  test('an undo removes and restores the contacts of the import, except those that changed afterwards', async () => {
    await send(IVO);
    const [ivo] = await contacts();
    const { id } = imported(
      await send(JANA + card('FN:Kept') + IVO.replace('NICKNAME:Iv', 'TITLE:Boss'), {
        on_duplicate: 'replace',
      }),
    );
    const kept = (await contacts()).find(({ full_name }) => full_name === 'Kept');
    await put(kept, { job_title: 'New' });
    for (const { api } of [bob, mallory]) {
      expect((await api.get(`/contact/phone-sync/imports/${id}`)).status).toBe(404);
      expect((await api.post(`/contact/phone-sync/imports/${id}/undo`)).status).toBe(404);
    }
    const [undone, again] = await Promise.all(
      [1, 2].map(() => alice.api.post(`/contact/phone-sync/imports/${id}/undo`)),
    );
    expect([undone?.status, again?.status]).toEqual([200, 200]);
    const sum = (key: string) => undone?.body.undo[key] + again?.body.undo[key];
    expect(['removed', 'restored', 'kept'].map(sum)).toEqual([1, 1, 1]);
    const [restored, other] = await contacts();
    expect(restored).toMatchObject({ nicknames: ['Iv'], job_title: null, revision: ivo.revision + 2 });
    expect(other).toMatchObject({ full_name: 'Kept', job_title: 'New' });
    const { imports } = (await alice.api.get('/contact/phone-sync/imports?limit=1')).body;
    expect(imports).toMatchObject([{ id, undone_at: expect.any(String) }]);
    expect(imported(await alice.api.get(`/contact/phone-sync/imports/${id}`))).toEqual(imports[0]);
    expect(counts(await send(JANA))).toEqual({ ...NONE, created: 1 });
  });

  test('an undo removes contacts that continue the revisions of deleted ones', async () => {
    const body = {
      addressbook_id: bookId,
      device_id: 'pixel',
      contacts: [{ external_id: 'ivo', full_name: 'Ivo' }],
    };
    imported(await alice.api.post(IMPORT, body));
    await alice.api.delete(`/contact/addressbooks/${bookId}/contacts/ivo`);
    const { id } = imported(await alice.api.post(IMPORT, body));
    expect(await contacts()).toMatchObject([{ external_id: 'ivo', revision: 2 }]);
    const undone = await alice.api.post(`/contact/phone-sync/imports/${id}/undo`);
    expect(undone.body.undo).toEqual({ removed: 1, restored: 0, kept: 0 });
    expect(await contacts()).toEqual([]);
  });

  test('an import into a full address book updates its contacts and reports the cards that do not fit', async () => {
    await send(IVO + JANA);
    const fill = (count: number) =>
      app.sql('UPDATE addressbooks SET contacts_count = $2 WHERE id = $1', [bookId, count]);
    await fill(100_000);
    const boss = IVO.replace('NICKNAME:Iv', 'TITLE:Boss');
    expect(counts(await send(JANA + boss))).toEqual({ ...NONE, unchanged: 1, updated: 1 });
    await fill(99_999);
    const result = imported(await send(card('FN:First') + card('FN:Second') + card('NOTE:none') + JANA));
    expect(result).toMatchObject({ ...NONE, total: 4, created: 1, unchanged: 1, failed: 2 });
    expect(result.errors.map(({ index, name, error }: any) => [index, name, error])).toEqual([
      [1, 'Second', 'addressbook_full'],
      [2, 'none', 'addressbook_full'],
    ]);
    expect((await contacts()).map(({ full_name }) => full_name)).toEqual(['First', 'Ivo Novák', 'Jana Nová']);
  });

  test('equal imports at the same time create each contact once', async () => {
    const file = Array.from({ length: 300 }, (_, n) =>
      card(`FN:Person ${n}`, `EMAIL:p${n}@example.com`),
    ).join('');
    const responses = await Promise.all([send(file), send(file, { device_id: 'b' }), send(file)]);
    const sums = responses.map((response) => imported(response));
    expect(sums.reduce((total, { created }) => total + created, 0)).toBe(300);
    expect(sums.every(({ total, failed }) => total === 300 && failed === 0)).toBe(true);
    const exported = await alice.api.get(at(EXPORT, { device_id: 'other' }));
    expect(exported.text.match(/BEGIN:VCARD/g)).toHaveLength(300);
  });

  test.each(['3.0', '4.0'])('exports vCard %s, which imports into the same contacts', async (version) => {
    await send(JANA + IVO);
    const { status, headers, text } = await alice.api.get(at(EXPORT, { version, device_id: 'b' }));
    expect([status, headers.get('content-type')]).toEqual([200, 'text/vcard; charset=utf-8']);
    expect(headers.get('content-disposition')).toBe('attachment; filename=contacts.vcf');
    const names: (string | null)[] = [];
    for await (const result of readCards([Buffer.from(text)]))
      if ('card' in result) names.push(result.card.full_name);
    expect(names).toEqual(['Jana Nová', 'Ivo Novák']);
    expect(text.match(/^VERSION:(.*)\r$/gm)).toEqual([`VERSION:${version}\r`, `VERSION:${version}\r`]);
    expect(counts(await send(text, { device_id: 'c' }))).toEqual({ ...NONE, unchanged: 2 });
  });

  test('exports changes since a time as JSON, without those that the device has sent', async () => {
    await send(JANA + IVO);
    const json = async (query: Record<string, string>): Promise<string[]> => {
      const { status, body } = await alice.api.get(at(EXPORT, query), {
        headers: { accept: 'application/json' },
      });
      expect(status).toBe(200);
      return body.contacts.map(({ full_name }: any) => full_name);
    };
    expect(await json({})).toEqual([]);
    expect(await json({ device_id: 'b' })).toEqual(['Jana Nová', 'Ivo Novák']);
    const [ivo] = await contacts();
    const { body } = await put(ivo, { job_title: 'Boss' });
    expect(await json({})).toEqual(['Ivo Novák']);
    expect(await json({ device_id: 'b', since: body.contact.updated_at })).toEqual(['Ivo Novák']);
    expect(await json({ device_id: 'b', since: '2100-01-01T00:00:00Z' })).toEqual([]);
    for (const since of ['yesterday', '2026-W05-3', '+012026-01-01', '0000-01-01T00:00:00Z'])
      expect((await alice.api.get(at(EXPORT, { since }))).status).toBe(422);
  });

  test('10,000 cards', async () => {
    const file = Array.from({ length: 10_000 }, (_, n) =>
      writeCard(newCard({ full_name: `Person ${n}`, notes: 'x'.repeat(300) }), { version: '4.0' }),
    ).join('');
    expect(imported(await send(file))).toMatchObject({ total: 10_000, created: 10_000, failed: 0 });
    expect((await alice.api.get(`/contact/addressbooks/${bookId}`)).body.addressbook.contacts_count).toBe(
      10_000,
    );
  });
});
