import { TestApp, type TestUser } from '../../support/app.ts';
import { DavClient } from '../../support/dav/dav-client.ts';
import { icsFile, importFile, newCalendar, vevent } from '../../support/domains/calendars.ts';

const ICS = { 'content-type': 'text/calendar' };
const LONG = `040000008200E00074C5B7101A82E008-${'0123456789abcdef'.repeat(40)}`;
const OTHER = `${LONG}-other`;

/** UIDs that are longer than the database indexes: RFC 7986, 5.3 asks for less than 255 octets, but some programs write more. */
describe('UIDs of more than 500 characters', () => {
  let app: TestApp;
  let ann: TestUser;
  let dav: DavClient;

  beforeAll(async () => {
    app = await TestApp.start();
    [ann] = await app.tenant('acme', 'ann');
    dav = await DavClient.of(app, ann);
  });
  afterAll(() => app?.stop());

  const STAMP = 'DTSTAMP:20260101T000000Z';
  const series = (uid: string, title: string) => [
    ...vevent(
      `UID:${uid}`,
      STAMP,
      `SUMMARY:${title}`,
      'DTSTART:20300107T090000Z',
      'RRULE:FREQ=DAILY;COUNT=3',
    ),
    ...vevent(
      `UID:${uid}`,
      STAMP,
      'RECURRENCE-ID:20300108T090000Z',
      'DTSTART:20300108T120000Z',
      `SUMMARY:${title} later`,
    ),
  ];
  const titles = async (calendar: string): Promise<string[]> =>
    (await ann.api.get(`/calendar/${calendar}/instances?from=2030-01-01&to=2030-02-01`)).body.instances
      .map(({ title }: any) => title)
      .toSorted();
  const uidsIn = (text: string): string[] =>
    [...text.replaceAll('\r\n ', '').matchAll(/^UID:(.*)\r$/gm)].map(([, uid]) => uid as string);

  test('are those of their events in files, each once', async () => {
    const calendar = await newCalendar(ann, 'Imported');
    const file = icsFile(...series(LONG, 'One'), ...series(OTHER, 'Two'));
    const first = await importFile(ann, calendar, file);
    expect(first.body.results).toMatchObject([{ status: 201 }, { status: 201 }]);
    const ALL = ['One', 'One', 'One later', 'Two', 'Two', 'Two later'];
    expect(await titles(calendar)).toEqual(ALL);
    const { text } = await ann.api.get(`/calendar/${calendar}/export.ics`);
    expect(uidsIn(text).toSorted()).toEqual([LONG, LONG, OTHER, OTHER].toSorted());
    for (const again of [file, text]) {
      const { body } = await importFile(ann, calendar, again);
      expect(body.results.map(({ status }: any) => status)).toEqual([200, 200]);
    }
    expect(await titles(calendar)).toEqual(ALL);
  });

  test('stay as a CalDAV program writes them', async () => {
    const calendar = await newCalendar(ann, 'Program');
    const path = `${dav.home('calendars')}${calendar}/long.ics`;
    expect((await dav.send('PUT', path, icsFile(...series(LONG, 'One')), ICS)).status).toBe(201);
    const { text, headers } = await dav.send('GET', path);
    expect(uidsIn(text)).toEqual([LONG, LONG]);
    expect((await dav.send('PUT', path, text, ICS)).status).toBe(204);
    expect(await dav.etag(path)).toBe(headers.get('etag'));
    const event = (await ann.api.get(`/calendar/${calendar}/events`)).body.events[0];
    const renamed = await ann.api.put(`/calendar/${calendar}/events/${event.id}`, { title: 'Renamed' });
    expect(renamed.status).toBe(200);
    expect(uidsIn((await dav.send('GET', path)).text)).toEqual([LONG, LONG]);
    // The same event under another name.
    const other = path.replace('long.ics', 'again.ics');
    expect((await dav.send('PUT', other, icsFile(...series(LONG, 'Twice')), ICS)).status).toBe(409);
  });

  test('are not those of a part that a split begins', async () => {
    const calendar = await newCalendar(ann, 'Split');
    const path = `${dav.home('calendars')}${calendar}/long.ics`;
    await dav.send('PUT', path, icsFile(...series(LONG, 'One')), ICS);
    const event = (await ann.api.get(`/calendar/${calendar}/events`)).body.events[0];
    const { status, body } = await ann.api.put(`/calendar/${calendar}/events/${event.id}_20300108T090000Z`, {
      scope: 'this_and_following',
      title: 'Rest',
    });
    expect(status).toBe(200);
    const { uid } = body.new_event;
    const { text } = await ann.api.get(`/calendar/${calendar}/export.ics`);
    expect(uidsIn(text).toSorted()).toEqual([LONG, uid, uid].toSorted());
    expect(uidsIn((await dav.send('GET', path)).text)).toEqual([LONG]);
  });

  test('of tasks stay too, and the next occurrence has one of its own', async () => {
    const { folder } = (await ann.api.post('/task_folders', { name: 'Long' })).body;
    const path = `${dav.home('calendars')}${folder.id}/long.ics`;
    const todo = icsFile(
      'BEGIN:VTODO',
      `UID:${LONG}`,
      STAMP,
      'SUMMARY:Task',
      'DUE;VALUE=DATE:20300107',
      'DTSTART;VALUE=DATE:20300107',
      'RRULE:FREQ=DAILY',
      'END:VTODO',
    );
    expect((await dav.send('PUT', path, todo, ICS)).status).toBe(201);
    const { text, headers } = await dav.send('GET', path);
    expect(uidsIn(text)).toEqual([LONG]);
    expect((await dav.send('PUT', path, text, ICS)).status).toBe(204);
    expect(await dav.etag(path)).toBe(headers.get('etag'));
    const [task] = (await ann.api.get(`/tasks?folder_id=${folder.id}`)).body.tasks;
    const { body } = await ann.api.patch(`/tasks/${task.id}`, { done: true });
    const next = `${dav.home('calendars')}${folder.id}/${body.task.next_task_id}.ics`;
    expect(uidsIn((await dav.send('GET', next)).text)).toEqual([body.task.next_task_id]);
  });
});
