import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { memoryStore, type Store } from '@workspace-backend/client/sync';
import { type TestUser, TestApp } from '../../support/app.ts';
import { defaultCalendar } from '../../support/domains/calendars.ts';
import { Device, sqliteFile } from '../../support/sdk/device.ts';
import { until } from '../../support/until.ts';

const directory = mkdtempSync(path.join(tmpdir(), 'workspace-sync-'));
const STORES: [string, () => Store][] = [
  ['memory', memoryStore],
  ['SQLite', () => sqliteFile(path.join(directory, `${randomUUID()}.db`))],
];

afterAll(() => rmSync(directory, { recursive: true, force: true }));

describe.each(STORES)('offline sync with a store in %s', (_name, newStore) => {
  let app: TestApp;
  let number = 0;
  const open: Device[] = [];

  beforeAll(async () => {
    app = await TestApp.start();
  });
  afterAll(() => app?.stop());
  afterEach(() => Promise.all(open.splice(0).map(({ workspace }) => workspace.close())));

  /** Two synchronised devices of a new user. */
  const devices = async (): Promise<[Device, Device, TestUser]> => {
    const [user] = await app.tenant(`tenant-${(number += 1)}`, 'alice');
    const pair = [
      await Device.open(app.base, user, { store: newStore() }),
      await Device.open(app.base, user, { store: newStore() }),
    ] as [Device, Device];
    open.push(...pair);
    for (const device of pair) await device.online();
    return [...pair, user];
  };
  const converge = async (...all: Device[]) => {
    for (let round = 0; round < 2; round += 1) for (const device of all) await device.online();
    for (const { workspace } of all) expect(await workspace.pending()).toEqual([]);
  };

  test('notes and folders of two devices that were offline converge', async () => {
    const [phone, laptop, alice] = await devices();
    phone.offline();
    laptop.offline();
    const folderId = await phone.workspace.collection('note_folders').create({ name: 'Travel' });
    const notes = phone.workspace.collection('notes');
    const id = await notes.create({ title: 'Offsite', content: '<p>Rooms</p>', folder_id: folderId });
    await notes.update(id, { title: 'Offsite 2027' });
    const other = laptop.workspace.collection('notes');
    const otherId = await other.create({ title: 'Budget' });
    const droppedId = await other.create({ title: 'Removed' });
    await other.remove(droppedId);
    await converge(phone, laptop);
    const listed = async (device: Device) =>
      (
        await device.workspace.collection('notes').list({ sort: (a, b) => (a.title! < b.title! ? -1 : 1) })
      ).map((note) => [note.id, note.title, note.content ?? null, note.folder_id]);
    const content = (await alice.api.get(`/notes/${id}`)).body.note.content;
    expect(await listed(phone)).toMatchObject([
      [otherId, 'Budget', expect.anything(), null],
      [id, 'Offsite 2027', content, folderId],
    ]);
    expect(await listed(laptop)).toEqual(await listed(phone));
    await phone.workspace.collection('notes').remove(id);
    await converge(phone, laptop);
    expect((await other.list({ trash: true })).map((note) => note.id)).toContain(id);
    await other.restore(id);
    await other.update(id, { title: 'Restored' });
    await converge(laptop, phone);
    expect((await notes.get(id))!.title).toBe('Restored');
    expect((await notes.list()).length).toBe(2);
  });

  test('tasks and task folders converge', async () => {
    const [phone, laptop, alice] = await devices();
    phone.offline();
    const folderId = await phone.workspace.collection('task_folders').create({ name: 'House' });
    const tasks = phone.workspace.collection('tasks');
    const id = await tasks.create({ title: 'Paint', description: '<p>Blue</p>', folder_id: folderId });
    await converge(phone, laptop);
    const theirs = laptop.workspace.collection('tasks');
    expect(await theirs.get(id)).toMatchObject({ title: 'Paint', folder_id: folderId });
    phone.offline();
    laptop.offline();
    await tasks.update(id, { done: true });
    await theirs.update(id, { labels: ['home'] });
    await converge(phone, laptop);
    expect((await alice.api.get(`/tasks/${id}`)).body.task).toMatchObject({ done: true, labels: ['home'] });
    expect(await tasks.get(id)).toEqual(await theirs.get(id));
    await theirs.remove(id);
    await converge(laptop, phone);
    expect(await tasks.list()).toEqual([]);
    expect((await tasks.list({ trash: true })).map((task) => task.id)).toEqual([id]);
  });

  test('calendars and events converge, a series with its changed instances', async () => {
    const [phone, laptop, alice] = await devices();
    phone.offline();
    const calendarId = await phone.workspace.collection('calendars').create({ name: 'Team' });
    const events = phone.workspace.collection('events', calendarId);
    const id = await events.create({
      title: 'Standup',
      start: '2026-03-02',
      rrule: 'FREQ=DAILY;COUNT=3',
    });
    const goneId = await events.create({ title: 'Cancelled', start: '2026-03-03' });
    await converge(phone, laptop);
    const theirs = laptop.workspace.collection('events', calendarId);
    expect((await theirs.list()).map(({ title }) => title).toSorted()).toEqual(['Cancelled', 'Standup']);
    await alice.api.put(`/calendar/${calendarId}/events/${id}_20260303`, { title: 'Longer standup' });
    phone.offline();
    await events.update(id, { location: 'Room 1' });
    await events.remove(goneId);
    await converge(phone, laptop);
    expect(await theirs.list()).toEqual(await events.list());
    expect(await theirs.list()).toMatchObject([
      { title: 'Standup', location: 'Room 1', overrides: [{ title: 'Longer standup' }] },
    ]);
    await laptop.workspace.collection('calendars').remove(calendarId);
    await converge(laptop, phone);
    expect(await events.list()).toEqual([]);
    const left = await phone.workspace.collection('calendars').list({ where: ({ kind }) => kind === 'own' });
    expect(left.map((calendar) => calendar.id)).toEqual([await defaultCalendar(alice)]);
  });

  test('a lower role in a calendar takes the details of its events from the device', async () => {
    const [ann, ben] = await app.tenant(`tenant-${(number += 1)}`, 'ann', 'ben');
    const { group } = (await ann.api.post('/rbac/groups', { name: 'Team' })).body;
    const members = `/rbac/groups/${group.id}/members`;
    expect((await ann.api.post(members, { user_ids: [ben.id] })).status).toBe(201);
    const calendarId = await defaultCalendar(ann);
    const shares = [
      { group_id: group.id, role: 'reader' },
      { user_id: ben.id, role: 'free_busy' },
    ];
    expect((await ann.api.put(`/calendar/${calendarId}`, { shares })).status).toBe(200);
    await ann.api.post(`/calendar/${calendarId}/events`, { title: 'Salary', start: '2026-03-02' });
    const device = await Device.open(app.base, ben, { store: newStore() });
    open.push(device);
    await device.online();
    const titles = async () =>
      (await device.workspace.collection('events', calendarId).list()).map(({ title }) => title);
    expect(await titles()).toEqual(['Salary']);
    expect((await ann.api.delete(`${members}/${ben.id}`)).status).toBe(200);
    await device.online();
    expect(await titles()).toEqual(['']);
  });

  test('address books and contacts converge', async () => {
    const [phone, laptop, alice] = await devices();
    const { id: bookId } = (await alice.api.post('/contact/addressbooks', { name: 'Friends' })).body
      .addressbook;
    await converge(phone, laptop);
    phone.offline();
    const contacts = phone.workspace.collection('contacts', bookId);
    const id = await contacts.create({ full_name: 'Ann Lee', notes: 'first\nsecond\nthird' });
    const goneId = await contacts.create({ full_name: 'Bo' });
    await phone.workspace.collection('addressbooks').update(bookId, { name: 'Old friends' });
    await converge(phone, laptop);
    const theirs = laptop.workspace.collection('contacts', bookId);
    phone.offline();
    laptop.offline();
    await contacts.update(id, { notes: 'FIRST\nsecond\nthird' });
    await theirs.update(id, { notes: 'first\nsecond\nTHIRD', job_title: 'Pilot' });
    await theirs.remove(goneId);
    await converge(phone, laptop);
    expect(await contacts.list()).toEqual(await theirs.list());
    expect(await contacts.list()).toMatchObject([{ notes: 'FIRST\nsecond\nTHIRD', job_title: 'Pilot' }]);
    expect((await laptop.workspace.collection('addressbooks').get(bookId))!.name).toBe('Old friends');
  });

  test('lists are as new as a synchronisation that was asked for while they were read', async () => {
    const [device, , alice] = await devices();
    const calendarId = await defaultCalendar(alice);
    let later: Promise<void> | undefined;
    device.beforeResponse(async ({ path: asked }) => {
      if (later || !asked.startsWith('/apis/v1/calendar?')) return;
      await alice.api.put(`/calendar/${calendarId}`, { name: 'Renamed meanwhile' });
      later = device.workspace.sync();
    });
    await device.online();
    await later;
    expect((await device.workspace.collection('calendars').get(calendarId))!.name).toBe('Renamed meanwhile');
  });

  test('an address book counts the contacts that others have added', async () => {
    const [device, , alice] = await devices();
    const books = device.workspace.collection('addressbooks');
    const [book] = await books.list();
    for (const [n, external_id] of ['bob', 'carol'].entries()) {
      await alice.api.post(`/contact/addressbooks/${book!.id}/contacts`, {
        external_id,
        emails: [`${external_id}@acme.example`],
      });
      const count = book!.contacts_count! + n + 1;
      await until('the number', async () => (await books.get(book!.id))!.contacts_count === count);
    }
  });

  test('hundreds of changes are sent and read in a few requests', async () => {
    const [phone, laptop] = await devices();
    phone.offline();
    const folders = phone.workspace.collection('note_folders');
    const notes = phone.workspace.collection('notes');
    const folderId = await folders.create({ name: 'Archive' });
    for (let n = 0; n < 230; n += 1)
      await notes.create({ title: `note ${n}`, content: `<p>Text ${n}</p>`, folder_id: folderId });
    expect(await phone.workspace.pending()).toHaveLength(231);
    expect(await phone.workspace.pending(10)).toHaveLength(10);
    await converge(phone, laptop);
    const copies = await laptop.workspace.collection('notes').list();
    expect(new Set(copies.map(({ title }) => title)).size).toBe(230);
    expect(copies).toEqual(await notes.list());
    expect(phone.named('POST', '/notes').length).toBe(230);
    expect(phone.batches).toBeLessThan(30);
  });

  test('a live query follows this device and others', async () => {
    const [phone, laptop] = await devices();
    const notes = phone.workspace.collection('notes');
    const shown: string[] = [];
    const end = notes.live({ where: ({ labels }) => labels!.includes('a') }, (items) =>
      shown.push(items.map(({ title }) => title).join()),
    );
    await until('the first result', () => shown.length > 0);
    const id = await notes.create({ title: 'Live', labels: ['a'] });
    await until('the own note', () => shown.at(-1) === 'Live');
    await converge(phone, laptop);
    await laptop.workspace.collection('notes').update(id, { title: 'Changed' });
    await converge(laptop, phone);
    await until('the change', () => shown.at(-1) === 'Changed');
    await laptop.workspace.collection('notes').update(id, { labels: [] });
    await converge(laptop, phone);
    await until('the end', () => shown.at(-1) === '');
    end();
    await notes.create({ title: 'Unseen', labels: ['a'] });
    expect([shown[0], shown.includes('Unseen')]).toEqual(['', false]);
  });
});
