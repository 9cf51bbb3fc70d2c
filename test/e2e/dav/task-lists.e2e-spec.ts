import { randomUUID } from 'node:crypto';
import { jest } from '@jest/globals';
import { TaskResources, TaskResourceWrites } from '../../../src/modules/tasks/index.js';
import { TestApp, type TestUser } from '../../support/app.ts';
import { DavClient, goneOf, hrefsOf, NAMESPACES, valuesOf } from '../../support/dav/dav-client.ts';

const textOf = (uid: string, title: string): string =>
  `BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Test//EN\r\nBEGIN:VTODO\r\nUID:${uid}\r\nDTSTAMP:20260301T000000Z\r\nSUMMARY:${title}\r\nEND:VTODO\r\nEND:VCALENDAR\r\n`;

describe('lists of tasks in CalDAV', () => {
  let app: TestApp;
  let alice: TestUser;
  let client: DavClient;

  beforeAll(async () => {
    app = await TestApp.start();
    [alice] = await app.tenant('acme', 'alice');
    client = await DavClient.of(app, alice);
  });
  afterAll(() => app?.stop());

  const folder = async (name: string, fields: object = {}): Promise<{ id: string; path: string }> => {
    const { body } = await alice.api.post('/task_folders', { name, ...fields });
    return { id: body.folder.id, path: `${client.home('calendars')}${body.folder.id}/` };
  };
  const put = (to: string, uid: string, title: string, headers: Record<string, string> = {}) =>
    client.send('PUT', to, textOf(uid, title), headers);
  const named = async (title: string, state = '') =>
    (await alice.api.get(`/tasks?limit=100${state}`)).body.tasks.find((task: any) => task.title === title);
  /** The texts of a list by href. */
  const read = async (path: string): Promise<Map<string, { uid: string; title: string; etag: string }>> => {
    const { text } = await client.report(
      path,
      'C:calendar-query',
      '<D:prop><D:getetag/><C:calendar-data/></D:prop><C:filter><C:comp-filter name="VCALENDAR"><C:comp-filter name="VTODO"/></C:comp-filter></C:filter>',
    );
    const data = valuesOf(text, 'C:calendar-data');
    const etags = valuesOf(text, 'D:getetag');
    const lineOf = (content: string, name: string) => new RegExp(`${name}:(.*)\r`).exec(content)?.[1] ?? '';
    return new Map(
      hrefsOf(text).map((href, index) => {
        const content = data[index] as string;
        const etag = etags[index] as string;
        return [href, { uid: lineOf(content, '\nUID'), title: lineOf(content, 'SUMMARY'), etag }];
      }),
    );
  };
  const uidsOf = async (path: string) => [...(await read(path)).values()].map(({ uid }) => uid);

  const makeList = (path: string) =>
    client.send(
      'MKCALENDAR',
      path,
      `<C:mkcalendar ${NAMESPACES}><D:set><D:prop><D:displayname>Errands</D:displayname><I:calendar-order>3</I:calendar-order><X:note xmlns:X="urn:x">n</X:note><C:supported-calendar-component-set><C:comp name="VTODO"/></C:supported-calendar-component-set></D:prop></D:set></C:mkcalendar>`,
    );

  test('a list that was deleted is made again under its name', async () => {
    const path = `${client.home('calendars')}errands/`;
    const make = () => makeList(path);
    for (const round of ['first', 'second', 'third']) {
      expect((await make()).status).toBe(201);
      expect((await make()).status).toBe(405);
      expect(await uidsOf(path)).toEqual([]);
      expect((await put(`${path}one.ics`, round, round)).status).toBe(201);
      expect(await uidsOf(path)).toEqual([round]);
      expect((await client.send('DELETE', path)).status).toBe(204);
      expect((await client.propfind(path, '<D:displayname/>')).status).toBe(404);
    }
  });

  test('a list of a name that another request makes at the same time is rejected', async () => {
    const path = `${client.home('calendars')}raced/`;
    const raced = async (): Promise<number> => {
      // The request has looked for the list before the other one has made it.
      const looked = jest.spyOn(app.get(TaskResources), 'openIfAny').mockResolvedValueOnce(null);
      const { status } = await makeList(path);
      looked.mockRestore();
      return status;
    };
    expect((await makeList(path)).status).toBe(201);
    expect(await raced()).toBe(409);
    await client.send('DELETE', path);
    expect((await makeList(path)).status).toBe(201);
    expect(await raced()).toBe(409);
    const { body } = await alice.api.get('/task_folders');
    expect(body.folders.filter(({ name }: { name: string }) => name === 'Errands')).toHaveLength(1);
  });

  test('a task that another request deletes during a write is created again', async () => {
    const { path } = await folder('Overtaken');
    const to = `${path}one.ics`;
    const writes = app.get(TaskResourceWrites);
    /** PUT that has found the task before the other request deletes it. */
    const overtaken = async (headers: Record<string, string> = {}) => {
      const update = writes.update.bind(writes);
      const begun = jest.spyOn(writes, 'update').mockImplementationOnce(async (...given) => {
        expect((await client.send('DELETE', to)).status).toBe(204);
        return update(...given);
      });
      const { status } = await put(to, 'one', 'Again', headers);
      expect(begun).toHaveBeenCalledTimes(1);
      begun.mockRestore();
      return status;
    };
    expect((await put(to, 'one', 'One')).status).toBe(201);
    expect(await overtaken()).toBe(201);
    expect(await uidsOf(path)).toEqual(['one']);
    expect(await overtaken({ 'If-Match': await client.etag(to) })).toBe(412);
    expect(await uidsOf(path)).toEqual([]);
  });

  test('a list that takes the id of a deleted calendar is found at once', async () => {
    const id = randomUUID();
    const path = `${client.home('calendars')}${id}/`;
    await alice.api.post('/calendar', { id, name: 'First a calendar' });
    const find = () => client.propfind(path, '<D:displayname/>');
    expect((await find()).text).toContain('First a calendar');
    await alice.api.delete(`/calendar/${id}`);
    expect((await find()).status).toBe(404);
    await folder('Then a list', { id });
    expect((await find()).text).toContain('Then a list');
    expect((await put(`${path}one.ics`, 'one', 'One')).status).toBe(201);
    expect(await uidsOf(path)).toEqual(['one']);
  });

  test('the id of a task in capitals is another name', async () => {
    const { id: folderId, path } = await folder('Capitals');
    const { body } = await alice.api.post('/tasks', { title: 'Small', folder_id: folderId });
    const [small, capital] = [`${path}${body.task.id}.ics`, `${path}${body.task.id.toUpperCase()}.ics`];
    expect((await client.send('GET', capital)).status).toBe(404);
    const { text } = await client.report(
      path,
      'C:calendar-multiget',
      `<D:prop><D:getetag/></D:prop><D:href>${small}</D:href><D:href>${capital}</D:href>`,
    );
    expect([hrefsOf(text), goneOf(text)]).toEqual([[small], [capital]]);
    expect((await client.send('DELETE', capital)).status).toBe(404);
    expect((await client.send('GET', small)).status).toBe(200);
  });

  test('a restored task whose UID the list has meanwhile gets another one', async () => {
    const { path } = await folder('Restored');
    await put(`${path}a.ics`, 'shared-uid', 'Before');
    const { id } = await named('Before');
    const etag = await client.etag(`${path}a.ics`);
    await client.send('DELETE', `${path}a.ics`);
    expect((await put(`${path}b.ics`, 'shared-uid', 'After')).status).toBe(201);
    expect((await alice.api.post(`/tasks/${id}/restore`)).status).toBe(200);
    const found = await read(path);
    expect([...found.values()].map(({ title }) => title).toSorted()).toEqual(['After', 'Before']);
    expect(new Set([...found.values()].map(({ uid }) => uid)).size).toBe(2);
    expect(found.get(`${path}b.ics`)).toMatchObject({ uid: 'shared-uid', title: 'After' });
    // The text has changed, so has the tag.
    expect([...found.values()].some((each) => each.etag === etag)).toBe(false);
    // Without another one, the task keeps it.
    await put(`${path}c.ics`, 'own-uid', 'Own');
    const own = await named('Own');
    const before = await client.etag(`${path}c.ics`);
    await client.send('DELETE', `${path}c.ics`);
    await alice.api.post(`/tasks/${own.id}/restore`);
    expect((await read(path)).get(`${path}c.ics`)).toMatchObject({ uid: 'own-uid', etag: before });
  });

  test('a task that moves into a list with its UID gets another one', async () => {
    const [from, to] = [await folder('From'), await folder('To')];
    await put(`${from.path}a.ics`, 'moved-uid', 'Moved');
    await put(`${to.path}a.ics`, 'moved-uid', 'Stays');
    const { id } = await named('Moved');
    expect((await alice.api.patch(`/tasks/${id}`, { folder_id: to.id })).status).toBe(200);
    const uids = await uidsOf(to.path);
    expect([uids.length, new Set(uids).size, uids.includes('moved-uid')]).toEqual([2, 2, true]);
    // Programs copy a task of the API with its UID, which is its id.
    const { body } = await alice.api.post('/tasks', { title: 'Of the API', folder_id: from.id });
    await put(`${to.path}copy.ics`, body.task.id, 'Copy');
    await alice.api.patch(`/tasks/${body.task.id}`, { folder_id: to.id });
    const all = await uidsOf(to.path);
    expect([all.length, new Set(all).size]).toEqual([4, 4]);
    // Back in the list without another one, it keeps the UID that it has now.
    await alice.api.patch(`/tasks/${id}`, { folder_id: from.id });
    expect((await uidsOf(from.path)).filter((uid) => uid === 'moved-uid')).toEqual([]);
  });

  test('a restore and a PUT of the same UID at once leave one task with the UID', async () => {
    const { path } = await folder('At once');
    for (let round = 0; round < 4; round += 1) {
      const uid = `raced-${round}`;
      await put(`${path}${uid}.ics`, uid, `First ${round}`);
      const { id } = await named(`First ${round}`);
      await client.send('DELETE', `${path}${uid}.ics`);
      await Promise.all([
        alice.api.post(`/tasks/${id}/restore`),
        put(`${path}${uid}-b.ics`, uid, `Second ${round}`),
      ]);
      expect((await uidsOf(path)).filter((each) => each === uid)).toHaveLength(1);
    }
  });
});
