import { DavClient } from '../../support/dav/dav-client.ts';
import { type TestUser, TestApp } from '../../support/app.ts';
import { icsFile, importFile, newCalendar, vevent } from '../../support/domains/calendars.ts';

describe('files of other programs', () => {
  let app: TestApp;
  let ann: TestUser;
  let dav: DavClient;

  beforeAll(async () => {
    app = await TestApp.start();
    [ann] = await app.tenant('acme', 'ann');
    dav = await DavClient.of(app, ann);
  });
  afterAll(() => app?.stop());

  const instancesOf = async (id: string): Promise<[string, string][]> => {
    const { body } = await ann.api.get(
      `/calendar/${id}/instances?from=2026-01-01T00:00:00Z&to=2026-12-01T00:00:00Z`,
    );
    return body.instances.map(({ title, start_utc }: any) => [title, start_utc]).toSorted();
  };
  const exported = async (id: string): Promise<string> => {
    const response = await fetch(`${app.base}/apis/v1/calendar/${id}/export.ics`, {
      headers: { authorization: `Bearer ${ann.token}` },
    });
    return response.text();
  };
  const SERIES = ['DTSTART:20260330T100000Z', 'DURATION:PT1H', 'RRULE:FREQ=DAILY;COUNT=3'];

  test('lose no instance that has a component', async () => {
    const id = await newCalendar(ann, 'Instances');
    const file = icsFile(
      ...vevent('UID:both', 'SUMMARY:both', ...SERIES, 'EXDATE:20260331T100000Z'),
      ...vevent(
        'UID:both',
        'SUMMARY:both',
        'RECURRENCE-ID:20260331T100000Z',
        'DTSTART:20260331T100000Z',
        'DURATION:PT1H',
      ),
      ...vevent('UID:single', 'SUMMARY:single', 'DTSTART:20260402T100000Z'),
      ...vevent('UID:single', 'SUMMARY:single', 'RECURRENCE-ID:20260403T100000Z', 'DTSTART:20260403T100000Z'),
      ...vevent('SUMMARY:nameless', 'RECURRENCE-ID:20260405T100000Z', 'DTSTART:20260405T100000Z'),
    );
    const { body } = await importFile(ann, id, file);
    expect([body.applied, body.failed]).toEqual([3, 0]);
    const found = [
      ['both', '2026-03-30T10:00:00Z'],
      ['both', '2026-03-31T10:00:00Z'],
      ['both', '2026-04-01T10:00:00Z'],
      ['nameless', '2026-04-05T10:00:00Z'],
      ['single', '2026-04-02T10:00:00Z'],
      ['single', '2026-04-03T10:00:00Z'],
    ];
    expect(await instancesOf(id)).toEqual(found);
    const text = await exported(id);
    expect(text).not.toContain('EXDATE');
    const copy = await newCalendar(ann, 'Copy');
    await importFile(ann, copy, text);
    expect(await instancesOf(copy)).toEqual(found);
    const again = await importFile(ann, id, file);
    expect(again.body.results.map(({ status }: any) => status)).toEqual([200, 200, 200]);
    expect(await instancesOf(id)).toEqual(found);
  });

  test('lose no instance in a PUT, as in an import', async () => {
    const id = await newCalendar(ann, 'Put instances');
    const path = `${dav.home('calendars')}${id}/put.ics`;
    const instance = (time: string, title = 'put'): string[] =>
      vevent('UID:put', `SUMMARY:${title}`, `RECURRENCE-ID:${time}`, `DTSTART:${time}`, 'DURATION:PT1H');
    const text = icsFile(
      ...vevent('UID:put', 'SUMMARY:put', ...SERIES, 'EXDATE:20260331T100000Z,20260401T100000Z'),
      ...instance('20260331T100000Z'),
      ...instance('20260401T100000Z', 'changed'),
      ...instance('20260410T100000Z'),
    );
    const put = (body: string) => dav.send('PUT', path, body, { 'content-type': 'text/calendar' });
    expect((await put(text)).status).toBe(201);
    const found = await instancesOf(id);
    const days = found.map(([, start]) => start.slice(5, 10)).toSorted();
    expect(days).toEqual(['03-30', '03-31', '04-01', '04-10']);
    const read = await dav.send('GET', path);
    expect((await put(read.text)).status).toBe(204);
    expect(await dav.etag(path)).toBe(read.headers.get('etag'));
    expect(await instancesOf(id)).toEqual(found);
  });

  test('state the zone of times that have none', async () => {
    const id = await newCalendar(ann, 'Floating');
    const events = [
      ...vevent(
        'UID:feed',
        'SUMMARY:feed',
        'DTSTART:20260330T200000',
        'DTEND:20260330T210000',
        'RRULE:FREQ=DAILY;COUNT=2',
      ),
      ...vevent('UID:feed', 'SUMMARY:moved', 'RECURRENCE-ID:20260331T200000', 'DTSTART:20260331T210000'),
      ...vevent(
        'UID:zoned',
        'SUMMARY:zoned',
        'DTSTART;TZID=Asia/Tokyo:20260330T200000',
        'DTEND:20260330T210000',
      ),
      ...vevent('UID:day', 'SUMMARY:day', 'DTSTART:20260330'),
    ];
    const { body } = await importFile(ann, id, icsFile('X-WR-TIMEZONE:America/New_York', ...events));
    expect([body.applied, body.failed]).toEqual([3, 0]);
    const found = [
      ['day', '2026-03-29T22:00:00Z'],
      ['feed', '2026-03-31T00:00:00Z'],
      ['moved', '2026-04-01T01:00:00Z'],
      ['zoned', '2026-03-30T11:00:00Z'],
    ];
    expect(await instancesOf(id)).toEqual(found);
    const other = await newCalendar(ann, 'Without zone');
    await importFile(ann, other, icsFile(...events));
    const floating = await instancesOf(other);
    expect(floating[1]).toEqual(['feed', '2026-03-30T18:00:00Z']);
    // An export states the zone of its calendar.
    const text = await exported(other);
    expect(text).toContain('X-WR-TIMEZONE:Europe/Berlin');
    const tokyo = (await ann.api.post('/calendar', { name: 'Tokyo', time_zone: 'Asia/Tokyo' })).body.calendar
      .id;
    await importFile(ann, tokyo, text);
    expect((await instancesOf(tokyo))[1]).toEqual(['feed', '2026-03-30T11:00:00Z']);
    // Other programs that keep the file add blanks.
    const spaced = text.replace(/^PRODID:(.*?)\r?$/m, 'PRODID: $1 \r');
    expect(spaced).not.toBe(text);
    const again = (await ann.api.post('/calendar', { name: 'Spaced', time_zone: 'Asia/Tokyo' })).body.calendar
      .id;
    await importFile(ann, again, spaced);
    expect((await instancesOf(again))[1]).toEqual(['feed', '2026-03-30T11:00:00Z']);
  });

  test('have properties with zones that only the file knows', async () => {
    const id = await newCalendar(ann, 'Odd zones');
    const path = `${dav.home('calendars')}${id}/odd.ics`;
    const odd = [
      'X-LAST;TZID="Western/Central Europe":20260330T100000',
      'REVIEWED;TZID=Office:20260330T100000',
      'X-NEXT;TZID=Asia/Tokyo:20260330T100000',
      'BEGIN:VLOCATION',
      'UID:here',
      'X-OPEN;TZID=Office:20260330T100000',
      'END:VLOCATION',
    ];
    const guest = ['ORGANIZER:mailto:ann@acme.example', 'ATTENDEE:mailto:guest@side.example'];
    const text = icsFile(
      ...vevent('UID:odd', 'DTSTART;TZID=Europe/Berlin:20260330T100000', ...odd, ...guest),
    );
    const put = await dav.send('PUT', path, text, { 'content-type': 'text/calendar' });
    expect(put.status).toBe(201);
    const { status, text: read } = await dav.send('GET', path);
    expect(status).toBe(200);
    for (const line of odd.slice(1)) expect(read).toContain(line);
    expect([...read.matchAll(/\nTZID:(.*)\r/g)].map(([, name]) => name)).toEqual([
      'Europe/Berlin',
      'Asia/Tokyo',
    ]);
    const later = read.replaceAll('T100000', 'T110000');
    expect((await dav.send('PUT', path, later, { 'content-type': 'text/calendar' })).status).toBe(204);
  });

  test('name a zone that nobody knows: it is that of the calendar, in a PUT invalid', async () => {
    const id = await newCalendar(ann, 'Unknown zone');
    const event = vevent(
      'UID:unknown',
      'SUMMARY:unknown',
      'DTSTART;TZID=Office:20260330T100000',
      'RRULE:FREQ=DAILY;COUNT=2',
      'EXDATE;TZID=Office:20260331T100000',
    );
    const { body } = await importFile(ann, id, icsFile(...event));
    expect(body.results[0]).toMatchObject({ status: 201, warnings: [{ code: 'time_zone_assumed' }] });
    expect(await instancesOf(id)).toEqual([['unknown', '2026-03-30T08:00:00Z']]);
    const path = `${dav.home('calendars')}${id}/unknown.ics`;
    const put = await dav.send('PUT', path, icsFile(...event), { 'content-type': 'text/calendar' });
    expect(put.status).toBe(403);
  });

  test('may end inside a component: the others are imported', async () => {
    const id = await newCalendar(ann, 'Cut');
    const whole = icsFile(
      ...vevent('UID:one', 'SUMMARY:one', 'DTSTART:20260330T100000Z'),
      ...vevent('UID:two', 'SUMMARY:two', 'DTSTART:20260331T100000Z'),
    );
    const { body, status } = await importFile(ann, id, whole.slice(0, whole.indexOf('0331') + 2));
    expect([status, body.applied, body.failed]).toEqual([200, 1, 1]);
    expect(body.results[1]).toMatchObject({
      index: 1,
      client_id: null,
      status: 422,
      error: { error: 'invalid_ics', details: [{ code: 'truncated' }] },
    });
    expect(await instancesOf(id)).toEqual([['one', '2026-03-30T10:00:00Z']]);
    const early = whole.indexOf('BEGIN:VEVENT');
    const alone = vevent('UID:alone', 'RECURRENCE-ID:20260330T100000Z', 'DTSTART:20260330T110000Z');
    const file = `${whole.slice(0, early)}${alone.join('\r\n')}\r\n${whole.slice(early, whole.indexOf('0331'))}`;
    const orphan = await importFile(ann, await newCalendar(ann, 'Cut later'), file);
    expect(orphan.body.results.map(({ index, client_id }: any) => [index, client_id])).toEqual([
      [1, 'one'],
      [2, 'alone'],
      [3, null],
    ]);
    const none = await importFile(ann, id, whole.slice(0, whole.indexOf('0330')));
    expect([none.status, none.body.details[0].code]).toEqual([422, 'truncated']);
    const path = `${dav.home('calendars')}${id}/cut.ics`;
    const put = await dav.send('PUT', path, whole.slice(0, whole.indexOf('0331')), {
      'content-type': 'text/calendar',
    });
    expect(put.status).toBe(403);
  });

  test('have several calendars, each with its own zones', async () => {
    const id = await newCalendar(ann, 'Several');
    const zone = (offset: string): string[] => [
      'BEGIN:VTIMEZONE',
      'TZID:Local',
      'BEGIN:STANDARD',
      'DTSTART:20000101T000000',
      `TZOFFSETFROM:${offset}`,
      `TZOFFSETTO:${offset}`,
      'END:STANDARD',
      'END:VTIMEZONE',
    ];
    const times = ['RECURRENCE-ID;TZID=Local:20260330T100000', 'DTSTART;TZID=Local:20260330T100000'];
    const file = [
      icsFile(...zone('+0300'), ...vevent('UID:first', 'SUMMARY:first', ...times)),
      icsFile(...zone('-0300'), ...vevent('UID:second', 'SUMMARY:second', ...times)),
    ];
    const { body } = await importFile(ann, id, file.join(''));
    expect([body.applied, body.failed]).toEqual([2, 0]);
    expect(await instancesOf(id)).toEqual([
      ['first', '2026-03-30T07:00:00Z'],
      ['second', '2026-03-30T13:00:00Z'],
    ]);
  });

  test('have several versions of an instance, of which the newest is read', async () => {
    const id = await newCalendar(ann, 'Versions');
    const version = (sequence: number, state: string): string[] =>
      vevent(
        'UID:versions',
        `SUMMARY:version ${sequence}`,
        `SEQUENCE:${sequence}`,
        'RECURRENCE-ID:20260331T100000Z',
        'DTSTART:20260331T120000Z',
        'ORGANIZER:mailto:ann@acme.example',
        `ATTENDEE;PARTSTAT=${state}:mailto:guest@side.example`,
      );
    const { body } = await importFile(
      ann,
      id,
      icsFile(
        ...vevent('UID:versions', 'SUMMARY:series', ...SERIES, 'ATTENDEE:mailto:guest@side.example'),
        ...version(3, 'DECLINED'),
        ...version(1, 'ACCEPTED'),
      ),
    );
    expect([body.applied, body.failed]).toEqual([1, 0]);
    expect((await instancesOf(id))[2]).toEqual(['version 3', '2026-03-31T12:00:00Z']);
  });

  test.each([
    ['DTSTART:20260330T180000', 'DTEND;TZID=Asia/Tokyo:20260330T190000'],
    ['DTSTART;TZID=America/New_York:20260330T180000', 'DTEND:20260330T190000'],
  ])('have one zone for %s and %s, also in a PUT', async (...times) => {
    const id = await newCalendar(ann, 'Zones');
    const path = `${dav.home('calendars')}${id}/zones.ics`;
    const put = await dav.send('PUT', path, icsFile(...vevent('UID:zones', ...times)), {
      'content-type': 'text/calendar',
    });
    expect(put.status).toBe(201);
    const { text } = await dav.send('GET', path);
    expect(text.match(/DT(?:START|END)[^\r]*T1[89]0000/g)).toHaveLength(2);
    const back = await dav.send('PUT', path, text, { 'content-type': 'text/calendar' });
    expect(back.status).toBe(204);
    const wrong = icsFile(...vevent('UID:wrong', times[0], times[1].replace('T19', 'T17')));
    const refused = await dav.send('PUT', path.replace('zones', 'wrong'), wrong, {
      'content-type': 'text/calendar',
    });
    expect(refused.status).toBe(403);
  });
});
