import { v7 as uuidv7 } from 'uuid';
import { IncomingMessages } from '../../../src/modules/calendar/scheduling/incoming-messages.js';
import { isUpdate } from '../../../src/modules/calendar/scheduling/scheduling.repository.js';
import { Db } from '../../../src/platform/database/db.js';
import { OutboxWorker } from '../../../src/platform/events/outbox.worker.js';
import { type TestUser, TestApp } from '../../support/app.ts';
import { at, defaultCalendar, eventPath, newEvent } from '../../support/domains/calendars.ts';
import { TestMailService } from '../../support/mail/mail-service.ts';

const ZOE = 'zoe@far.example';
const YAN = 'yan@far.example';

/** What recipients outside of the workspace get, and what a user applies by hand. */
describe('scheduling messages', () => {
  let mail: TestMailService;
  let app: TestApp;
  let ann: TestUser;
  let bob: TestUser;
  let calendar: string;

  beforeAll(async () => {
    mail = await TestMailService.start();
    app = await TestApp.start({ ...mail.settings, MAIL_ACCOUNTS: 'create' });
    [ann, bob] = await app.tenant('acme', 'ann', 'bob');
    for (const { api } of [ann, bob]) await api.get('/mail/users/me/mailboxes');
    calendar = await defaultCalendar(ann);
  });
  afterAll(async () => {
    await app?.stop();
    await mail?.stop();
  });

  interface Sent {
    method: string;
    sequence: number;
    subject: string;
    text: string;
    recipients: string;
    lines: string[];
  }
  interface Meeting {
    id: string;
    uid: string;
  }
  const meeting = (more: object = {}): Promise<Meeting> =>
    newEvent(ann, calendar, {
      title: 'M',
      start: '2027-03-02T09:00:00Z',
      end: '2027-03-02T10:00:00Z',
      attendees: [ZOE, YAN],
      ...more,
    });
  const quiet = (more: object = {}) => meeting({ send_updates: 'none', ...more });
  const change = async (event: Meeting, fields: object) =>
    expect((await ann.api.put(eventPath(calendar, event), fields)).status).toBe(200);
  const remove = async (event: Meeting, fields: object = { send_updates: 'none' }) =>
    expect((await ann.api.delete(eventPath(calendar, event), fields)).status).toBe(200);
  const send = async (event: Meeting, method: string, more: object = {}) => {
    const order = { event_id: event.id, method, ...more };
    const { status, body } = await ann.api.post(`/calendar/${calendar}/scheduling/outbox`, order);
    return [status, body.error ?? body.message.method];
  };

  /** The messages about an event, oldest first: method, subject and unfolded lines. */
  async function sent({ uid }: Meeting): Promise<Sent[]> {
    await app.get(OutboxWorker).drain();
    const rows = await app.sql(
      `SELECT message.method, message.sequence, message.ics, message.mail->>'subject' AS subject, message.mail->>'text' AS text,
              (SELECT string_agg(recipient, ' ' ORDER BY recipient) FROM scheduling_deliveries WHERE message_id = message.id) AS recipients
         FROM scheduling_messages message WHERE uid = $1 AND direction = 'out' ORDER BY message.id`,
      [uid],
    );
    return rows.map(({ ics, ...row }: any) => ({
      ...row,
      lines: ics.replaceAll('\r\n ', '').split('\r\n') as string[],
    }));
  }

  const REFUSED = [409, 'method_not_applicable'];

  test('CANCEL is sent for what is cancelled only', async () => {
    const weekly = await quiet({ rrule: 'FREQ=WEEKLY;COUNT=4' });
    const [second, third] = ['2027-03-09T09:00:00Z', '2027-03-16T09:00:00Z'];
    expect(await send(weekly, 'CANCEL')).toEqual(REFUSED);
    expect(await send(weekly, 'CANCEL', { recurrence_id: second })).toEqual(REFUSED);
    const one = { recurrence_id: second, scope: 'this', send_updates: 'none' };
    expect((await ann.api.delete(eventPath(calendar, weekly), one)).status).toBe(200);
    await change(weekly, { recurrence_id: third, scope: 'this', status: 'cancelled', send_updates: 'none' });
    for (const recurrence_id of [second, third])
      expect(await send(weekly, 'CANCEL', { recurrence_id })).toEqual([202, 'CANCEL']);
    expect(await send(weekly, 'CANCEL', { recurrence_id: '2027-03-10T09:00:00Z' })).toEqual([
      422,
      'not_an_instance',
    ]);
    expect(await send(weekly, 'CANCEL')).toEqual(REFUSED);
    const messages = await sent(weekly);
    expect(messages.map(({ method }) => method)).toEqual(['CANCEL', 'CANCEL']);
    // The text names the cancelled date, and no other one.
    expect(messages.map(({ text }) => text.match(/[a-z]+: \w+, March \d+/gi))).toEqual([
      ['Time: Tuesday, March 9'],
      ['Time: Tuesday, March 16'],
    ]);

    const single = await quiet();
    await change(single, { status: 'cancelled', send_updates: 'none' });
    expect(await send(single, 'CANCEL')).toEqual([202, 'CANCEL']);
  });

  test('CANCEL of a deleted meeting can be repeated by its organizer, and nothing else is sent about it', async () => {
    const event = await quiet();
    await remove(event);
    expect(await send(event, 'CANCEL')).toEqual([202, 'CANCEL']);
    const [message] = (await sent(event)) as [Sent];
    expect([message.recipients, message.sequence]).toEqual([`${YAN} ${ZOE}`, 1]);
    expect(message.lines).toContain('STATUS:CANCELLED');
    for (const method of ['REQUEST', 'PUBLISH', 'DECLINECOUNTER'])
      expect(await send(event, method, { recipients: [ZOE] })).toEqual([404, 'not_found']);
  });

  test('ADD and DECLINECOUNTER without a proposal are rejected', async () => {
    const event = await quiet({ rrule: 'FREQ=WEEKLY;COUNT=4' });
    const instance = { recurrence_id: '2027-03-09T09:00:00Z' };
    for (const method of ['ADD', 'DECLINECOUNTER'])
      for (const more of [{}, instance]) expect(await send(event, method, more)).toEqual(REFUSED);
    expect(await sent(event)).toEqual([]);
  });

  test('PUBLISH names no attendee', async () => {
    const event = await quiet();
    expect(await send(event, 'PUBLISH', { recipients: ['all@lists.example'] })).toEqual([202, 'PUBLISH']);
    expect(await send(event, 'PUBLISH', { recipients: [ZOE] })).toEqual([202, 'PUBLISH']);
    for (const { lines } of await sent(event)) {
      expect(lines.filter((line) => line.startsWith('ATTENDEE'))).toEqual([]);
      expect(lines.filter((line) => line.startsWith('ORGANIZER'))).toHaveLength(1);
    }
  });

  test('attendees get no copies of the text and the place, and no data of other programs', async () => {
    const text = [
      'BEGIN:VCALENDAR',
      'VERSION:2.0',
      'BEGIN:VEVENT',
      'UID:visit@acme.example',
      'DTSTAMP:20270101T000000Z',
      'DTSTART:20270715T090000Z',
      'DESCRIPTION:old',
      'LOCATION:old',
      'X-ALT-DESC;FMTTYPE=text/html:<p>old</p>',
      'STYLED-DESCRIPTION;VALUE=TEXT;FMTTYPE=text/html:<p>old</p>',
      'X-APPLE-STRUCTURED-LOCATION;VALUE=URI;X-TITLE=old:geo:48.8,2.3',
      'X-MOZ-LASTACK:20270101T000000Z',
      'RELATED-TO:plan@acme.example',
      `ORGANIZER:mailto:${ann.email}`,
      `ATTENDEE:mailto:${ZOE}`,
      'END:VEVENT',
      'END:VCALENDAR',
      '',
    ].join('\r\n');
    const imported = await ann.api.post(`/calendar/${calendar}/events/batch`, undefined, {
      raw: text,
      headers: { 'content-type': 'text/calendar' },
    });
    expect(imported.status).toBeLessThan(300);
    const [event] = (await ann.api.get(`/calendar/${calendar}/events?uid=visit@acme.example`)).body.events;
    await change(event, {
      description: 'new',
      location: 'new',
      start: at('2027-07-15T12:00:00'),
      end: at('2027-07-15T13:00:00'),
    });
    const [{ lines }] = (await sent(event)) as [Sent];
    expect(lines).toEqual(
      expect.arrayContaining(['DESCRIPTION:new', 'LOCATION:new', 'RELATED-TO:plan@acme.example']),
    );
    expect(lines.filter((line: string) => /old|^X-|^STYLED/.test(line))).toEqual([]);
    const own = (await ann.api.get(`/calendar/${calendar}/export.ics`)).text;
    expect(own).toContain('X-MOZ-LASTACK');
  });

  test('the subject tells an update from an invitation', async () => {
    const event = await meeting({ attendees: [ZOE] });
    const subjects = async () =>
      (await sent(event)).map(({ subject, recipients }) => `${recipients}: ${subject}`);
    expect(await subjects()).toEqual([`${ZOE}: Invitation: M`]);
    await change(event, { location: 'Room 2', attendees: [ZOE, YAN] });
    expect((await subjects()).slice(1).toSorted()).toEqual([
      `${YAN}: Invitation: M`,
      `${ZOE}: Updated invitation: M`,
    ]);
    expect(await send(event, 'REQUEST', { recipients: [YAN] })).toEqual([202, 'REQUEST']);
    // A repetition of the first message is no update.
    expect((await subjects()).at(-1)).toBe(`${YAN}: Invitation: M`);
  });

  test('of a meeting with many attendees, those who know it get an update', async () => {
    const known = Array.from({ length: 60 }, (_, n) => `guest-${n}@far.example`);
    const event = await meeting({ attendees: known });
    await sent(event);
    await change(event, { location: 'Room 2', attendees: [...known, ZOE] });
    const later = (await sent(event)).slice(known.length);
    const toldOf = (subject: string) =>
      later.filter((message) => message.subject === subject).map(({ recipients }) => recipients);
    expect(toldOf('Updated invitation: M').toSorted()).toEqual(known.toSorted());
    expect(toldOf('Invitation: M')).toEqual([ZOE]);
    const informs = (recipients: string[], sequence: number, method = 'REQUEST', id = event.id) =>
      isUpdate(app.get(Db), ann.tenantId!, id, recipients, {
        method,
        sequence,
        dtstamp: '2020-01-01T00:00:00Z',
      });
    expect(await informs(known, 1)).toBe(true);
    expect(await informs([...known, known[0]!], 1)).toBe(true);
    expect(await informs([...known, 'new@far.example'], 1)).toBe(false);
    expect(await informs(known, 0)).toBe(false);
    expect(await informs(known, 1, 'CANCEL')).toBe(false);
    expect(await informs(known, 1, 'REQUEST', (await quiet()).id)).toBe(false);
  });

  test('a change that attendees do not see sends no message', async () => {
    const event = await meeting({ attendees: [ZOE] });
    for (const fields of [{ color: '#ff0000' }, { categories: ['mine'] }, { show_as: 'free' }])
      await change(event, fields);
    expect(await sent(event)).toHaveLength(1);
    await change(event, { color: '#00ff00', location: 'Room 3' });
    expect(await sent(event)).toHaveLength(2);
  });

  test('CANCEL to a removed attendee has a higher SEQUENCE, of an event and of an instance', async () => {
    const event = await meeting({ rrule: 'FREQ=WEEKLY;COUNT=4' });
    const versions = async () =>
      (await sent(event)).map(({ method, sequence, recipients }) => `${method} ${sequence} ${recipients}`);
    expect((await versions()).toSorted()).toEqual([`REQUEST 0 ${YAN}`, `REQUEST 0 ${ZOE}`]);
    const one = { recurrence_id: '2027-03-09T09:00:00Z', scope: 'this' };
    await change(event, { ...one, attendees: [ZOE] });
    expect((await versions()).slice(2).toSorted()).toEqual([`CANCEL 1 ${YAN}`, `REQUEST 1 ${ZOE}`]);
    await change(event, { attendees: [ZOE] });
    expect(await versions()).toContain(`CANCEL 2 ${YAN}`);
    await change(event, { attendees: [ZOE, 'new@far.example'] });
    expect((await versions()).at(-1)).toMatch(/^REQUEST 2 /);
  });

  describe('by hand', () => {
    const lines = (method: string, uid: string, sequence: number, ...more: string[]): string =>
      [
        'BEGIN:VCALENDAR',
        'VERSION:2.0',
        `METHOD:${method}`,
        'BEGIN:VEVENT',
        `UID:${uid}`,
        `DTSTAMP:2027010${sequence + 1}T000000Z`,
        `SEQUENCE:${sequence}`,
        `ORGANIZER:mailto:${ZOE}`,
        'DTSTART:20270302T090000Z',
        ...more,
        'END:VEVENT',
        'END:VCALENDAR',
        '',
      ].join('\r\n');
    const take = async (body: object, person = ann) => {
      const path = `/calendar/${await defaultCalendar(person)}/scheduling/inbox`;
      const response = await person.api.post(path, body);
      const { message, event, error } = response.body;
      const { from, reason } = message ?? {};
      return { status: response.status, result: error ?? message?.result, reason, from, event };
    };

    /** Stores a mail with a calendar in an inbox. */
    async function mailWith(
      ics: string,
      from = ZOE,
      { api } = ann,
    ): Promise<{ mailbox: string; id: number }> {
      const { body } = await api.get('/mail/users/me/mailboxes');
      const { id: mailbox } = body.results.find(({ path }: { path: string }) => path === 'INBOX');
      const stored = await api.post(`/mail/users/me/mailboxes/${mailbox}/messages`, {
        draft: false,
        from: { address: from },
        subject: 'calendar',
        text: 'a',
        attachments: [
          { filename: 'a.ics', contentType: 'text/calendar', content: Buffer.from(ics).toString('base64') },
        ],
      });
      return { mailbox, id: stored.body.message.id };
    }

    test('a published event is added from a mail, updated and cancelled', async () => {
      const added = await take({ message: await mailWith(lines('PUBLISH', 'trip', 0, 'SUMMARY:Trip')) });
      expect([added.status, added.result, added.event.title]).toEqual([201, 'created', 'Trip']);
      const updated = await take({ ics: lines('PUBLISH', 'trip', 1, 'SUMMARY:Trip 2') });
      expect([updated.result, updated.event.title]).toEqual(['updated', 'Trip 2']);
      expect((await take({ ics: lines('CANCEL', 'trip', 0) })).result).toBe('ignored_stale');
      expect(await take({ ics: lines('CANCEL', 'trip', 2, 'STATUS:CANCELLED') })).toMatchObject({
        result: 'cancelled',
      });
      expect((await ann.api.get(`/calendar/${calendar}/events?uid=trip`)).body.events).toEqual([]);
    });

    test('one date of a published series is cancelled', async () => {
      const rule = 'RRULE:FREQ=DAILY;COUNT=3';
      expect((await take({ ics: lines('PUBLISH', 'course', 0, rule) })).status).toBe(201);
      const cancel = lines('CANCEL', 'course', 1, 'RECURRENCE-ID:20270303T090000Z');
      expect((await take({ ics: cancel.replace('DTSTART:20270302', 'DTSTART:20270303') })).result).toBe(
        'cancelled',
      );
      const window = `/calendar/${calendar}/instances?from=2027-03-01&to=2027-03-08`;
      const shown = (await ann.api.get(window)).body.instances.filter(({ uid }: any) => uid === 'course');
      expect(shown.map(({ start_utc }: any) => start_utc)).toEqual([
        '2027-03-02T09:00:00Z',
        '2027-03-04T09:00:00Z',
      ]);
    });

    test('an invitation to another address is added from a mail', async () => {
      const list = 'ATTENDEE:mailto:all@lists.example';
      const added = await take({ message: await mailWith(lines('REQUEST', 'list', 0, list)) });
      expect([added.status, added.result, added.reason]).toEqual([201, 'created', null]);
    });

    test('an unknown time zone is that of the calendar, with a warning', async () => {
      await ann.api.put(`/calendar/${calendar}`, { time_zone: 'Asia/Tokyo' });
      const text = lines('REQUEST', 'zone', 0, `ATTENDEE:mailto:${ann.email}`);
      const ics = text.replace('DTSTART:20270302T090000Z', 'DTSTART;TZID=Clock of the house:20270302T090000');
      const added = await take({ ics });
      expect([added.status, added.reason, added.event.start_utc]).toEqual([
        201,
        'unknown_time_zone',
        '2027-03-02T00:00:00Z',
      ]);
    });

    /** The result of a mail that arrives, and is applied without its user. */
    const arrive = async (ics: string, from: string, person = ann) => {
      const message = await app.get<IncomingMessages>(IncomingMessages).receive({
        tenantId: person.tenantId as string,
        userId: person.id,
        calendarId: null,
        bytes: Buffer.from(ics),
        from,
        isProven: true,
        method: null,
        isAuthentic: true,
        dedupeKey: uuidv7(),
      });
      return message?.reason ?? message?.result;
    };
    const IMIP = `ORGANIZER;CN=Zoe;EMAIL="zoe@phone.example":mailto:2_HEYDGOJZ@imip.phone.example`;

    describe('a mail of another address than the organizer', () => {
      test.each([
        ['a service', 'invitations-noreply@cloud.example', `ORGANIZER;CN=Zoe:mailto:${ZOE}`],
        ['a colleague', 'bob@acme.example', `ORGANIZER:mailto:${ZOE}`],
        ['a shared calendar', ZOE, 'ORGANIZER:mailto:c_1f@group.calendar.example'],
        ['EMAIL of a phone', 'zoe@phone.example', IMIP],
      ])('%s: the user adds, updates and cancels by hand only', async (name, from, organizer) => {
        const uid = `other-${name.replaceAll(' ', '-')}`;
        const version = (method: string, sequence: number, title: string) =>
          lines(method, uid, sequence, `ATTENDEE:mailto:${ann.email}`, `SUMMARY:${title}`).replace(
            `ORGANIZER:mailto:${ZOE}`,
            organizer,
          );
        const takeMail = async (...args: Parameters<typeof version>) =>
          take({ message: await mailWith(version(...args), from) });
        expect(await arrive(version('REQUEST', 0, 'One'), from)).toBe('sender_mismatch');
        const added = await takeMail('REQUEST', 0, 'One');
        expect(added).toMatchObject({ status: 201, result: 'created', reason: 'other_sender', from });
        expect(added.event).toMatchObject({
          title: 'One',
          my_response: 'needs_action',
          organizer: { email: /mailto:(.*)$/.exec(organizer)?.[1]?.toLowerCase() },
        });
        expect(await arrive(version('REQUEST', 1, 'Two'), from)).toBe('sender_mismatch');
        for (const sequence of [1, 2])
          expect(await takeMail('REQUEST', sequence, `Two ${sequence}`)).toMatchObject({
            result: 'updated',
            reason: 'other_sender',
            event: { title: `Two ${sequence}` },
          });
        expect(await arrive(version('CANCEL', 3, 'Two'), from)).toBe('sender_mismatch');
        expect(await takeMail('CANCEL', 3, 'Two')).toMatchObject({
          result: 'cancelled',
          reason: 'other_sender',
        });
      });

      test('it changes no event that the organizer has sent, nor one whose organizer it replaces', async () => {
        const invitation = (uid: string, sequence: number) =>
          lines('REQUEST', uid, sequence, `ATTENDEE:mailto:${ann.email}`, `SUMMARY:${sequence}`);
        expect(await arrive(invitation('genuine', 0), ZOE)).toBe('created');
        const forged = invitation('genuine', 1);
        for (const ics of [forged, forged.replace(ZOE, YAN), forged.replace('REQUEST', 'CANCEL')])
          expect(await take({ message: await mailWith(ics, YAN) })).toMatchObject({
            status: 403,
            result: 'sender_mismatch',
          });
        const service = 'noreply@cloud.example';
        await take({ message: await mailWith(invitation('marked', 0), service) });
        const stolen = invitation('marked', 1).replace(ZOE, YAN);
        for (const from of [YAN, service])
          expect((await take({ message: await mailWith(stolen, from) })).status).toBe(403);
        // The organizer takes the event over; then its mails alone change it.
        expect(await arrive(invitation('marked', 1), ZOE)).toBe('updated');
        const late = await take({ message: await mailWith(invitation('marked', 2), service) });
        expect(late.status).toBe(403);
      });

      test('a colleague forwards an invitation that the workspace has: its current version, and nothing newer', async () => {
        const ics = lines('REQUEST', 'forwarded', 0, `ATTENDEE:mailto:${bob.email}`, 'SUMMARY:Forwarded');
        expect(await arrive(ics, ZOE, bob)).toBe('created');
        const other = ics.replace('SUMMARY:Forwarded', 'SUMMARY:Guessed');
        const newer = ics.replace('DTSTAMP:20270101', 'DTSTAMP:20270102');
        const older = ics.replace('DTSTAMP:20270101', 'DTSTAMP:20260101');
        for (const wrong of [other, newer])
          expect((await take({ message: await mailWith(wrong, bob.email) })).status).toBe(403);
        expect((await take({ message: await mailWith(older, bob.email) })).result).not.toBe('created');
        const added = await take({ message: await mailWith(ics, bob.email) });
        expect([added.status, added.result, added.event.title]).toEqual([201, 'created', 'Forwarded']);
      });
    });

    describe('an event that was added by hand', () => {
      const forms = [
        ['published', (text: string) => text.replace('REQUEST', 'PUBLISH')],
        [
          'of an unknown zone',
          (text: string) => text.replace(/DTSTART:(\w+)Z/, 'DTSTART;TZID=Clock of the house:$1'),
        ],
      ] as const;
      test.each(forms)('%s: later mails of the same sender change it, others do not', async (name, form) => {
        const uid = `standing-${name.replaceAll(' ', '-')}`;
        const version = (sequence: number) =>
          form(lines('REQUEST', uid, sequence, `ATTENDEE:mailto:${ann.email}`, `SUMMARY:V${sequence}`));
        expect(await arrive(version(0), ZOE)).toMatch(/published_by_mail|unknown_time_zone/);
        const added = await take({ message: await mailWith(version(0), ZOE) });
        expect(added.status).toBe(201);
        expect(await arrive(version(1), YAN)).toMatch(/published_by_mail|sender_mismatch/);
        for (const sequence of [1, 2])
          expect(await arrive(version(sequence), ZOE)).toMatch(/updated|unknown_time_zone/);
        const { body } = await ann.api.get(eventPath(calendar, added.event));
        expect([body.event.title, body.event.start_utc]).toEqual(['V2', added.event.start_utc]);
        const cancel = lines('CANCEL', uid, 3);
        expect(await arrive(cancel, YAN)).toMatch(/published_by_mail|sender_mismatch/);
        expect(await arrive(cancel, ZOE)).toBe('cancelled');
      });
    });
  });
});
