import { randomUUID } from 'node:crypto';
import { FeedRetention } from '../../../src/platform/sync/feed-retention.js';
import type { Conflict } from '@workspace-backend/client/sync';
import { type TestUser, TestApp } from '../../support/app.ts';
import { newCalendar, newEvent } from '../../support/domains/calendars.ts';
import { Device, type DeviceOptions } from '../../support/sdk/device.ts';

describe('conflicts of offline sync', () => {
  let app: TestApp;
  let alice: TestUser;
  let number = 0;
  const open: Device[] = [];

  beforeAll(async () => {
    app = await TestApp.start();
  });
  afterAll(() => app?.stop());
  beforeEach(async () => {
    [alice] = await app.tenant(`tenant-${(number += 1)}`, 'alice');
  });
  afterEach(() => Promise.all(open.splice(0).map(({ workspace }) => workspace.close())));

  const device = async (options: DeviceOptions = {}): Promise<Device> => {
    const opened = await Device.open(app.base, alice, options);
    open.push(opened);
    await opened.online();
    return opened;
  };
  const newNote = async (fields: object): Promise<string> =>
    (await alice.api.post('/notes', fields)).body.note.id;
  const noteOf = async (id: string) => (await alice.api.get(`/notes/${id}`)).body.note;
  /** A change of another client. */
  const change = async (id: string, fields: object): Promise<void> => {
    const { revision } = await noteOf(id);
    const { status } = await alice.api.patch(`/notes/${id}`, { ...fields, base_revision: revision });
    expect(status).toBe(200);
  };
  /** Removes removals, so that cursors before them expire. */
  const expire = () => app.get(FeedRetention).forget(new Date(Date.now() + 60_000));

  test('paragraphs and labels of both sides are merged; a collision is decided by the application', async () => {
    const conflicts: Conflict[] = [];
    const resolve = (conflict: Conflict) => {
      conflicts.push(conflict);
      return conflict.kind === 'field' ? `${conflict.server as string} / ${conflict.local as string}` : true;
    };
    const content = '<p>Rooms</p><p>Budget</p>';
    const id = await newNote({ title: 'Offsite', content, labels: ['a', 'b'] });
    const phone = await device({ resolve });
    phone.offline();
    const mine = { title: 'Mine', content: '<p>Two rooms</p><p>Budget</p>', labels: ['a', 'b', 'mine'] };
    await phone.workspace.collection('notes').update(id, mine);
    await change(id, {
      title: 'Theirs',
      content: '<p>Rooms</p><p>Budget of May</p>',
      labels: ['b', 'theirs'],
    });
    await phone.online();
    expect(await noteOf(id)).toMatchObject({
      title: 'Theirs / Mine',
      content: '<p>Two rooms</p><p>Budget of May</p>',
      labels: ['b', 'theirs', 'mine'],
      revision: 3,
    });
    expect(new Set(conflicts.map((conflict) => conflict.kind === 'field' && conflict.field))).toEqual(
      new Set(['title']),
    );
    expect(conflicts[0]).toMatchObject({ base: 'Offsite', local: 'Mine', server: 'Theirs', merged: 'Mine' });
    expect(phone.named('PATCH', '/notes').map(({ status }) => status)).toEqual([409, 200]);
    expect(await phone.workspace.pending()).toEqual([]);
  });

  test('a form that was open while others changed the object reverts nothing', async () => {
    const id = await newNote({ title: 'Offsite', labels: ['old'] });
    const phone = await device();
    const notes = phone.workspace.collection('notes');
    const seen = await notes.get(id);
    await change(id, { title: 'Renamed', labels: [] });
    await phone.online();
    await notes.update(id, { title: 'Offsite', labels: ['old', 'new'] }, seen);
    await phone.online();
    expect(await noteOf(id)).toMatchObject({ title: 'Renamed', labels: ['new'] });
  });

  test('a removal names the revision that was removed, in each collection', async () => {
    const calendarId = await newCalendar(alice, 'Team');
    const event = await newEvent(alice, calendarId, { title: 'Standup', start: '2026-03-02' });
    const book = (await alice.api.post('/contact/addressbooks', { name: 'Friends' })).body.addressbook.id;
    await alice.api.post(`/contact/addressbooks/${book}/contacts`, { full_name: 'Ann', external_id: 'ann' });
    const task = (await alice.api.post('/tasks', { title: 'Paint' })).body.task;
    const folder = (await alice.api.post('/note_folders', { name: 'Travel' })).body.note_folder;
    const list = (await alice.api.post('/task_folders', { name: 'House' })).body.task_folder;
    const noteId = await newNote({ title: 'Offsite' });
    const phone = await device();
    phone.offline();
    const { workspace } = phone;
    await workspace.collection('notes').remove(noteId);
    await workspace.collection('note_folders').remove(folder.id);
    await workspace.collection('tasks').remove(task.id);
    await workspace.collection('task_folders').remove(list.id);
    await workspace.collection('events', calendarId).remove(event.id);
    await workspace.collection('contacts', book).remove('ann');
    // Others change what has a trash, and what has none.
    await change(noteId, { title: 'Changed' });
    await alice.api.put(`/calendar/${calendarId}/events/${event.id}`, { title: 'Longer standup' });
    await phone.online();
    expect(await workspace.pending()).toEqual([]);
    expect(phone.named('DELETE', '/').map(({ body }) => typeof body?.['base_revision'])).toEqual(
      phone.named('DELETE', '/').map(() => 'number'),
    );
    expect(phone.named('DELETE', '/notes').map(({ status }) => status)).toEqual([409, 200]);
    expect(phone.named('DELETE', `/calendar/`).map(({ status }) => status)).toEqual([409]);
    expect(await noteOf(noteId)).toMatchObject({ title: 'Changed', deleted: true });
    expect(await workspace.collection('events', calendarId).get(event.id)).toMatchObject({
      title: 'Longer standup',
    });
    for (const path of [`/note_folders/${folder.id}`, `/task_folders/${list.id}`])
      expect((await alice.api.get(path)).status).toBe(404);
    expect((await alice.api.get(`/contact/addressbooks/${book}/contacts/ann`)).status).toBe(404);
  });

  test('after 410 the device reads the index again, and keeps what was saved', async () => {
    const [kept, edited, gone] = [
      await newNote({ title: 'Kept', content: '<p>Long text</p>' }),
      await newNote({ title: 'Edited' }),
      await newNote({ title: 'Gone' }),
    ];
    const book = (await alice.api.post('/contact/addressbooks', { name: 'Friends' })).body.addressbook.id;
    const contacts = `/contact/addressbooks/${book}/contacts`;
    for (const name of ['ann', 'bo']) await alice.api.post(contacts, { full_name: name, external_id: name });
    const phone = await device();
    const notes = phone.workspace.collection('notes');
    phone.offline();
    phone.parts.length = 0;
    const created = await notes.create({ title: 'Created offline' });
    await notes.update(edited, { title: 'Edited offline' });
    await notes.update(gone, { title: 'Edited too late' });
    await phone.workspace.collection('contacts', book).update('ann', { job_title: 'Pilot' });
    await alice.api.delete(`/notes/${gone}`, { base_revision: 1 });
    await alice.api.delete(`/notes/${gone}/purge`);
    await alice.api.delete(`${contacts}/bo`);
    await expire();
    await phone.online();
    const reads = phone.parts.filter(({ path }) => /\/(?:changes|index|contacts\/sync)\?/.test(path));
    expect(reads.filter(({ status }) => status === 410).map(({ path }) => path.split('?')[0])).toEqual(
      expect.arrayContaining(['/apis/v1/notes/changes', `/apis/v1${contacts}/sync`]),
    );
    expect((await notes.get(kept))!.content).toBe('<p>Long text</p>');
    expect(await noteOf(edited)).toMatchObject({ title: 'Edited offline', revision: 2 });
    expect(await noteOf(created)).toMatchObject({ title: 'Created offline', revision: 1 });
    expect(await phone.workspace.collection('contacts', book).list()).toMatchObject([
      { external_id: 'ann', job_title: 'Pilot' },
    ]);
    expect(await phone.workspace.pending()).toMatchObject([
      { id: gone, problem: { code: expect.any(String) } },
    ]);
    await notes.discard(gone);
    expect((await notes.list()).map(({ title }) => title).toSorted()).toEqual([
      'Created offline',
      'Edited offline',
      'Kept',
    ]);
  });

  test('after 410 contents that the device has are not read again', async () => {
    const [kept, gone] = [
      await newNote({ title: 'Kept', content: '<p>Text</p>' }),
      await newNote({ title: 'Gone' }),
    ];
    const phone = await device();
    phone.offline();
    phone.parts.length = 0;
    await alice.api.delete(`/notes/${gone}`, { base_revision: 1 });
    await alice.api.delete(`/notes/${gone}/purge`);
    await expire();
    await phone.online();
    const pages = phone.named('GET', '/notes/index').map(({ path }) => path);
    expect(pages.length).toBeGreaterThan(0);
    expect(pages.filter((path) => path.includes('include=content'))).toEqual([]);
    expect(await phone.workspace.collection('notes').list()).toMatchObject([
      { id: kept, content: '<p>Text</p>' },
    ]);
  });

  test('contents that the device has are not read again with its own edits', async () => {
    const ids = [
      await newNote({ title: 'One', content: '<p>One</p>' }),
      await newNote({ title: 'Two', content: '<p>Two</p>' }),
    ];
    const phone = await device();
    const notes = phone.workspace.collection('notes');
    const pagesOf = async (edits: () => Promise<void>) => {
      phone.offline();
      await edits();
      phone.parts.length = 0;
      await phone.online();
      expect(await phone.workspace.pending()).toEqual([]);
      const kept = await notes.list({ sort: (a, b) => (a.id < b.id ? -1 : 1) });
      expect(kept).toEqual(await Promise.all(kept.map(({ id }) => noteOf(id))));
      return phone.named('GET', '/notes/changes').map(({ path }) => /include=(\w+)/.exec(path)![1]);
    };
    const rename = async (title: string) => {
      for (const id of ids) await notes.update(id, { title });
    };
    expect(await pagesOf(() => rename('Offline'))).toEqual(['summary']);
    expect(await pagesOf(() => notes.update(ids[0]!, { content: '<p>Mine</p>' }))).toEqual(['content']);
    // Somebody else has written a content: the page is read again.
    const others = async () => {
      const { id, revision } = await noteOf(ids[1]!);
      await alice.api.patch(`/notes/${id}`, { content: '<p>Theirs</p>', base_revision: revision });
      await notes.update(ids[0]!, { title: 'Once more' });
    };
    expect(await pagesOf(others)).toEqual(['summary', 'content']);
  });

  test('a note that others have restored and written has their content after a restoration', async () => {
    const id = await newNote({ title: 'Offsite', content: '<p>Old</p>' });
    await alice.api.delete(`/notes/${id}`, { base_revision: 1 });
    const phone = await device();
    const notes = phone.workspace.collection('notes');
    phone.offline();
    await alice.api.post(`/notes/${id}/restore`);
    await change(id, { content: '<p>Theirs</p>' });
    await notes.restore(id);
    await phone.online();
    expect(await notes.get(id)).toMatchObject({ content: '<p>Theirs</p>', revision: 2, deleted: false });
    await notes.update(id, { content: '<p>Theirs and mine</p>' });
    await phone.online();
    expect(await noteOf(id)).toMatchObject({ content: '<p>Theirs and mine</p>', revision: 3 });
    // The note that a device creates without a content has one, too: its page is read once.
    phone.parts.length = 0;
    await notes.create({ title: 'New' });
    await phone.online();
    expect(phone.named('GET', '/notes/changes')).toHaveLength(1);
  });

  test('a rejected change keeps its problem until it is changed, and names what waits for it', async () => {
    const phone = await device();
    const { workspace } = phone;
    const [folders, notes] = [workspace.collection('note_folders'), workspace.collection('notes')];
    phone.offline();
    const folderId = await folders.create({ name: '' });
    const id = await notes.create({ title: 'In the folder', folder_id: folderId });
    await phone.online();
    expect(await workspace.pending()).toMatchObject([
      { collection: 'note_folders', id: folderId, problem: { status: 422 }, waitsFor: undefined },
      { collection: 'notes', id, problem: undefined, waitsFor: folderId },
    ]);
    await folders.update(folderId, { name: 'Travel' });
    await phone.online();
    expect(await workspace.pending()).toEqual([]);
    expect(await noteOf(id)).toMatchObject({ folder_id: folderId });
    const lostId = await folders.create({ name: '' });
    await notes.update(id, { folder_id: lostId });
    await phone.online();
    await folders.discard(lostId);
    await phone.online();
    expect(await workspace.pending()).toMatchObject([{ id, problem: { status: expect.any(Number) } }]);
    await notes.discard(id);
    expect((await notes.get(id))!.folder_id).toBe(folderId);
  });

  test('what was saved of an object that others delete before the device has read it is shown with its problem', async () => {
    const phone = await device();
    const folders = phone.workspace.collection('note_folders');
    const id = await folders.create({ name: 'Travel', color: '#112233' });
    phone.beforeResponse(async ({ path }) => {
      if (path !== '/apis/v1/note_folders') return;
      await folders.update(id, { name: 'Travel 2027' });
      expect((await alice.api.delete(`/note_folders/${id}`)).status).toBe(200);
    });
    await phone.online();
    const item = { id, name: 'Travel 2027', color: '#112233' };
    expect(await phone.workspace.pending()).toMatchObject([{ id, item, problem: { code: 'removed' } }]);
    await folders.discard(id);
    expect(await folders.list()).toEqual([]);
  });

  test('a workspace has its collections only', async () => {
    const phone = await device({ collections: ['notes', 'events'] });
    const { workspace } = phone;
    expect(() => workspace.collection('tasks')).toThrow('tasks is not among the collections');
    expect(() => workspace.collection('events' as never)).toThrow('events need an id of calendars');
    expect(() => workspace.collection('notes' as never, randomUUID())).toThrow(
      'notes have no containing object',
    );
    const end = AbortSignal.abort(new Error('enough'));
    await expect(workspace.sync(end)).rejects.toThrow('enough');
    await expect(workspace.collection('notes').update(randomUUID(), {})).rejects.toMatchObject({
      code: 'not_found',
    });
  });
});
