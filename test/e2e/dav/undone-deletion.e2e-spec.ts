import { OutboxWorker } from '../../../src/platform/events/outbox.worker.js';
import { TestApp, type TestUser } from '../../support/app.ts';
import { DavClient, hrefsOf, valuesOf } from '../../support/dav/dav-client.ts';

const ZOE = 'zoe@far.example';

describe('a meeting that its organizer deletes and stores again', () => {
  let app: TestApp;
  let ann: TestUser;
  let bob: TestUser;
  let anns: DavClient;
  let bobs: DavClient;
  let anncal: string;
  let bobcal: string;

  beforeAll(async () => {
    app = await TestApp.start();
    [ann, bob] = await app.tenant('acme', 'ann', 'bob');
    [anns, bobs] = [await DavClient.of(app, ann), await DavClient.of(app, bob)];
    [anncal, bobcal] = [await defaultOf(anns), await defaultOf(bobs)];
  });
  afterAll(() => app?.stop());

  const defaultOf = async (client: DavClient): Promise<string> => {
    await client.propfind(client.home('calendars'), '<D:displayname/>', '1');
    const inbox = `${client.home('calendars')}inbox/`;
    const { text } = await client.propfind(inbox, '<C:schedule-default-calendar-URL/>');
    return valuesOf(text, 'D:href').find((href) => href !== inbox) as string;
  };
  const meeting = (uid: string, sequence = 0): string =>
    `BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Test//EN\r\nBEGIN:VEVENT\r\nUID:${uid}\r\nDTSTAMP:20270301T000000Z\r\nSEQUENCE:${sequence}\r\nSUMMARY:Meeting\r\nDTSTART:20270302T090000Z\r\nDTEND:20270302T100000Z\r\nORGANIZER:mailto:${ann.email}\r\nATTENDEE;PARTSTAT=ACCEPTED:mailto:${ann.email}\r\nATTENDEE;PARTSTAT=NEEDS-ACTION;RSVP=TRUE:mailto:${bob.email}\r\nATTENDEE;PARTSTAT=NEEDS-ACTION;RSVP=TRUE:mailto:${ZOE}\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n`;
  /** Method and SEQUENCE of the messages to Zoe, oldest first. */
  const sent = async (uid: string): Promise<[string, number][]> => {
    await app.get(OutboxWorker).drain();
    const rows = await app.sql(
      `SELECT method, sequence FROM scheduling_messages WHERE uid = $1 AND direction = 'out' ORDER BY id`,
      [uid],
    );
    return rows.map(({ method, sequence }) => [method, Number(sequence)]);
  };
  const put = async (path: string, text: string, client = anns) =>
    (await client.send('PUT', path, text, { 'content-type': 'text/calendar' })).status;
  const unfolded = async (client: DavClient, path: string) =>
    (await client.send('GET', path)).text.replaceAll('\r\n ', '');
  const listed = async (client: DavClient, calendar: string) =>
    hrefsOf((await client.propfind(calendar, '<D:getetag/>', '1')).text);

  test('is the meeting again, for attendees in the workspace and outside of it', async () => {
    const [path, bobPath] = [`${anncal}undo.ics`, `${bobcal}undo.ics`];
    expect(await put(path, meeting('undo'))).toBe(201);
    await sent('undo');
    const text = await unfolded(anns, path);
    const accepted = (await unfolded(bobs, bobPath)).replace(
      /(PARTSTAT=)NEEDS-ACTION([^\r]*bob)/,
      '$1ACCEPTED$2',
    );
    await put(bobPath, accepted, bobs);
    await anns.send('DELETE', path);
    await sent('undo');
    expect(await unfolded(bobs, bobPath)).toContain('STATUS:CANCELLED');
    expect(await put(path, text)).toBe(201);
    expect(await sent('undo')).toEqual([
      ['REQUEST', 0],
      ['CANCEL', 1],
      ['REQUEST', 2],
    ]);
    const own = await unfolded(anns, path);
    expect(own).toContain('SEQUENCE:2\r\n');
    const seen = await unfolded(bobs, bobPath);
    expect(seen).not.toContain('STATUS:CANCELLED');
    expect(seen).toMatch(/PARTSTAT=NEEDS-ACTION[^\r]*bob/);
    expect((await listed(bobs, bobcal)).filter((href) => href.includes('undo'))).toEqual([bobPath]);
    // Bob responds to this meeting, and the next change of Ann reaches him.
    await put(bobPath, seen.replace(/(PARTSTAT=)NEEDS-ACTION([^\r]*bob)/, '$1ACCEPTED$2'), bobs);
    expect(await unfolded(anns, path)).toMatch(/PARTSTAT=ACCEPTED[^\r]*bob/);
    await put(path, (await unfolded(anns, path)).replace('SUMMARY:Meeting', 'SUMMARY:Renamed'));
    expect(await unfolded(bobs, bobPath)).toContain('SUMMARY:Renamed');
  });

  test('is listed again by a synchronisation, also where an attendee had removed or declined it', async () => {
    const [path, bobPath] = [`${anncal}sync.ics`, `${bobcal}sync.ics`];
    await put(path, meeting('sync'));
    const synchronised = async (client: DavClient, calendar: string, token: string) => {
      const { text } = await client.report(
        calendar,
        'D:sync-collection',
        `<D:sync-token>${token}</D:sync-token><D:sync-level>1</D:sync-level><D:prop><D:getetag/></D:prop>`,
      );
      return { token: valuesOf(text, 'D:sync-token')[0] as string, hrefs: hrefsOf(text) };
    };
    for (const round of [1, 2, 3]) {
      const before = [await synchronised(anns, anncal, ''), await synchronised(bobs, bobcal, '')] as const;
      const text = await unfolded(anns, path);
      // Bob declines first, or removes the cancelled meeting, or does neither.
      if (round === 1) await bobs.send('DELETE', bobPath);
      await anns.send('DELETE', path);
      if (round === 2) await bobs.send('DELETE', bobPath);
      // Two programs of Ann undo it at once.
      const statuses = await Promise.all([put(path, text), put(path, text)]);
      expect(statuses.toSorted()).toEqual([201, 204]);
      expect((await synchronised(anns, anncal, before[0].token)).hrefs).toEqual([path]);
      expect((await synchronised(bobs, bobcal, before[1].token)).hrefs).toEqual([bobPath]);
      expect(await unfolded(bobs, bobPath)).toMatch(/PARTSTAT=NEEDS-ACTION[^\r]*bob/);
    }
    expect(await unfolded(anns, path)).toContain('SEQUENCE:6\r\n');
  });
});
