import { TestApp, type TestUser } from '../../support/app.ts';
import { DavClient, goneOf, hrefsOf, NAMESPACES, valuesOf } from '../../support/dav/dav-client.ts';

const ICS = { 'content-type': 'text/calendar' };
const textOf = (uid: string, ...lines: string[]): string =>
  [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//Test//EN',
    'BEGIN:VTODO',
    `UID:${uid}`,
    'DTSTAMP:20260301T000000Z',
    ...lines,
    'END:VTODO',
    'END:VCALENDAR',
    '',
  ].join('\r\n');

describe('tasks in CalDAV', () => {
  let app: TestApp;
  let alice: TestUser;
  let bob: TestUser;
  let client: DavClient;
  let bobs: DavClient;
  let path: string;
  let id: string;

  beforeAll(async () => {
    app = await TestApp.start();
    [alice, bob] = await app.tenant('acme', 'alice', 'bob');
    client = await DavClient.of(app, alice);
    bobs = await DavClient.of(app, bob);
    ({ path, id } = await folder('Errands', { color: '#2f80ed' }));
  });
  afterAll(() => app?.stop());

  const folder = async (name: string, fields: object = {}) => {
    const { body } = await alice.api.post('/task_folders', { name, ...fields });
    return { id: body.folder.id as string, path: `${client.home('calendars')}${body.folder.id}/` };
  };
  const put = (to: string, text: string, headers: Record<string, string> = {}, by = client) =>
    by.send('PUT', to, text, { ...ICS, ...headers });
  const tasks = async (folderId = id, by = alice) =>
    (await by.api.get(`/tasks?folder_id=${folderId}&limit=100`)).body.tasks as any[];
  const titled = async (title: string, folderId = id) =>
    (await tasks(folderId)).find((task) => task.title === title);
  const sync = async (on: string, token = '', by = client) => {
    const { status, text } = await by.report(
      on,
      'D:sync-collection',
      `<D:sync-token>${token}</D:sync-token><D:sync-level>1</D:sync-level><D:prop><D:getetag/></D:prop>`,
    );
    return { status, text, token: valuesOf(text, 'D:sync-token')[0] as string };
  };
  const query = (on: string, content: string) =>
    client.report(
      on,
      'C:calendar-query',
      `<D:prop><D:getetag/><C:calendar-data/></D:prop><C:filter><C:comp-filter name="VCALENDAR">${content}</C:comp-filter></C:filter>`,
    );

  test('the home lists a task folder as a collection of tasks', async () => {
    const { text } = await client.propfind(
      client.home('calendars'),
      '<D:resourcetype/><D:displayname/><I:calendar-color/><C:supported-calendar-component-set/><S:getctag/><D:current-user-privilege-set/>',
      '1',
    );
    const part = text.split('<D:response>').find((each) => each.includes(path)) as string;
    expect(part).toContain('<D:displayname>Errands</D:displayname>');
    expect(part).toContain('<I:calendar-color>#2f80ed</I:calendar-color>');
    expect(part).toContain(
      '<C:supported-calendar-component-set><C:comp name="VTODO"/></C:supported-calendar-component-set>',
    );
    expect(part).toContain('<D:write-content/>');
    expect(part).toMatch(/<S:getctag>c1\./);
  });

  test('a task is created, read, replaced and deleted; an old ETag changes nothing', async () => {
    const to = `${path}one.ics`;
    const text = textOf(
      'one',
      'SUMMARY:Simple',
      'DUE;TZID=Europe/Berlin:20261201T170000',
      'PRIORITY:1',
      'X-UNKNOWN;A=b:c',
    );
    const made = await put(to, text, { 'if-none-match': '*' });
    expect([made.status, made.headers.get('etag')]).toEqual([201, null]);
    expect(await titled('Simple')).toMatchObject({
      due_at: '2026-12-01T16:00:00.000Z',
      time_zone: 'Europe/Berlin',
      priority: 'high',
      revision: 1,
    });
    const read = await client.send('GET', to);
    expect(read.headers.get('content-type')).toBe('text/calendar; charset=utf-8; component=VTODO');
    for (const line of ['UID:one', 'X-UNKNOWN;A=b:c', 'PRIORITY:1', 'BEGIN:VTIMEZONE'])
      expect(read.text).toContain(`${line}\r\n`);
    const etag = read.headers.get('etag') as string;
    expect((await put(to, read.text, { 'if-match': etag })).status).toBe(204);
    expect(await client.etag(to)).toBe(etag);
    expect((await put(to, read.text, { 'if-none-match': '*' })).status).toBe(412);
    const changed = read.text.replace('Simple', 'Changed').replace('NEEDS-ACTION', 'COMPLETED');
    expect((await put(to, changed, { 'if-match': etag })).status).toBe(204);
    expect(await titled('Changed')).toMatchObject({ status: 'done', done: true, revision: 2 });
    expect((await put(to, read.text, { 'if-match': etag })).status).toBe(412);
    expect((await client.send('DELETE', to, undefined, { 'if-match': etag })).status).toBe(412);
    const current = { 'if-match': await client.etag(to) };
    expect((await client.send('DELETE', to, undefined, current)).status).toBe(204);
    expect((await client.send('GET', to)).status).toBe(404);
    expect(await titled('Changed')).toBeUndefined();
    // The name and the UID are free again.
    expect((await put(to, text, { 'if-none-match': '*' })).status).toBe(201);
    expect((await client.send('DELETE', to)).status).toBe(204);
  });

  test('a task of the HTTP API is read under its id and edited', async () => {
    const { body } = await alice.api.post('/tasks', {
      title: 'From the API',
      folder_id: id,
      description: '<p>One</p><p>Two</p>',
      labels: ['a'],
      date: '2026-12-01',
      reminders: [{ minutes_before: 15 }],
    });
    const to = `${path}${body.task.id}.ics`;
    const { text } = await client.send('GET', to);
    for (const line of [
      `UID:${body.task.id}`,
      'DUE;VALUE=DATE:20261201',
      'CATEGORIES:a',
      'TRIGGER;RELATED=END:-PT15M',
    ])
      expect(text).toContain(`${line}\r\n`);
    expect((await put(to, text)).status).toBe(204);
    expect((await titled('From the API')).revision).toBe(1);
    expect((await put(to, text.replace('CATEGORIES:a', 'CATEGORIES:a,b'))).status).toBe(204);
    expect(await titled('From the API')).toMatchObject({
      labels: ['a', 'b'],
      description: '<p>One</p><p>Two</p>',
      reminders: [{ minutes_before: 15 }],
      revision: 2,
    });
  });

  test('of concurrent writes one takes effect, the others get 412', async () => {
    const to = `${path}race.ics`;
    const outcome = async (title: string, headers: Record<string, string>) => {
      const writes = Array.from({ length: 6 }, (_, n) =>
        put(to, textOf('race', `SUMMARY:${title} ${n}`), headers),
      );
      return (await Promise.all(writes)).map(({ status }) => status).toSorted();
    };
    expect(await outcome('New', { 'if-none-match': '*' })).toEqual([201, 412, 412, 412, 412, 412]);
    expect(await outcome('Edited', { 'if-match': await client.etag(to) })).toEqual([
      204, 412, 412, 412, 412, 412,
    ]);
  });

  test('completing a repeating task makes the next one', async () => {
    const list = await folder('Repeating');
    const to = `${list.path}weekly.ics`;
    const text = textOf(
      'weekly',
      'SUMMARY:Water the plants',
      'DTSTART;VALUE=DATE:20261201',
      'DUE;VALUE=DATE:20261201',
      'RRULE:FREQ=WEEKLY',
    );
    expect((await put(to, text)).status).toBe(201);
    const { text: read } = await client.send('GET', to);
    expect((await put(to, read.replace('NEEDS-ACTION', 'COMPLETED'))).status).toBe(204);
    const found = await tasks(list.id);
    expect(found.map(({ date, status }) => `${date} ${status}`).toSorted()).toEqual([
      '2026-12-01 done',
      '2026-12-08 open',
    ]);
    expect((await client.send('GET', to)).text).not.toContain('RRULE');
    const next = found.find(({ status }) => status === 'open');
    const other = (await client.send('GET', `${list.path}${next.id}.ics`)).text;
    for (const line of [`UID:${next.id}`, 'DUE;VALUE=DATE:20261208', 'RRULE:FREQ=WEEKLY'])
      expect(other).toContain(`${line}\r\n`);
  });

  test('synchronisation reports changes, removals and moves, of this list only', async () => {
    const [one, two] = [await folder('One'), await folder('Two')];
    const first = await sync(one.path);
    expect([first.status, hrefsOf(first.text)]).toEqual([207, []]);
    const quiet = await sync(one.path, first.token);
    expect([hrefsOf(quiet.text), goneOf(quiet.text)]).toEqual([[], []]);
    await put(`${one.path}a.ics`, textOf('a', 'SUMMARY:A'));
    await put(`${one.path}b.ics`, textOf('b', 'SUMMARY:B'));
    await put(`${two.path}c.ics`, textOf('c', 'SUMMARY:C'));
    const second = await sync(one.path, first.token);
    expect(hrefsOf(second.text).toSorted()).toEqual([`${one.path}a.ics`, `${one.path}b.ics`]);
    await client.send('DELETE', `${one.path}a.ics`);
    const moved = await titled('B', one.id);
    await alice.api.patch(`/tasks/${moved.id}`, { folder_id: two.id });
    const third = await sync(one.path, second.token);
    expect([hrefsOf(third.text), goneOf(third.text).toSorted()]).toEqual([
      [],
      [`${one.path}a.ics`, `${one.path}b.ics`],
    ]);
    const other = await sync(two.path);
    expect(hrefsOf(other.text).toSorted()).toEqual(
      [`${two.path}${moved.id}.ics`, `${two.path}c.ics`].toSorted(),
    );
    // A token of another list is none of this one.
    const wrong = await sync(two.path, third.token);
    expect([wrong.status, wrong.text]).toEqual([403, expect.stringContaining('<D:valid-sync-token/>')]);
  });

  test('a limit ends the response of a synchronisation, which continues from its token', async () => {
    const list = await folder('Long');
    for (const n of [1, 2, 3]) await put(`${list.path}${n}.ics`, textOf(`long-${n}`, `SUMMARY:${n}`));
    const seen: string[] = [];
    let token = '';
    for (let page = 0; page < 2; page += 1) {
      const { text } = await client.report(
        list.path,
        'D:sync-collection',
        `<D:sync-token>${token}</D:sync-token><D:sync-level>1</D:sync-level><D:limit><D:nresults>2</D:nresults></D:limit><D:prop><D:getetag/></D:prop>`,
      );
      seen.push(...hrefsOf(text).filter((href) => href.endsWith('.ics')));
      token = valuesOf(text, 'D:sync-token')[0] as string;
    }
    expect(seen.toSorted()).toEqual([1, 2, 3].map((n) => `${list.path}${n}.ics`));
  });

  test('a due date at the end of the calendar, and what cannot be read any more, are no fault of a list', async () => {
    const list = await folder('Last');
    const due = 'DUE;TZID=Europe/Berlin:20260504T090000';
    await put(`${list.path}last.ics`, textOf('last', 'SUMMARY:Last', due, 'PRIORITY:2'));
    const recurring = [due.replace('DUE', 'DTSTART'), due, 'RRULE:FREQ=WEEKLY;COUNT=3'];
    await put(`${list.path}series.ics`, textOf('series', 'SUMMARY:Series', ...recurring));
    await put(
      `${list.path}faulty.ics`,
      textOf('faulty', 'SUMMARY:Faulty', 'X-FOO:1', 'DUE:20260504T090000Z'),
    );
    for (const title of ['Last', 'Series']) {
      const { id: taskId } = await titled(title, list.id);
      const { status } = await alice.api.patch(`/tasks/${taskId}`, { due_at: '9999-12-31T23:30:00Z' });
      expect(status).toBe(200);
    }
    const alarms = [
      { name: 'VALARM', properties: [{ name: 'TRIGGER', parameters: [], value: 'PT' }], components: [] },
    ];
    await app.sql(`UPDATE tasks SET icalendar = icalendar || $1 WHERE title = 'Faulty'`, [
      JSON.stringify({ alarms }),
    ]);
    const names = ['faulty', 'last', 'series'].map((name) => `${list.path}${name}.ics`);
    const queried = await query(list.path, '<C:comp-filter name="VTODO"/>');
    const window = 'start="20260101T000000Z" end="20270101T000000Z"';
    const multi = await client.report(
      list.path,
      'C:calendar-multiget',
      `<D:prop><C:calendar-data><C:expand ${window}/></C:calendar-data></D:prop>${names.map((name) => `<D:href>${name}</D:href>`).join('')}`,
    );
    for (const { status, text } of [queried, multi]) {
      expect(status).toBe(207);
      expect(hrefsOf(text).toSorted()).toEqual(names);
    }
    expect(queried.text).toContain('DUE;TZID=Europe/Berlin:99991231T235959');
    for (const name of names) {
      const { status, text, headers } = await client.send('GET', name);
      expect(status).toBe(200);
      expect((await put(name, text)).status).toBe(204);
      expect((await put(name, text.replace('SUMMARY', 'X-BAR:2\r\nSUMMARY'))).status).toBe(204);
      expect(await client.etag(name)).not.toBe(headers.get('etag'));
    }
    expect(await titled('Last', list.id)).toMatchObject({ due_at: '9999-12-31T23:30:00.000Z' });
  });

  test('multiget and queries', async () => {
    const list = await folder('Queried');
    await put(`${list.path}due.ics`, textOf('due', 'SUMMARY:Due', 'DUE:20260302T120000Z'));
    await put(
      `${list.path}done.ics`,
      textOf(
        'done',
        'SUMMARY:Done',
        'CREATED:20241231T000000Z',
        'STATUS:COMPLETED',
        'COMPLETED:20250101T000000Z',
      ),
    );
    const multi = await client.report(
      list.path,
      'C:calendar-multiget',
      `<D:prop><C:calendar-data/></D:prop><D:href>${list.path}due.ics</D:href><D:href>${list.path}none.ics</D:href>`,
    );
    expect(multi.text).toContain('SUMMARY:Due');
    expect(goneOf(multi.text)).toEqual([`${list.path}none.ics`]);
    const found = async (content: string) => hrefsOf((await query(list.path, content)).text);
    const all = [`${list.path}done.ics`, `${list.path}due.ics`];
    expect((await found('<C:comp-filter name="VTODO"/>')).toSorted()).toEqual(all);
    expect(await found('<C:comp-filter name="VEVENT"/>')).toEqual([]);
    expect(
      await found(
        '<C:comp-filter name="VTODO"><C:prop-filter name="COMPLETED"><C:is-not-defined/></C:prop-filter></C:comp-filter>',
      ),
    ).toEqual([all[1]]);
    const range = (start: string, end: string) =>
      found(`<C:comp-filter name="VTODO"><C:time-range start="${start}" end="${end}"/></C:comp-filter>`);
    expect(await range('20260302T000000Z', '20260303T000000Z')).toEqual([all[1]]);
    expect(await range('20260303T000000Z', '20260304T000000Z')).toEqual([]);
    const done = (await client.send('GET', `${list.path}done.ics`)).text;
    for (const line of ['CREATED:20241231T000000Z', 'COMPLETED:20250101T000000Z'])
      expect(done).toContain(`${line}\r\n`);
    const busy = await client.report(
      list.path,
      'C:free-busy-query',
      '<C:time-range start="20260302T000000Z"/>',
    );
    expect([busy.status, busy.text]).toEqual([403, expect.stringContaining('<D:supported-report/>')]);
  });

  test('queries expand repeating tasks', async () => {
    const list = await folder('Expanded');
    const to = `${list.path}daily.ics`;
    const lines = ['SUMMARY:Daily', 'DUE;TZID=Europe/Berlin:20260302T120000', 'RRULE:FREQ=DAILY'];
    expect((await put(to, textOf('daily', ...lines))).status).toBe(201);
    const expand =
      '<D:prop><C:calendar-data><C:expand start="20260310T000000Z" end="20260312T000000Z"/></C:calendar-data></D:prop>';
    const range = '<C:time-range start="20260310T000000Z" end="20260312T000000Z"/>';
    const queried = await client.report(
      list.path,
      'C:calendar-query',
      `${expand}<C:filter><C:comp-filter name="VCALENDAR"><C:comp-filter name="VTODO">${range}</C:comp-filter></C:comp-filter></C:filter>`,
    );
    const multi = await client.report(list.path, 'C:calendar-multiget', `${expand}<D:href>${to}</D:href>`);
    for (const { text } of [queried, multi]) {
      expect(hrefsOf(text)).toEqual([to]);
      const [data = ''] = valuesOf(text, 'C:calendar-data');
      expect([...data.matchAll(/(?:DUE|RECURRENCE-ID):(.*)\r/g)].map(([, time]) => time).toSorted()).toEqual([
        '20260310T110000Z',
        '20260310T110000Z',
        '20260311T110000Z',
        '20260311T110000Z',
      ]);
      expect(data).not.toMatch(/RRULE|VTIMEZONE/);
    }
  });

  test('errors have the conditions of RFC 4791', async () => {
    const condition = async (text: string, to = `${path}bad.ics`) => {
      const response = await put(to, text);
      return [response.status, /<C:([\w-]+)/.exec(response.text)?.[1]];
    };
    const simple = textOf('bad', 'SUMMARY:Bad');
    expect(await condition('nothing')).toEqual([403, 'valid-calendar-data']);
    expect(await condition(textOf('bad', 'DUE:never'))).toEqual([403, 'valid-calendar-data']);
    const backwards = ['DTSTART:20260302T000000Z', 'DUE:20260301T000000Z', 'RRULE:FREQ=DAILY'];
    expect(await condition(textOf('bad', ...backwards))).toEqual([403, 'valid-calendar-data']);
    expect(await condition(simple.replaceAll('VTODO', 'VEVENT'))).toEqual([
      403,
      'supported-calendar-component',
    ]);
    expect(await condition(simple.replace('UID:bad\r\n', ''))).toEqual([
      403,
      'valid-calendar-object-resource',
    ]);
    expect(await condition(textOf('bad', `X-LARGE:${'x'.repeat(256 * 1024)}`))).toEqual([
      403,
      'max-resource-size',
    ]);
    expect((await put(`${path}good.ics`, textOf('good', 'SUMMARY:Good'))).status).toBe(201);
    const twice = await put(`${path}twice.ics`, textOf('good', 'SUMMARY:Twice'));
    expect([twice.status, twice.text]).toEqual([
      409,
      expect.stringContaining(`<C:no-uid-conflict><D:href>${path}good.ics</D:href></C:no-uid-conflict>`),
    ]);
    expect((await put(`${path}good.ics`, textOf('other', 'SUMMARY:Other'))).status).toBe(409);
    expect(await titled('Bad')).toBeUndefined();
  });

  test('MKCALENDAR for tasks makes a task folder; PROPPATCH changes it; DELETE empties it into the trash', async () => {
    const to = `${client.home('calendars')}groceries/`;
    const body = `<C:mkcalendar ${NAMESPACES}><D:set><D:prop><D:displayname>Groceries</D:displayname><I:calendar-color>#ff0000ff</I:calendar-color><C:supported-calendar-component-set><C:comp name="VTODO"/></C:supported-calendar-component-set></D:prop></D:set></C:mkcalendar>`;
    expect((await client.send('MKCALENDAR', to, body)).status).toBe(201);
    expect((await client.send('MKCALENDAR', to, body)).status).toBe(405);
    const made = (await alice.api.get('/task_folders')).body.folders.find(
      (each: any) => each.name === 'Groceries',
    );
    expect(made.color).toBe('#ff0000');
    expect((await put(`${to}milk.ics`, textOf('milk', 'SUMMARY:Milk'))).status).toBe(201);
    expect((await client.send('GET', `${to}milk.ics`)).status).toBe(200);
    const patch = (property: string) =>
      client.send(
        'PROPPATCH',
        to,
        `<D:propertyupdate ${NAMESPACES}><D:set><D:prop>${property}</D:prop></D:set></D:propertyupdate>`,
      );
    const order = async () =>
      valuesOf((await client.propfind(to, '<I:calendar-order/>')).text, 'I:calendar-order');
    expect(await order()).toEqual([]);
    expect((await patch('<I:calendar-order>7</I:calendar-order>')).text).toContain('200 OK');
    expect(await order()).toEqual(['7']);
    expect((await patch('<I:calendar-order/>')).text).toContain('200 OK');
    expect(await order()).toEqual([]);
    expect((await patch('<D:displayname>Food</D:displayname>')).text).toContain('200 OK');
    expect((await patch('<C:calendar-description>x</C:calendar-description>')).text).toContain(
      '403 Forbidden',
    );
    expect((await alice.api.get(`/task_folders/${made.id}`)).body.folder.name).toBe('Food');
    expect((await client.send('DELETE', to)).status).toBe(204);
    expect((await client.propfind(to, '<D:displayname/>')).status).toBe(404);
    const { body: trash } = await alice.api.get('/tasks/index?limit=100');
    expect(trash.tasks.find((task: any) => task.title === 'Milk')).toMatchObject({ deleted: true });
  });

  test('members of a shared folder have the rights of their role', async () => {
    const list = await folder('Shared', { members: [{ email: bob.email, role: 'viewer' }] });
    const own = `${bobs.home('calendars')}${list.id}/`;
    await put(`${list.path}shared.ics`, textOf('shared', 'SUMMARY:Shared task'));
    const read = await bobs.send('GET', `${own}shared.ics`);
    expect([read.status, read.text]).toEqual([200, expect.stringContaining('SUMMARY:Shared task')]);
    const privileges = async () =>
      (await bobs.propfind(own, '<D:current-user-privilege-set/>')).text.includes('<D:write-content/>');
    const placed = await bobs.send(
      'PROPPATCH',
      own,
      `<D:propertyupdate ${NAMESPACES}><D:set><D:prop><I:calendar-order>3</I:calendar-order></D:prop></D:set></D:propertyupdate>`,
    );
    expect(placed.text).toContain('200 OK');
    expect((await bobs.propfind(own, '<I:calendar-order/>')).text).toContain('>3<');
    expect((await client.propfind(list.path, '<I:calendar-order/>')).text).not.toContain('>3<');
    const edit = () => put(`${own}shared.ics`, read.text.replace('Shared task', 'Edited'), {}, bobs);
    expect([await privileges(), (await edit()).status]).toEqual([false, 403]);
    await alice.api.patch(`/task_folders/${list.id}`, { members: [{ email: bob.email, role: 'editor' }] });
    expect([await privileges(), (await edit()).status]).toEqual([true, 204]);
    // Only its creator moves a task to the trash, and only the owner changes the folder.
    expect((await bobs.send('DELETE', `${own}shared.ics`)).status).toBe(403);
    expect((await bobs.send('DELETE', own)).status).toBe(403);
    expect((await put(`${own}bob.ics`, textOf('bob', 'SUMMARY:Of Bob'), {}, bobs)).status).toBe(201);
    expect((await client.send('GET', `${list.path}bob.ics`)).status).toBe(200);
    await alice.api.patch(`/task_folders/${list.id}`, { members: [] });
    expect((await bobs.send('GET', `${own}shared.ics`)).status).toBe(404);
    expect((await bobs.send('GET', `${bobs.home('calendars')}${id}/one.ics`)).status).toBe(404);
  });
});
