import { PeriodicJobs } from '../../../src/platform/jobs/periodic-jobs.js';
import { TestApp, type TestUser } from '../../support/app.ts';
import { importFile } from '../../support/domains/calendars.ts';
import { DavClient, goneOf, hrefsOf, valuesOf } from '../../support/dav/dav-client.ts';

const event = (uid: string): string =>
  `BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Test//EN\r\nBEGIN:VEVENT\r\nUID:${uid}\r\nDTSTAMP:20270101T000000Z\r\nDTSTART:20270302T090000Z\r\nSUMMARY:S\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n`;

describe('names of events and tasks', () => {
  let app: TestApp;
  let alice: TestUser;
  let client: DavClient;
  let path: string;

  beforeAll(async () => {
    app = await TestApp.start();
    [alice] = await app.tenant('acme', 'alice');
    client = await DavClient.of(app, alice);
    const { body } = await alice.api.post('/calendar', { name: 'Names' });
    path = `${client.home('calendars')}${body.calendar.id}/`;
  });
  afterAll(() => app?.stop());

  const put = (name: string, uid: string) => client.send('PUT', path + name, event(uid));
  const stored = async () =>
    (await app.sql('SELECT name FROM dav_names ORDER BY name')).map(({ name }) => name);

  test('are forgotten when their events are gone for as long as removals are kept', async () => {
    await put('stays.ics', 'uid-1');
    await put('goes.ics', 'uid-2');
    await put('uid-3.ics', 'uid-3');
    expect(await stored()).toEqual(['goes.ics', 'stays.ics']);
    await client.send('DELETE', `${path}goes.ics`);
    const check = async () => {
      await app.sql(`DELETE FROM job_runs WHERE name = 'dav.forget-names'`);
      await app.get(PeriodicJobs).runDue();
    };
    await check();
    expect(await stored()).toEqual(['goes.ics', 'stays.ics']);
    await app.sql(`UPDATE dav_names SET checked_at = now() - interval '91 days'`);
    await check();
    expect(await stored()).toEqual(['stays.ics']);
    const [{ is_recent }] = await app.sql(
      `SELECT checked_at > now() - interval '1 day' AS is_recent FROM dav_names`,
    );
    expect(is_recent).toBe(true);
    expect((await client.send('GET', `${path}stays.ics`)).status).toBe(200);
  });

  test('of tasks stay with their tasks, also in the trash', async () => {
    const { body } = await alice.api.post('/task_folders', { name: 'Names' });
    const list = `${client.home('calendars')}${body.folder.id}/`;
    const task = (uid: string): string =>
      `BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Test//EN\r\nBEGIN:VTODO\r\nUID:${uid}\r\nSUMMARY:S\r\nEND:VTODO\r\nEND:VCALENDAR\r\n`;
    for (const name of ['task-stays', 'task-trashed', 'task-purged'])
      await client.send('PUT', `${list}${name}.ics`, task(name));
    await client.send('DELETE', `${list}task-trashed.ics`);
    await app.sql(`DELETE FROM tasks WHERE uid = 'task-purged'`);
    await app.sql(`UPDATE dav_names SET checked_at = now() - interval '91 days'`);
    await app.sql(`DELETE FROM job_runs WHERE name = 'dav.forget-names'`);
    await app.get(PeriodicJobs).runDue();
    const kept = (await stored()).filter((name) => String(name).startsWith('task-'));
    expect(kept).toEqual(['task-stays.ics', 'task-trashed.ics']);
  });

  test('a long calendar is listed and synchronised in pages', async () => {
    const { body } = await alice.api.post('/calendar', { name: 'Long' });
    const long = `${client.home('calendars')}${body.calendar.id}/`;
    const events = Array.from(
      { length: 1_300 },
      (_, n) =>
        `BEGIN:VEVENT\r\nUID:long-${n}\r\nDTSTAMP:20270101T000000Z\r\nDTSTART:2027030${(n % 9) + 1}T090000Z\r\nSUMMARY:S\r\nEND:VEVENT\r\n`,
    );
    const text = `BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//T//EN\r\n${events.join('')}END:VCALENDAR\r\n`;
    expect((await importFile(alice, body.calendar.id, text)).body.applied).toBe(1_300);
    expect(hrefsOf((await client.propfind(long, '<D:getetag/>', '1')).text)).toHaveLength(1_301);
    const query = await client.report(
      long,
      'C:calendar-query',
      '<D:prop><C:calendar-data/></D:prop><C:filter><C:comp-filter name="VCALENDAR"><C:comp-filter name="VEVENT"><C:time-range start="20270301T000000Z" end="20270302T000000Z"/></C:comp-filter></C:comp-filter></C:filter>',
    );
    expect(valuesOf(query.text, 'C:calendar-data')).toHaveLength(145);
    const sync = (token: string, limit = '') =>
      client.report(
        long,
        'D:sync-collection',
        `<D:sync-token>${token}</D:sync-token><D:sync-level>1</D:sync-level>${limit}<D:prop><D:getetag/></D:prop>`,
      );
    const whole = await sync('');
    expect(new Set(hrefsOf(whole.text)).size).toBe(1_300);
    const found = new Set<string>();
    for (let token = '', isPart = true; isPart;) {
      const { text } = await sync(token, '<D:limit><D:nresults>400</D:nresults></D:limit>');
      for (const href of hrefsOf(text)) found.add(href);
      expect(goneOf(text)).toEqual([]);
      isPart = text.includes('507 Insufficient Storage');
      token = valuesOf(text, 'D:sync-token')[0] as string;
    }
    expect(found.size).toBe(1_300);
  });
});
