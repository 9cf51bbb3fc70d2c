import { type TestUser, TestApp } from '../../support/app.ts';
import { eventPath, icsFile, importFile, vevent } from '../../support/domains/calendars.ts';

describe('a repeated import of iCalendar', () => {
  let app: TestApp;
  let ann: TestUser;
  let calendar: string;
  let other: string;

  beforeAll(async () => {
    app = await TestApp.start();
    [ann] = await app.tenant('acme', 'ann');
    const made = async (name: string) =>
      (await ann.api.post('/calendar', { name, time_zone: 'Europe/Berlin' })).body.calendar.id;
    [calendar, other] = [await made('One'), await made('Other')];
  });
  afterAll(() => app?.stop());

  const text = (uid: string, title: string, ...stamps: string[]): string =>
    icsFile(
      ...vevent(
        `UID:${uid}`,
        `SUMMARY:${title}`,
        'DTSTART:20270302T090000Z',
        'RRULE:FREQ=DAILY;COUNT=3',
        ...stamps,
      ),
    );
  const bring = async (file: string, to = calendar) => {
    const { status, body } = await importFile(ann, to, file);
    expect([status, body.failed]).toEqual([200, 0]);
    const [{ event_id: id, status: one, warnings }] = body.results;
    const { event } = (await ann.api.get(eventPath(to, { id }))).body;
    return { id, status: one, title: event.title, codes: warnings.map(({ code }: any) => code) };
  };
  const rename = async (id: string, title: string, fields: object = {}) =>
    expect((await ann.api.put(eventPath(calendar, { id }), { title, ...fields })).status).toBe(200);
  const seconds = (shift: number) =>
    `${new Date(Date.now() + shift * 1_000).toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z`;
  const HOUR = 3_600;

  test.each([
    ['DTSTAMP', [`DTSTAMP:${seconds(-HOUR)}`], [`DTSTAMP:${seconds(HOUR)}`]],
    [
      'LAST-MODIFIED, which counts before the time of the export',
      [`LAST-MODIFIED:${seconds(-HOUR)}`, `DTSTAMP:${seconds(HOUR)}`],
      [`LAST-MODIFIED:${seconds(HOUR)}`, `DTSTAMP:${seconds(HOUR)}`],
    ],
    [
      'its times, whatever SEQUENCE says',
      [`DTSTAMP:${seconds(-HOUR)}`, 'SEQUENCE:9'],
      [`DTSTAMP:${seconds(HOUR)}`],
    ],
  ])('keeps edits that are later by %s', async (name, before, after) => {
    const uid = `v-${name.length}`;
    const first = await bring(text(uid, 'File', ...before));
    expect([first.status, first.title]).toEqual([201, 'File']);
    await rename(first.id, 'Edited');
    expect(await bring(text(uid, 'File', ...before))).toEqual({
      id: first.id,
      status: 200,
      title: 'Edited',
      codes: ['older_version'],
    });
    expect(await bring(text(uid, 'New', ...after))).toMatchObject({ status: 200, title: 'New', codes: [] });
    // The calendar without the event gets the old version.
    expect(await bring(text(uid, 'File', ...before), other)).toMatchObject({ status: 201, title: 'File' });
  });

  test('keeps edits of an instance', async () => {
    const file = text('v-instance', 'File', `DTSTAMP:${seconds(-HOUR)}`);
    const { id } = await bring(file);
    const one = { scope: 'this', recurrence_id: '2027-03-03T09:00:00Z' };
    await rename(id, 'Second', one);
    expect(await bring(file)).toMatchObject({ status: 200, codes: ['older_version'] });
    const path = `${eventPath(calendar, { id })}?recurrence_id=2027-03-03T09:00:00Z`;
    expect((await ann.api.get(path)).body.event.title).toBe('Second');
  });

  test('takes further versions of a program that never changes its times, as long as nobody edits the event here', async () => {
    const stamp = `DTSTAMP:${seconds(-HOUR)}`;
    for (const title of ['One', 'Two', 'Three'])
      expect(await bring(text('v-constant', title, stamp))).toMatchObject({ title, codes: [] });
    const { id } = await bring(text('v-constant', 'Three', stamp));
    await rename(id, 'Edited');
    expect(await bring(text('v-constant', 'Four', stamp))).toMatchObject({ title: 'Edited' });
  });

  test('of the own export changes nothing, and an event without times is taken', async () => {
    const { id } = await bring(text('v-own', 'File'));
    await rename(id, 'Edited');
    const { text: backup } = await ann.api.get(`/calendar/${calendar}/export.ics`);
    const { body } = await importFile(ann, calendar, backup);
    expect(body.results.flatMap(({ warnings }: any) => warnings)).toEqual([]);
    await rename(id, 'Later');
    await app.sql(`UPDATE calendar_events SET dtstamp = now() + interval '10 seconds' WHERE id = $1`, [id]);
    await importFile(ann, calendar, backup);
    expect((await ann.api.get(eventPath(calendar, { id }))).body.event.title).toBe('Later');
    expect(await bring(text('v-own', 'Again'))).toMatchObject({ title: 'Again', codes: [] });
  });
});
