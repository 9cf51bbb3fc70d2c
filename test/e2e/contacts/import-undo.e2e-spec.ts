import { jest } from '@jest/globals';
import { ImportsRepository } from '../../../src/modules/contacts/phone/imports.repository.js';
import { TestApp, type TestUser } from '../../support/app.ts';
import { importCards } from '../../support/domains/contacts.ts';

const BOOKS = '/contact/addressbooks';
const card = (uid: string, ...lines: string[]): string =>
  `BEGIN:VCARD\nVERSION:3.0\nUID:${uid}\n${lines.join('\n')}\nEND:VCARD\n`;
const ANN = card('c1', 'FN:Ann', 'TEL:+420601000001');
const BEN = card('c2', 'FN:Ben', 'EMAIL:ben@x.example');

/** Imports and merges of the same contacts. */
describe('undo of imports', () => {
  let app: TestApp;
  let alice: TestUser;
  let bookId: string;

  beforeAll(async () => {
    app = await TestApp.start();
    [alice] = await app.tenant('acme', 'alice');
  });
  afterAll(() => app?.stop());
  beforeEach(async () => {
    const { body } = await alice.api.post(BOOKS, { name: 'Phone', default_country: 'CZ' });
    bookId = body.addressbook.id;
  });

  const send = (raw: string): Promise<any> =>
    importCards(alice, raw, { addressbook_id: bookId, device_id: 'pixel' });
  const undo = async ({ id }: any) => {
    expect((await alice.api.post(`/contact/phone-sync/imports/${id}/undo`)).status).toBe(200);
  };
  const contacts = async (): Promise<any[]> =>
    (await alice.api.get(`${BOOKS}/${bookId}/contacts?limit=200`)).body.contacts;
  const names = async () => (await contacts()).map(({ full_name }) => full_name);
  const merge = async (...fullNames: string[]): Promise<string> => {
    const found = await contacts();
    const external_ids = fullNames.map(
      (name) => found.find(({ full_name }) => full_name === name).external_id,
    );
    const { status, body } = await alice.api.post('/contact/merges', {
      addressbook_id: bookId,
      external_ids,
    });
    expect(status).toBe(200);
    return body.merge_id;
  };
  const unmerge = async (id: string) => {
    expect((await alice.api.post(`/contact/merges/${id}/undo`)).status).toBe(200);
  };

  test('imports are undone in the order of a stack', async () => {
    const first = await send(ANN + BEN);
    const second = await send(card('c1', 'FN:Ann 2'));
    const third = await send(card('c1', 'FN:Ann 3') + card('c1', 'FN:Ann 4'));
    expect(await names()).toEqual(['Ann 4', 'Ben']);
    await undo(third);
    expect(await names()).toEqual(['Ann 2', 'Ben']);
    await undo(second);
    expect(await names()).toEqual(['Ann', 'Ben']);
    await undo(first);
    expect(await names()).toEqual([]);
  });

  test('an import is undone after the undo of a merge, and a merge after that of an import', async () => {
    const first = await send(ANN + BEN);
    const merged = await merge('Ann', 'Ben');
    const second = await send(card('c1', 'FN:Ann', 'TEL:+420601000001', 'NOTE:new'));
    await undo(second);
    await unmerge(merged);
    expect(await names()).toEqual(['Ann', 'Ben']);
    expect(await send(ANN + BEN)).toMatchObject({ unchanged: 2 });
    await undo(first);
    expect(await names()).toEqual([]);
  });

  test('an import does not bring back contacts that were merged into another', async () => {
    await send(ANN + BEN + card('c3', 'FN:Cid'));
    const merges = [await merge('Ann', 'Ben'), await merge('Cid', 'Ann')];
    expect(await send(ANN + BEN)).toMatchObject({ unchanged: 2 });
    expect(await names()).toEqual(['Cid']);
    for (const id of merges.toReversed()) await unmerge(id);
    expect(await names()).toEqual(['Ann', 'Ben', 'Cid']);
    await merge('Ann', 'Ben');
    const changed = card('c2', 'FN:Benny', 'EMAIL:ben@x.example', 'TITLE:Smith');
    for (const outcome of ['updated', 'unchanged']) {
      expect(await send(ANN + changed)).toMatchObject({ [outcome]: outcome === 'updated' ? 1 : 2 });
      expect((await contacts())[0]).toMatchObject({ full_name: 'Ann', job_title: 'Smith' });
    }
  });

  test('a card that says what its contact has already comes with one of a contact that was merged into it', async () => {
    await send(ANN + BEN);
    await merge('Ann', 'Ben');
    const [{ external_id, ...ann }] = await contacts();
    const path = `${BOOKS}/${bookId}/contacts/${external_id}`;
    expect((await alice.api.put(path, { ...ann, job_title: 'Smith' })).status).toBe(200);
    const both = card('c1', 'FN:Ann', 'TEL:+420601000001', 'TITLE:Smith') + card('c2', 'FN:Ben', 'NOTE:new');
    expect(await send(both)).toMatchObject({ unchanged: 1, updated: 1 });
    expect((await contacts())[0]).toMatchObject({ job_title: 'Smith', notes: 'new' });
  });

  test('an import that changed large contacts is undone in several steps', async () => {
    const COUNT = 24;
    const rows = ['X-A', 'X-B', 'X-C'].map((name) => `${name}:${'x'.repeat(60_000)}`);
    const cards = (note: string) =>
      Array.from({ length: COUNT }, (_, n) => card(`l${n}`, `FN:Large ${n}`, `NOTE:${note}`, ...rows)).join(
        '',
      );
    await send(cards('before'));
    const second = await send(cards('after'));
    expect(second).toMatchObject({ updated: COUNT });
    const settle = jest.spyOn(app.get<ImportsRepository>(ImportsRepository), 'settle');
    await undo(second);
    const sizes = settle.mock.calls.map(([, , ids]) => ids.length);
    settle.mockRestore();
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(COUNT);
    expect(Math.max(...sizes)).toBeLessThan(COUNT);
    const { body } = await alice.api.get(`${BOOKS}/${bookId}/contacts?limit=200&fields=notes`);
    expect(new Set(body.contacts.map(({ notes }: any) => notes))).toEqual(new Set(['before']));
  });
});
