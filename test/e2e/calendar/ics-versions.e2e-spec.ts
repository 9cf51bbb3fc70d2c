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
  const instance = (uid: string, day: string, title: string, ...stamps: string[]): string[] => {
    const id = `202703${day}T090000Z`;
    return vevent(`UID:${uid}`, `RECURRENCE-ID:${id}`, `DTSTART:${id}`, `SUMMARY:${title}`, ...stamps);
  };
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

  test('of the own export changes nothing', async () => {
    const { id } = await bring(text('v-own', 'File'));
    await rename(id, 'Edited');
    const { text: backup } = await ann.api.get(`/calendar/${calendar}/export.ics`);
    const { body } = await importFile(ann, calendar, backup);
    expect(body.results.flatMap(({ warnings }: any) => warnings)).toEqual([]);
    await rename(id, 'Later');
    await app.sql(`UPDATE calendar_events SET dtstamp = now() + interval '10 seconds' WHERE id = $1`, [id]);
    await importFile(ann, calendar, backup);
    expect((await ann.api.get(eventPath(calendar, { id }))).body.event.title).toBe('Later');
  });

  test.each([
    ['a constant LAST-MODIFIED', [`LAST-MODIFIED:${seconds(-HOUR)}`]],
    ['times in the future', [`LAST-MODIFIED:${seconds(HOUR)}`]],
    ['no LAST-MODIFIED', []],
  ])('takes each version with %s and a later DTSTAMP, until it is edited here', async (name, stamps) => {
    const uid = `v-rising-${name.length}`;
    const exported = (title: string, shift: number) =>
      icsFile(
        ...vevent(
          `UID:${uid}`,
          `SUMMARY:${title}`,
          'DTSTART:20270302T090000Z',
          'RRULE:FREQ=DAILY;COUNT=3',
          `DTSTAMP:${seconds(shift)}`,
          ...stamps,
        ),
        ...instance(uid, '03', `${title} too`, `DTSTAMP:${seconds(shift + 10 * HOUR)}`, ...stamps),
      );
    for (const [at, title] of ['One', 'Two', 'One'].entries())
      expect(await bring(exported(title, at - 9))).toMatchObject({ title, codes: [] });
    const { id } = await bring(exported('One', -5));
    await rename(id, 'Edited');
    // The time of the export alone is no change.
    expect(await bring(exported('One', HOUR))).toMatchObject({ title: 'Edited', codes: ['older_version'] });
  });

  test('keeps edits against a file without times, whose versions are taken before', async () => {
    for (const title of ['One', 'Two']) expect(await bring(text('v-none', title))).toMatchObject({ title });
    const { id } = await bring(text('v-none', 'Two'));
    await rename(id, 'Edited');
    for (const title of ['Two', 'Three'])
      expect(await bring(text('v-none', title))).toMatchObject({ title: 'Edited', codes: ['older_version'] });
    // The file has the edit too: its next version is taken.
    expect(await bring(text('v-none', 'Edited'))).toMatchObject({ title: 'Edited', codes: [] });
    expect(await bring(text('v-none', 'Four'))).toMatchObject({ title: 'Four', codes: [] });
  });

  test('keeps an edit of an event that another program created, against an older file', async () => {
    const { body } = await ann.api.post(eventPath(calendar, { id: '' }).replace(/\/$/, ''), {
      uid: 'v-here',
      title: 'Here',
      start: '2027-03-02T09:00:00Z',
    });
    expect(body.error).toBeUndefined();
    const file = text('v-here', 'File', `DTSTAMP:${seconds(-HOUR)}`);
    expect(await bring(file)).toMatchObject({ title: 'Here', codes: ['older_version'] });
  });

  test('keeps an edit against a rejected file that is exported again', async () => {
    const { id } = await bring(text('v-again', 'File', `DTSTAMP:${seconds(-2 * HOUR)}`));
    await rename(id, 'Edited');
    for (const shift of [-HOUR, HOUR])
      expect(await bring(text('v-again', 'Second', `DTSTAMP:${seconds(shift)}`))).toMatchObject({
        title: 'Edited',
        codes: ['older_version'],
      });
    const third = text('v-again', 'Third', `DTSTAMP:${seconds(HOUR)}`);
    expect(await bring(third)).toMatchObject({ title: 'Third', codes: [] });
  });

  test('adds no instance that the series has no longer', async () => {
    const uid = 'v-moved';
    const file = (...instances: string[]) =>
      icsFile(
        ...vevent(
          `UID:${uid}`,
          'SUMMARY:File',
          'DTSTART:20270302T090000Z',
          'DTEND:20270302T100000Z',
          'RRULE:FREQ=DAILY;COUNT=3',
          `DTSTAMP:${seconds(-HOUR)}`,
        ),
        ...instances,
      );
    const { id } = await bring(file());
    await rename(id, 'Moved', { start: '2027-03-02T12:00:00Z', end: '2027-03-02T13:00:00Z' });
    const late = instance(uid, '03', 'Third', `LAST-MODIFIED:${seconds(HOUR)}`);
    expect(await bring(file(...late))).toMatchObject({ title: 'Moved', codes: ['older_version'] });
    const { body } = await ann.api.get(
      `/calendar/${calendar}/instances?from=2027-03-03T00:00:00Z&to=2027-03-04T00:00:00Z`,
    );
    expect(body.instances.filter((event: any) => event.uid === uid)).toHaveLength(1);
  });

  test('takes a changed instance, and keeps the edits of the series and of other instances', async () => {
    const uid = 'v-parts';
    const master = [
      'DTSTART:20270302T090000Z',
      'RRULE:FREQ=DAILY;COUNT=3',
      `LAST-MODIFIED:${seconds(-HOUR)}`,
    ];
    const file = (title: string, shift: number) =>
      icsFile(
        ...vevent(`UID:${uid}`, 'SUMMARY:File', ...master, `DTSTAMP:${seconds(2 * HOUR)}`),
        ...instance(uid, '03', 'Third', `DTSTAMP:${seconds(2 * HOUR)}`),
        ...instance(uid, '04', title, `LAST-MODIFIED:${seconds(shift)}`),
      );
    const { id } = await bring(file('Fourth', -HOUR));
    await rename(id, 'Edited');
    await rename(id, 'Third, edited', { scope: 'this', recurrence_id: '2027-03-03T09:00:00Z' });
    const titles = async () =>
      Promise.all(
        ['03', '04'].map(async (day) => {
          const path = `${eventPath(calendar, { id })}?recurrence_id=2027-03-${day}T09:00:00Z`;
          return (await ann.api.get(path)).body.event.title;
        }),
      );
    const taken = await bring(file('Fourth, changed', HOUR));
    expect(taken).toMatchObject({ title: 'Edited', codes: ['older_version'] });
    expect(await titles()).toEqual(['Third, edited', 'Fourth, changed']);
    // Files of instances only.
    const alone = (day: string, title: string, shift: number) =>
      icsFile(...instance(uid, day, title, `LAST-MODIFIED:${seconds(shift)}`));
    expect(await bring(alone('03', 'Third, old', -HOUR))).toMatchObject({ codes: ['older_version'] });
    expect(await bring(alone('04', 'Fourth, alone', 2 * HOUR))).toMatchObject({ title: 'Edited', codes: [] });
    expect(await titles()).toEqual(['Third, edited', 'Fourth, alone']);
    expect(await bring(file('Fourth, alone', 2 * HOUR))).toMatchObject({ title: 'Edited' });
  });
});
