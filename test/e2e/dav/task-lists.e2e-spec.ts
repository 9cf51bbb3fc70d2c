import { randomUUID } from 'node:crypto';
import { TestApp, type TestUser } from '../../support/app.ts';
import { DavClient, hrefsOf, valuesOf } from '../../support/dav/dav-client.ts';

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
  const put = (to: string, uid: string, title: string) => client.send('PUT', to, textOf(uid, title));
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
});
