import { TestApp, type TestUser } from '../../support/app.ts';
import { DavClient, valuesOf } from '../../support/dav/dav-client.ts';

describe('alarms of an attendee', () => {
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
  const alarm = (trigger: string, uid: string): string =>
    `BEGIN:VALARM\r\nACTION:DISPLAY\r\nUID:${uid}\r\nDESCRIPTION:x\r\nTRIGGER:${trigger}\r\nEND:VALARM\r\n`;
  const meeting = (uid: string, more: string): string =>
    `BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Test//EN\r\nBEGIN:VEVENT\r\nUID:${uid}\r\nDTSTAMP:20270301T000000Z\r\nSUMMARY:Meeting\r\nDTSTART:20270302T090000Z\r\nDTEND:20270302T100000Z\r\nORGANIZER:mailto:${ann.email}\r\nATTENDEE;PARTSTAT=ACCEPTED:mailto:${ann.email}\r\nATTENDEE;PARTSTAT=NEEDS-ACTION;RSVP=TRUE:mailto:${bob.email}\r\n${more}END:VEVENT\r\nEND:VCALENDAR\r\n`;
  const put = async (path: string, text: string, client: DavClient) =>
    (await client.send('PUT', path, text, { 'content-type': 'text/calendar' })).status;
  const read = async (path: string, client: DavClient) =>
    (await client.send('GET', path)).text.replaceAll('\r\n ', '');
  const triggersIn = (text: string) => [...text.matchAll(/TRIGGER[^:]*:(\S+)/g)].map(([, value]) => value);

  test('are only those of the attendee, and stay when the organizer changes the meeting', async () => {
    const [path, bobPath] = [`${anncal}a1.ics`, `${bobcal}a1.ics`];
    // The second one is after the start, so that it is no reminder of the API.
    await put(path, meeting('a1', alarm('-PT15M', 'of-ann') + alarm('PT5M', 'late-of-ann')), anns);
    const invitation = await read(bobPath, bobs);
    expect(triggersIn(invitation)).toEqual([]);
    const own = alarm('-PT30M', 'of-bob') + alarm('PT10M', 'late-of-bob');
    expect(await put(bobPath, invitation.replace('END:VEVENT', `${own}END:VEVENT`), bobs)).toBe(204);
    expect(triggersIn(await read(bobPath, bobs))).toEqual(['-PT30M', 'PT10M']);
    expect(triggersIn(await read(path, anns))).toEqual(['-PT15M', 'PT5M']);
    const moved = (await read(path, anns)).replace('T090000Z', 'T110000Z').replace('T100000Z', 'T120000Z');
    expect(await put(path, moved, anns)).toBe(204);
    const after = await read(bobPath, bobs);
    expect(after).toContain('DTSTART:20270302T110000Z');
    expect(after).toContain('UID:of-bob');
    expect(triggersIn(after)).toEqual(['-PT30M', 'PT10M']);
    // The next reminder of each is at the time of the own alarm.
    const rows = await app.sql(
      `SELECT calendar.owner_id, entry.reminders FROM calendar_entries entry
         JOIN calendars calendar ON calendar.id = entry.calendar_id WHERE entry.uid = 'a1'`,
    );
    const minutes = Object.fromEntries(
      rows.map(({ owner_id: owner, reminders }) => [owner, reminders.map((each: any) => each.minutes)]),
    );
    expect(minutes).toEqual({ [ann.id]: [15], [bob.id]: [30] });
    // The attendee stores what the program has read, and removes the alarms.
    const etag = await bobs.etag(bobPath);
    expect(await put(bobPath, after, bobs)).toBe(204);
    expect(await bobs.etag(bobPath)).toBe(etag);
    const without = after.replaceAll(/BEGIN:VALARM.*?END:VALARM\r\n/gs, '');
    expect(await put(bobPath, without, bobs)).toBe(204);
    expect(triggersIn(await read(bobPath, bobs))).toEqual([]);
    expect(triggersIn(await read(path, anns))).toEqual(['-PT15M', 'PT5M']);
  });

  test('are stored together with a response', async () => {
    const [path, bobPath] = [`${anncal}a2.ics`, `${bobcal}a2.ics`];
    await put(path, meeting('a2', ''), anns);
    const accepted = (await read(bobPath, bobs))
      .replace(/(PARTSTAT=)NEEDS-ACTION([^\r]*bob)/, '$1ACCEPTED$2')
      .replace('END:VEVENT', `${alarm('-PT30M', 'b') + alarm('PT10M', 'late')}END:VEVENT`);
    expect(await put(bobPath, accepted, bobs)).toBe(204);
    expect(triggersIn(await read(bobPath, bobs))).toEqual(['-PT30M', 'PT10M']);
    const own = await read(path, anns);
    expect([triggersIn(own), own]).toEqual([[], expect.stringMatching(/PARTSTAT=ACCEPTED[^\r]*bob/)]);
    // Removed and stored again by the attendee, it has the alarms of the text.
    await bobs.send('DELETE', bobPath);
    expect(await put(bobPath, accepted.replace('-PT30M', '-PT45M'), bobs)).toBe(201);
    expect(triggersIn(await read(bobPath, bobs))).toEqual(['-PT45M', 'PT10M']);
  });

  test.each([
    ['of Apple\'s "None"', 'ACTION:NONE\r\nTRIGGER;VALUE=DATE-TIME:19760401T005545Z'],
    ['after the start', 'ACTION:DISPLAY\r\nDESCRIPTION:x\r\nTRIGGER:PT9H'],
  ])('an alarm %s switches the reminders of the calendar off, for its user only', async (name, lines) => {
    const uid = `none-${name.length}`;
    const none = `BEGIN:VALARM\r\n${lines}\r\nEND:VALARM\r\n`;
    const [path, bobPath] = [`${anncal}${uid}.ics`, `${bobcal}${uid}.ics`];
    const reminders = async () =>
      Object.fromEntries(
        (
          await app.sql(
            `SELECT calendar.owner_id, entry.reminders FROM calendar_entries entry
               JOIN calendars calendar ON calendar.id = entry.calendar_id WHERE entry.uid = $1`,
            [uid],
          )
        ).map(({ owner_id: owner, reminders: own }) => [owner === ann.id ? 'ann' : 'bob', own]),
      );
    expect(await put(path, meeting(uid, ''), anns)).toBe(201);
    expect(await reminders()).toEqual({ ann: null, bob: null });
    // A program that stores what it has read does not change them.
    expect(await put(path, await read(path, anns), anns)).toBe(204);
    expect(await reminders()).toEqual({ ann: null, bob: null });
    const silent = (text: string) => text.replace('END:VEVENT', `${none}END:VEVENT`);
    expect(await put(bobPath, silent(await read(bobPath, bobs)), bobs)).toBe(204);
    expect(await reminders()).toEqual({ ann: null, bob: [] });
    expect(await put(path, silent(await read(path, anns)), anns)).toBe(204);
    expect(await reminders()).toEqual({ ann: [], bob: [] });
    expect(triggersIn(await read(path, anns))).toHaveLength(1);
  });
});
