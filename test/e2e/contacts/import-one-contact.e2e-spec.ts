import { jest } from '@jest/globals';
import { ContactsRepository } from '../../../src/modules/contacts/contacts.repository.js';
import { ImportPhotos } from '../../../src/modules/contacts/phone/import-photos.js';
import { Db } from '../../../src/platform/database/db.js';
import { TestApp, type TestUser } from '../../support/app.ts';
import type { ApiResponse } from '../../support/network/client.ts';

const IMPORT = '/contact/phone-sync/import';
const card = (...lines: string[]): string => `BEGIN:VCARD\nVERSION:3.0\n${lines.join('\n')}\nEND:VCARD\n`;
const MARIT = ['FN:Marit Lund', 'EMAIL:marit@lund.example'];
const first = (...uid: string[]): string => card(...uid, ...MARIT, 'TEL:+4741000001', 'NOTE:from work');
const second = (...uid: string[]): string => card(...uid, ...MARIT, 'TEL:+4741000002');
const others = (count: number): string =>
  Array.from({ length: count }, (_, n) => card(`FN:Other ${n}`, `EMAIL:o${n}@x.example`)).join('');

describe('several cards of one contact in one import', () => {
  let app: TestApp;
  let alice: TestUser;
  let bookId: string;

  beforeAll(async () => {
    app = await TestApp.start();
    [alice] = await app.tenant('acme', 'alice');
  });
  afterAll(() => app?.stop());
  beforeEach(async () => {
    const { body } = await alice.api.post('/contact/addressbooks', { name: 'Phone', default_country: 'NO' });
    bookId = body.addressbook.id;
  });

  const imported = ({ status, body }: ApiResponse): any => {
    expect([status, body.error]).toEqual([200, undefined]);
    return body.import;
  };
  const send = async (raw: string, query: Record<string, string> = {}): Promise<any> => {
    const given = new URLSearchParams({ addressbook_id: bookId, device_id: 'pixel', ...query }).toString();
    const headers = { 'content-type': 'text/vcard' };
    return imported(await alice.api.request('POST', `${IMPORT}?${given}`, { raw, headers }));
  };
  const sendJson = async (contacts: object[]): Promise<any> =>
    imported(await alice.api.post(IMPORT, { addressbook_id: bookId, device_id: 'pixel', contacts }));
  const marits = async (): Promise<any[]> =>
    (await alice.api.get(`/contact/addressbooks/${bookId}/contacts?limit=200&q=marit`)).body.contacts;
  const numbers = async (): Promise<string[]> =>
    (await marits()).flatMap(({ phones }) => phones.map(({ value }: any) => value)).toSorted();
  const create = async (fields: object): Promise<any> => {
    const { status, body } = await alice.api.post(`/contact/addressbooks/${bookId}/contacts`, fields);
    expect(status).toBe(201);
    return body.contact;
  };
  const put = (contact: any, fields: object) =>
    alice.api.put(`/contact/addressbooks/${bookId}/contacts/${contact.external_id}`, fields);
  const undo = async ({ id }: any): Promise<any> =>
    (await alice.api.post(`/contact/phone-sync/imports/${id}/undo`)).body.undo;

  test.each([0, 250])('with one uid and %d cards between them are one contact', async (count) => {
    const file = first('UID:m1') + others(count) + second('UID:m1');
    const done = await send(file);
    expect(done).toMatchObject({ created: count + 1, updated: 1, errors: [] });
    const [made, ...more] = await marits();
    expect([more, made.notes]).toEqual([[], 'from work']);
    expect(await numbers()).toEqual(['+4741000001', '+4741000002']);
    for (const device_id of ['pixel', 'pixel', 'other'])
      expect(await send(file, { device_id })).toMatchObject({ unchanged: count + 2, errors: [] });
    expect(await marits()).toEqual([made]);
    expect(await undo(done)).toEqual({ removed: count + 1, restored: 0, kept: 0 });
    expect(await marits()).toEqual([]);
  });

  test.each(['external_id', 'uid'])('with one %s are one contact in a JSON body', async (key) => {
    const of = (fields: object): object => ({ [key]: 'm1', full_name: 'Marit Lund', ...fields });
    const body = [of({ phones: ['+4741000001'], notes: 'from work' }), of({ phones: ['+4741000002'] })];
    expect(await sendJson(body)).toMatchObject({ created: 1, updated: 1 });
    const made = await marits();
    expect(made).toMatchObject([{ notes: 'from work' }]);
    expect(await numbers()).toEqual(['+4741000001', '+4741000002']);
    expect(await sendJson(body)).toMatchObject({ unchanged: 2 });
    expect(await marits()).toEqual(made);
  });

  test.each([
    ['without a uid', [], []],
    ['with other uids', ['UID:m1'], ['UID:m2']],
  ])('%s add their fields to the contact that the book has', async (_, one, other) => {
    for (const count of [0, 150]) {
      const [old] = await marits();
      if (old) await alice.api.delete(`/contact/addressbooks/${bookId}/contacts/${old.external_id}`);
      const before = await create({
        full_name: 'Marit Lund',
        emails: ['marit@lund.example'],
        phones: ['+4741000009'],
      });
      const file = first(...one) + others(count) + second(...other);
      const done = await send(file);
      expect(done).toMatchObject({ created: count, merged: 2, errors: [] });
      expect(await numbers()).toEqual(['+4741000001', '+4741000002', '+4741000009']);
      const [after, ...more] = await marits();
      expect(more).toEqual([]);
      for (const device_id of ['pixel', 'pixel', 'other'])
        expect(await send(file, { device_id })).toMatchObject({ unchanged: count + 2 });
      expect(await marits()).toEqual([after]);
      expect(await undo(done)).toEqual({ removed: count, restored: 1, kept: 0 });
      expect(await numbers()).toEqual(['+4741000009']);
      expect((await marits())[0].notes).toBe(before.notes);
    }
  });

  test('stay unchanged after a change here, and each of them may change on the device', async () => {
    await send(first('UID:m1') + second('UID:m1'));
    const [made] = await marits();
    await put(made, { phones: ['+4741000001'], notes: null });
    expect(await send(first('UID:m1') + second('UID:m1'))).toMatchObject({ unchanged: 2 });
    expect(await numbers()).toEqual(['+4741000001']);
    const changed = second('UID:m1').replace('TEL:+4741000002', 'TEL:+4741000003');
    expect(await send(first('UID:m1') + changed)).toMatchObject({ unchanged: 1, updated: 1 });
    expect(await numbers()).toEqual(['+4741000001', '+4741000003']);
    expect((await marits())[0].notes).toBeNull();
    expect(await send(first('UID:m1') + changed)).toMatchObject({ unchanged: 2 });
  });

  test('a changed card does not remove what another card of its contact has said', async () => {
    const whole = card('UID:m1', ...MARIT, 'TEL:+4741000001', 'TEL:+4741000002');
    await send(first('UID:m1').replace('NOTE:from work\n', '') + whole);
    expect(await send(first('UID:m1') + whole)).toMatchObject({ updated: 1, unchanged: 1 });
    expect(await numbers()).toEqual(['+4741000001', '+4741000002']);
  });

  test.each([
    [0, false],
    [150, false],
    [150, true],
  ])(
    'a card that became two with %d cards between them loses nothing (contact changed here: %s)',
    async (count, isChanged) => {
      await send(card('UID:m1', ...MARIT, 'TEL:+4741000001', 'TEL:+4741000002', 'NOTE:from work'));
      if (isChanged) await put((await marits())[0], { job_title: 'Pilot' });
      const file = second('UID:m1') + others(count) + first('UID:m1');
      expect(await send(file)).toMatchObject({ created: count, errors: [] });
      expect(await numbers()).toEqual(['+4741000001', '+4741000002']);
      expect(await marits()).toMatchObject([{ notes: 'from work', job_title: isChanged ? 'Pilot' : null }]);
      expect(await send(file)).toMatchObject({ unchanged: count + 2 });
    },
  );

  test('cards of a contact that the import found first and changed later are undone', async () => {
    await send(first('UID:m1'));
    // The contact has what this card says: it is found in the first batch, and changed in the second one.
    const same = card('UID:m1', ...MARIT, 'TEL:+4741000001');
    await put((await marits())[0], { job_title: 'Pilot' });
    const done = await send(same + second('UID:m1'));
    expect(done).toMatchObject({ unchanged: 1, updated: 1 });
    expect(await undo(done)).toMatchObject({ restored: 1 });
    expect(await numbers()).toEqual(['+4741000001']);
  });

  test.each([
    ['repeats', 'created', true],
    ['repeats', 'updated', false],
    ['changes', 'created', true],
    ['changes', 'updated', false],
  ])(
    'an undo keeps what a user wrote before a further card that %s a contact that was %s',
    async (what, _, isNew) => {
      if (!isNew) await send(card('UID:m1', ...MARIT));
      // The photos of a batch are stored before its transaction.
      const photos = app.get<ImportPhotos>(ImportPhotos);
      const original = photos.store.bind(photos);
      const store = jest.spyOn(photos, 'store');
      store.mockImplementation(async (...args) => {
        const [marit] = await marits();
        if (marit?.notes === 'from work') await put(marit, { notes: 'by hand' });
        return original(...args);
      });
      const further = what === 'repeats' ? first('UID:m1') : second('UID:m1');
      const done = await send(first('UID:m1') + others(150) + further);
      store.mockRestore();
      expect(done).toMatchObject({ created: isNew ? 151 : 150, errors: [] });
      expect(await undo(done)).toMatchObject({ kept: 1, restored: 0, removed: 150 });
      expect((await marits())[0].notes).toBe('by hand');
    },
  );

  test('with skip, only contacts from before the import stay as they are', async () => {
    const file = first('UID:m1') + second('UID:m1');
    expect(await send(file, { on_duplicate: 'skip' })).toMatchObject({ created: 1, updated: 1 });
    expect(await numbers()).toEqual(['+4741000001', '+4741000002']);
    const more = card('UID:m1', 'FN:Marit Lund', 'TEL:+4741000003');
    expect(await send(file + more, { on_duplicate: 'skip' })).toMatchObject({ skipped: 3 });
  });

  test('with replace, the first card replaces the contact and the others are added', async () => {
    await create({ uid: 'm1', full_name: 'Marit Lund', phones: ['+4741000009'] });
    await send(first('UID:m1') + second('UID:m1'), { on_duplicate: 'replace' });
    expect(await numbers()).toEqual(['+4741000001', '+4741000002']);
    await send(first('UID:m1') + second('UID:m1'), { on_duplicate: 'replace' });
    expect(await numbers()).toEqual(['+4741000001', '+4741000002']);
    expect(await marits()).toMatchObject([{ notes: 'from work' }]);
  });

  test('a card with which its contact would be too large is reported, the others are imported', async () => {
    const notes = (letter: string): string => card('UID:m1', ...MARIT, `NOTE:${letter.repeat(60_000)}`);
    const file = ['a', 'b', 'c', 'd', 'e'].map(notes).join('') + second('UID:m1') + others(1);
    expect(await send(file)).toMatchObject({
      created: 2,
      updated: 4,
      failed: 1,
      errors: [{ index: 4, name: 'Marit Lund', error: 'contact_too_large' }],
    });
    expect(await numbers()).toEqual(['+4741000002']);
  });

  test('beyond 100 cards of one contact, further ones are reported', async () => {
    const cards = Array.from({ length: 120 }, (_, n) => card('UID:m1', ...MARIT, `TEL:+47410000${n + 10}`));
    for (const outcome of [{ created: 2, updated: 99 }, { unchanged: 101 }]) {
      const done = await send(cards.join('') + others(1));
      expect(done).toMatchObject({ ...outcome, failed: 20 });
      expect(done.errors[0]).toMatchObject({ index: 100, name: 'Marit Lund', error: 'too_many_cards' });
    }
    expect(await numbers()).toHaveLength(100);
  });

  test('cards of contacts that were merged here add their fields to the one that remained', async () => {
    const jo = (...lines: string[]): string => card('UID:m2', 'FN:Jo Berg', ...lines);
    await send(first('UID:m1') + jo('TEL:+4741000005'));
    const found = (await alice.api.get(`/contact/addressbooks/${bookId}/contacts`)).body.contacts;
    const byName = (name: string): string => found.find((each: any) => each.full_name === name).external_id;
    await alice.api.post('/contact/merges', {
      addressbook_id: bookId,
      external_ids: [byName('Marit Lund'), byName('Jo Berg')],
    });
    for (const swapped of [false, true]) {
      const n = swapped ? 8 : 6;
      const cards = [
        card('UID:m1', ...MARIT, `TEL:+474100000${n}`),
        jo('TEL:+4741000005', `TEL:+474100000${n + 1}`),
      ];
      await send((swapped ? cards.toReversed() : cards).join(''));
      expect(await numbers()).toEqual(
        expect.arrayContaining(['+4741000005', `+474100000${n}`, `+474100000${n + 1}`]),
      );
    }
  });

  test('contacts that are compared with the cards of an import are bounded in bytes', async () => {
    const notes = 'n'.repeat(60_000);
    const made = Array.from({ length: 6 }, (_, n) => ({
      full_name: `Large ${n}`,
      notes,
      phones: [{ value: '+4741000009' }],
    }));
    await sendJson(made);
    const ctx = { tenantId: alice.tenantId! };
    const contacts = app.get<ContactsRepository>(ContactsRepository);
    const find = async (options?: { bytes: number; names?: string[] }) =>
      (await contacts.withKeys(app.get<Db>(Db), ctx, bookId, ['+4741000009'], 100, options)).map(
        ({ card }) => JSON.parse(card).full_name,
      );
    const all = await find();
    expect(all).toHaveLength(6);
    expect(await find({ bytes: 200_000 })).toEqual(all.slice(0, 3));
    expect(await find({ bytes: 1 })).toEqual(all.slice(0, 1));
    // Those with the names of the cards are left out last: the import would create them again.
    const [other] = all.toReversed();
    const names = [`=${other.toLowerCase().split(' ').toSorted().join(' ')}`];
    expect(await find({ bytes: 1, names })).toEqual([other]);
    expect((await find({ bytes: 1e9, names })).toSorted()).toEqual(all.toSorted());
  });
});
