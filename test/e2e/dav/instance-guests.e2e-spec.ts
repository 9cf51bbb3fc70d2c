import { TestApp, type TestUser } from '../../support/app.ts';
import { DavClient, goneOf, hrefsOf, valuesOf } from '../../support/dav/dav-client.ts';
import { defaultCalendar, instancesOf } from '../../support/domains/calendars.ts';

describe('an attendee of some instances of a series', () => {
  let app: TestApp;
  let ann: TestUser;
  let bob: TestUser;
  let eve: TestUser;
  let anns: DavClient;
  let eves: DavClient;
  let anncal: string;
  let evecal: string;

  beforeAll(async () => {
    app = await TestApp.start();
    [ann, bob, eve] = await app.tenant('acme', 'ann', 'bob', 'eve');
    [anns, eves] = [await DavClient.of(app, ann), await DavClient.of(app, eve)];
    [anncal, evecal] = [await defaultOf(anns), await defaultOf(eves)];
  });
  afterAll(() => app?.stop());

  const defaultOf = async (client: DavClient): Promise<string> => {
    await client.propfind(client.home('calendars'), '<D:displayname/>', '1');
    const inbox = `${client.home('calendars')}inbox/`;
    const { text } = await client.propfind(inbox, '<C:schedule-default-calendar-URL/>');
    return valuesOf(text, 'D:href').find((href) => href !== inbox) as string;
  };
  const vevent = (uid: string, guests: TestUser[], ...lines: string[]): string =>
    [
      'BEGIN:VEVENT',
      `UID:${uid}`,
      'DTSTAMP:20270301T000000Z',
      `ORGANIZER:mailto:${ann.email}`,
      `ATTENDEE;PARTSTAT=ACCEPTED:mailto:${ann.email}`,
      ...guests.map(({ email }) => `ATTENDEE;PARTSTAT=NEEDS-ACTION;RSVP=TRUE:mailto:${email}`),
      ...lines,
      'END:VEVENT',
      '',
    ].join('\r\n');
  const master = (uid: string): string =>
    vevent(
      uid,
      [bob],
      'SUMMARY:Weekly',
      'DTSTART:20270302T090000Z',
      'DTEND:20270302T100000Z',
      'RRULE:FREQ=DAILY;COUNT=5',
    );
  const instance = (uid: string, day: string, title: string, guests = [bob, eve]): string =>
    vevent(
      uid,
      guests,
      `SUMMARY:${title}`,
      `RECURRENCE-ID:202703${day}T090000Z`,
      `DTSTART:202703${day}T110000Z`,
      `DTEND:202703${day}T120000Z`,
    );
  const calendarOf = (...events: string[]): string =>
    `BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Test//EN\r\n${events.join('')}END:VCALENDAR\r\n`;
  const put = async (path: string, text: string, client: DavClient) =>
    (await client.send('PUT', path, text, { 'content-type': 'text/calendar' })).status;
  const read = async (path: string, client: DavClient) =>
    (await client.send('GET', path)).text.replaceAll('\r\n ', '');
  const linesOf = (text: string, name: string) =>
    [...text.matchAll(new RegExp(`^${name}[^:\\r]*:(\\S+)`, 'gm'))].map(([, value]) => value);
  const sync = async (token: string) => {
    const { text } = await eves.report(
      evecal,
      'D:sync-collection',
      `<D:sync-token>${token}</D:sync-token><D:sync-level>1</D:sync-level><D:prop><D:getetag/></D:prop>`,
    );
    return { token: valuesOf(text, 'D:sync-token')[0] as string, hrefs: hrefsOf(text), gone: goneOf(text) };
  };
  const responses = async (uid: string) =>
    [...(await read(`${anncal}${uid}.ics`, anns)).matchAll(/PARTSTAT=([A-Z-]+)[^\r]*eve@/g)].map(
      ([, value]) => value,
    );

  test('has these instances without their series, and responds to each', async () => {
    const [path, evePath] = [`${anncal}some.ics`, `${evecal}some.ics`];
    const text = calendarOf(
      master('some'),
      instance('some', '03', 'Second'),
      instance('some', '05', 'Fourth'),
    );
    expect(await put(path, text, anns)).toBe(201);
    const seen = await read(evePath, eves);
    expect(seen).not.toMatch(/RRULE|RDATE|EXDATE|Weekly/);
    expect(linesOf(seen, 'RECURRENCE-ID')).toEqual(['20270303T090000Z', '20270305T090000Z']);
    expect(linesOf(seen, 'DTSTART')).toEqual(['20270303T110000Z', '20270305T110000Z']);
    expect(linesOf(seen, 'SUMMARY')).toEqual(['Second', 'Fourth']);
    // A program that stores what it read changes nothing.
    const etag = await eves.etag(evePath);
    expect(await put(evePath, seen, eves)).toBe(204);
    expect(await eves.etag(evePath)).toBe(etag);
    expect(await put(evePath, seen.replaceAll('Second', 'Mine'), eves)).toBe(403);
    const [first, second] = seen.split(/(?<=END:VEVENT\r\n)/);
    const accepted = first!.replace(/(PARTSTAT=)NEEDS-ACTION([^\r]*eve)/, '$1ACCEPTED$2');
    expect(await put(evePath, seen.replace(first!, accepted), eves)).toBe(204);
    expect(await responses('some')).toEqual(['ACCEPTED', 'NEEDS-ACTION']);
    const declined = second!.replace(/(PARTSTAT=)NEEDS-ACTION([^\r]*eve)/, '$1DECLINED$2');
    expect(await put(evePath, seen.replace(first!, accepted).replace(second!, declined), eves)).toBe(204);
    expect(await responses('some')).toEqual(['ACCEPTED', 'DECLINED']);
    const alarm = 'BEGIN:VALARM\r\nACTION:DISPLAY\r\nDESCRIPTION:R\r\nTRIGGER:-PT5M\r\nEND:VALARM\r\n';
    const current = await read(evePath, eves);
    expect(await put(evePath, current.replaceAll('END:VEVENT', `${alarm}END:VEVENT`), eves)).toBe(204);
    expect(linesOf(await read(evePath, eves), 'TRIGGER')).toEqual(['-PT5M', '-PT5M']);
    expect(await responses('some')).toEqual(['ACCEPTED', 'DECLINED']);
    const found = await eves.report(
      evecal,
      'C:calendar-query',
      '<D:prop><C:calendar-data/></D:prop><C:filter><C:comp-filter name="VCALENDAR"><C:comp-filter name="VEVENT"><C:time-range start="20270304T000000Z" end="20270305T000000Z"/></C:comp-filter></C:comp-filter></C:filter>',
    );
    expect(hrefsOf(found.text)).not.toContain(evePath);
  });

  test('who removed them one by one has them again, and not the series, after storing what they read', async () => {
    const [path, evePath] = [`${anncal}again.ics`, `${evecal}again.ics`];
    const guest = [instance('again', '04', 'Third'), instance('again', '06', 'Fifth')];
    expect(await put(path, calendarOf(master('again'), ...guest), anns)).toBe(201);
    const seen = await read(evePath, eves);
    const evesId = await defaultCalendar(eve);
    for (const day of ['04', '06']) {
      const [one] = await instancesOf(eve, evesId, `2027-03-${day}T00:00:00Z`, `2027-03-${day}T23:00:00Z`);
      expect((await eve.api.delete(`/calendar/${evesId}/events/${one.id}`, { scope: 'this' })).status).toBe(
        200,
      );
    }
    expect((await eves.send('GET', evePath)).status).toBe(404);
    expect(await put(evePath, seen, eves)).toBe(201);
    const shown = await read(evePath, eves);
    expect(shown).not.toMatch(/RRULE|RDATE|EXDATE|Weekly/);
    expect(linesOf(shown, 'SUMMARY')).toEqual(['Third', 'Fifth']);
    expect(await responses('again')).toEqual(['DECLINED', 'DECLINED']);
    const accepted = seen.replaceAll(/(PARTSTAT=)NEEDS-ACTION([^\r]*eve)/g, '$1ACCEPTED$2');
    expect(await put(evePath, accepted, eves)).toBe(204);
    expect(await responses('again')).toEqual(['ACCEPTED', 'ACCEPTED']);
  });

  test('is synchronised as instances come and go, and as the series does', async () => {
    const [path, evePath] = [`${anncal}sync.ics`, `${evecal}sync.ics`];
    let { token } = await sync('');
    const step = async (...events: string[]) => {
      const etag = (await anns.send('GET', path)).headers.get('etag');
      expect(await put(path, calendarOf(...events), anns)).toBe(etag === null ? 201 : 204);
      const found = await sync(token);
      ({ token } = found);
      return [found.hrefs, found.gone];
    };
    const uid = 'sync';
    expect(await step(master(uid), instance(uid, '03', 'Second', [bob]))).toEqual([[], []]);
    expect(await step(master(uid), instance(uid, '03', 'Second'))).toEqual([[evePath], []]);
    expect(linesOf(await read(evePath, eves), 'RECURRENCE-ID')).toEqual(['20270303T090000Z']);
    const both = [instance(uid, '03', 'Second'), instance(uid, '05', 'Fourth')];
    expect(await step(master(uid), ...both)).toEqual([[evePath], []]);
    expect(linesOf(await read(evePath, eves), 'RECURRENCE-ID')).toHaveLength(2);
    expect(await step(master(uid), instance(uid, '05', 'Fourth'))).toEqual([[evePath], []]);
    expect(linesOf(await read(evePath, eves), 'RECURRENCE-ID')).toEqual(['20270305T090000Z']);
    expect(await step(master(uid), instance(uid, '05', 'Fourth', [bob]))).toEqual([[], [evePath]]);
    expect((await eves.send('GET', evePath)).status).toBe(404);
    expect(await step(master(uid), instance(uid, '05', 'Fourth'))).toEqual([[evePath], []]);
    // Invited to the whole series, Eve has it.
    const whole = vevent(
      uid,
      [bob, eve],
      'SUMMARY:All',
      'DTSTART:20270302T090000Z',
      'RRULE:FREQ=DAILY;COUNT=5',
    );
    expect(await step(whole, instance(uid, '05', 'Fourth'))).toEqual([[evePath], []]);
    expect(await read(evePath, eves)).toContain('RRULE:FREQ=DAILY;COUNT=5');
  });
});
