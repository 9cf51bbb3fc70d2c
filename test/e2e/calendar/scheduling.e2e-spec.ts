import { createTransport } from 'nodemailer';
import { simpleParser } from 'mailparser';
import { QueueWorker } from '../../../src/mail-service/delivery/queue.worker.js';
import { SmtpReceiver } from '../../../src/mail-service/smtp/smtp-receiver.js';
import { Deliveries } from '../../../src/modules/calendar/scheduling/outgoing-messages.js';
import { CalendarMailIntake } from '../../../src/modules/mail/index.js';
import { OutboxWorker } from '../../../src/platform/events/outbox.worker.js';
import { type TestUser, TestApp } from '../../support/app.ts';
import { at, defaultCalendar, eventPath, newEvent, responsesOf } from '../../support/domains/calendars.ts';
import { TestMailService } from '../../support/mail/mail-service.ts';
import { OtherServer, type Received } from '../../support/mail/smtp.ts';
import { until } from '../../support/until.ts';

/** Two workspaces on one server that know each other by mail only, and an outside server behind SMTP. */
describe('scheduling', () => {
  let world: OtherServer;
  let mail: TestMailService;
  let app: TestApp;
  let ann: TestUser;
  let carl: TestUser;
  let bob: TestUser;
  let anns: string;
  let bobs: string;
  let smtp: number;

  beforeAll(async () => {
    world = await OtherServer.start();
    mail = await TestMailService.start({ SMTP_URL: world.url });
    app = await TestApp.start({ ...mail.settings, MAIL_ACCOUNTS: 'create' });
    smtp = await mail.get(SmtpReceiver).listen(0);
    [ann, carl] = await app.tenant('acme', 'ann', 'carl');
    [bob] = await app.tenant('partner', 'bob');
    for (const person of [ann, carl, bob]) await person.api.get('/mail/users/me/mailboxes');
    anns = await defaultCalendar(ann);
    bobs = await defaultCalendar(bob);
  });
  afterAll(async () => {
    await app?.stop();
    await mail?.stop();
    await world?.stop();
  });

  /** Everything in flight: outbox, deliveries, local mail, arrived calendars. */
  const settle = async (): Promise<void> => {
    const outbox = app.get(OutboxWorker);
    for (let round = 0; round < 3; round += 1) {
      await outbox.drain();
      await app.get(Deliveries).run();
      mail.get(QueueWorker).wake();
      await until('the queue of the mail service', async () => {
        const [{ n }] = await mail.sql('SELECT count(*)::int AS n FROM queue');
        return n === 0;
      });
      await app.get(CalendarMailIntake).run();
    }
    await outbox.drain();
  };
  const eventOf = async ({ api }: TestUser, calendar: string, uid: string): Promise<any> =>
    (await api.get(`/calendar/${calendar}/events?uid=${encodeURIComponent(uid)}&show_cancelled=true`)).body
      .events[0];
  const read = async ({ api }: TestUser, calendar: string, event: { id: string }, query = '') =>
    (await api.get(`${eventPath(calendar, event)}${query}`)).body;
  const messages = async ({ api }: TestUser, calendar: string, query = ''): Promise<any[]> =>
    (await api.get(`/calendar/${calendar}/scheduling/messages?limit=200${query}`)).body.messages;
  const ics = (text: string): string => text.replaceAll(/\r\n[ \t]/g, '');

  /** The calendars that the outside server received for an address, newest last. */
  const outside = async (address: string): Promise<{ text: string; raw: Received }[]> => {
    const found = world.received.filter(({ to }) => to.includes(address));
    return Promise.all(
      found.map(async (raw) => {
        const parsed = await simpleParser(raw.raw);
        const part = parsed.attachments.find(({ contentType }) => contentType === 'text/calendar');
        return { text: ics(part?.content.toString() ?? ''), raw };
      }),
    );
  };
  /** Sends a mail from the outside server to a member. */
  const fromOutside = async (
    from: string,
    to: string,
    method: string,
    lines: string[],
    more = {},
  ): Promise<void> => {
    const transport = createTransport({ host: '127.0.0.1', port: smtp, ignoreTLS: true });
    const content = [...lines, ''].join('\r\n');
    await transport.sendMail({
      from,
      to,
      subject: method,
      text: method,
      alternatives: [{ contentType: `text/calendar; charset=utf-8; method=${method}`, content }],
      ...more,
    });
    transport.close();
    await settle();
  };
  const vcalendar = (method: string, events: string[][], more: string[] = []): string[] => [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//Outside//EN',
    `METHOD:${method}`,
    ...more,
    ...events.flatMap((lines) => ['BEGIN:VEVENT', ...lines, 'END:VEVENT']),
    'END:VCALENDAR',
  ];

  test('an invitation between workspaces: mail, placement, response, change, one instance, cancellation', async () => {
    const event = await newEvent(ann, anns, {
      title: 'Joint planning',
      start: at('2027-03-01T09:00:00'),
      duration: 'PT1H',
      recurrence: { rules: ['FREQ=WEEKLY;BYDAY=MO;COUNT=5'] },
      attendees: [carl.id, bob.email],
    });
    await settle();
    const invited = await eventOf(bob, bobs, event.uid);
    expect(invited).toMatchObject({
      title: 'Joint planning',
      start: at('2027-03-01T09:00:00'),
      my_response: 'needs_action',
      organizer: { email: ann.email, id: null, self: false },
      recurrence: { rules: ['FREQ=WEEKLY;COUNT=5;BYDAY=MO'] },
      permissions: { edit: false, rsvp: true },
    });
    expect(responsesOf(invited)).toMatchObject({ bob: 'needs_action', carl: 'needs_action' });
    expect((await messages(ann, anns))[0]).toMatchObject({
      direction: 'out',
      method: 'REQUEST',
      result: 'sent',
      recipients: [{ email: bob.email, status: 'sent', error: null }],
    });
    expect((await messages(bob, bobs))[0]).toMatchObject({
      direction: 'in',
      method: 'REQUEST',
      result: 'created',
      from: ann.email,
      event_id: invited.id,
    });

    const response = await bob.api.put(`${eventPath(bobs, invited)}/rsvp`, {
      response: 'accepted',
      comment: 'See you',
    });
    expect(response.status).toBe(200);
    await settle();
    const responded = (await read(ann, anns, event)).event.attendees.find(
      ({ email }: any) => email === bob.email,
    );
    expect(responded).toMatchObject({ response: 'accepted', comment: 'See you' });
    expect((await messages(ann, anns, '&method=REPLY'))[0]).toMatchObject({
      direction: 'in',
      result: 'reply_recorded',
      from: bob.email,
    });

    // One instance moves: bob is invited to it again, and declines this one only.
    await ann.api.put(eventPath(anns, event), {
      scope: 'this',
      recurrence_id: at('2027-03-08T09:00:00'),
      start: at('2027-03-09T11:00:00'),
    });
    await settle();
    const moved = (await read(bob, bobs, invited, `?recurrence_id=2027-03-08T09:00:00`)).event;
    expect(moved).toMatchObject({
      type: 'exception',
      start: at('2027-03-09T11:00:00'),
      my_response: 'needs_action',
    });
    expect((await read(bob, bobs, invited)).event.my_response).toBe('accepted');
    await bob.api.put(`${eventPath(bobs, invited)}/rsvp`, {
      response: 'declined',
      scope: 'this',
      recurrence_id: at('2027-03-08T09:00:00'),
    });
    await settle();
    const seen = (await read(ann, anns, event, `?recurrence_id=2027-03-08T09:00:00`)).event;
    expect([responsesOf(seen).bob, responsesOf((await read(ann, anns, event)).event).bob]).toEqual([
      'declined',
      'accepted',
    ]);

    // One instance is deleted, then the series.
    await ann.api.delete(eventPath(anns, event), { scope: 'this', recurrence_id: at('2027-03-15T09:00:00') });
    await settle();
    const overrides = (await read(bob, bobs, invited, '?include=overrides')).overrides;
    expect(overrides.map(({ recurrence_id, status }: any) => [recurrence_id.date_time, status])).toEqual([
      ['2027-03-08T09:00:00', 'confirmed'],
      ['2027-03-15T09:00:00', 'cancelled'],
    ]);
    await ann.api.delete(eventPath(anns, event), { comment: 'Postponed' });
    await settle();
    expect((await read(bob, bobs, invited)).event).toMatchObject({ status: 'cancelled' });
    expect((await messages(bob, bobs)).map(({ result }) => result)).toContain('cancelled');
    // Members of the workspace got no mail.
    expect(
      (await messages(ann, anns)).flatMap(({ recipients }) => recipients.map(({ email }: any) => email)),
    ).not.toContain(carl.email);
  });

  test('a proposal between workspaces is accepted in one call; send_updates none sends nothing', async () => {
    const event = await newEvent(ann, anns, {
      title: 'Review',
      start: at('2027-04-01T09:00:00'),
      attendees: [bob.email],
    });
    await settle();
    const invited = await eventOf(bob, bobs, event.uid);
    const times = { start: at('2027-04-01T14:00:00'), end: at('2027-04-01T15:00:00') };
    const proposed = await bob.api.post(`${eventPath(bobs, invited)}/proposals`, {
      ...times,
      comment: 'Later?',
    });
    expect(proposed.status).toBe(201);
    await settle();
    const { proposals } = (await read(ann, anns, event, '?include=proposals')).event;
    expect(proposals).toMatchObject([
      { ...times, by: { email: bob.email }, status: 'pending', comment: 'Later?' },
    ]);
    const accepted = await ann.api.post(`${eventPath(anns, event)}/proposals`, {
      proposal_id: proposals[0].id,
      action: 'accept',
    });
    expect(accepted.body.proposal.status).toBe('accepted');
    await settle();
    const moved = (await read(bob, bobs, invited, '?include=proposals')).event;
    expect(moved).toMatchObject({ ...times, sequence: 1, proposals: [{ status: 'accepted' }] });
    const sent = (await messages(ann, anns)).length;
    await ann.api.put(eventPath(anns, event), { title: 'Quiet', send_updates: 'none' });
    await settle();
    expect((await messages(ann, anns)).length).toBe(sent);
    expect((await read(bob, bobs, invited)).event.title).toBe('Review');
  });

  describe('an outside mailbox', () => {
    const ZOE = 'zoe@far.example';

    const invite = async (fields: object = {}): Promise<any> => {
      const event = await newEvent(ann, anns, {
        title: 'Größe <1>',
        start: at('2027-05-03T09:00:00'),
        duration: 'PT1H',
        attendees: [ZOE],
        ...fields,
      });
      await settle();
      return event;
    };
    const zoes = async (event: any, query = '') =>
      (await read(ann, anns, event, query)).event.attendees.find(({ email }: any) => email === ZOE);
    const last = async (query = '') => (await messages(ann, anns, query))[0];
    /** Sends a response to Ann. */
    const respond = (from: string, ...lines: string[]) =>
      fromOutside(from, ann.email, 'REPLY', vcalendar('REPLY', [lines]));
    const inboxOf = async ({ api }: TestUser): Promise<string> =>
      (await api.get('/mail/users/me/mailboxes')).body.results.find(({ path }: any) => path === 'INBOX').id;

    test('gets one mail with METHOD in header and body, and the next date of a series in its text', async () => {
      const event = await invite({ recurrence: { rules: ['FREQ=DAILY'] } });
      const mails = (await outside(ZOE)).filter(({ text }) => text.includes(event.uid));
      expect(mails).toHaveLength(1);
      const [{ text, raw }] = mails as [{ text: string; raw: Received }];
      expect(raw.from).toBe(ann.email);
      expect(text).toMatch(/METHOD:REQUEST/);
      expect(text).toMatch(/BEGIN:VTIMEZONE\r\nTZID:Europe\/Berlin/);
      expect(text).toContain(
        `ORGANIZER;CN=ann:mailto:${ann.email}`.replace('CN=ann', `CN=${event.organizer.name}`),
      );
      const parsed = await simpleParser(raw.raw);
      expect(raw.raw.replaceAll(/\r?\n\s/g, ' ')).toMatch(/Content-Type: text\/calendar; method=REQUEST/i);
      expect(parsed.subject).toBe('Invitation: Größe <1>');
      expect(parsed.text).toMatch(/Next date: .*\d{4}, .*Europe\/Berlin.*UTC/);
      expect(parsed.html).toContain('Größe &lt;1&gt;');
    });

    test('responds as Google writes it; an older response is ignored', async () => {
      const event = await invite();
      const reply = (partstat: string, dtstamp: string, sequence = 0) =>
        vcalendar('REPLY', [
          [
            'DTSTART:20270503T070000Z',
            'DTEND:20270503T080000Z',
            `DTSTAMP:${dtstamp}`,
            `ORGANIZER;CN=${ann.email}:mailto:${ann.email}`,
            `UID:${event.uid}`,
            `ATTENDEE;CUTYPE=INDIVIDUAL;ROLE=REQ-PARTICIPANT;PARTSTAT=${partstat};CN=${ZOE};X-NUM-GUESTS=0:mailto:${ZOE}`,
            `SEQUENCE:${sequence}`,
            'STATUS:CONFIRMED',
            'SUMMARY:Größe',
            'TRANSP:OPAQUE',
          ],
        ]);
      await fromOutside(`Zoe <${ZOE}>`, ann.email, 'REPLY', reply('ACCEPTED', '20270101T100000Z'));
      expect(await zoes(event)).toMatchObject({
        response: 'accepted',
        responded_at: '2027-01-01T10:00:00.000Z',
      });
      await fromOutside(ZOE, ann.email, 'REPLY', reply('DECLINED', '20270101T090000Z'));
      expect(await last()).toMatchObject({ result: 'ignored_stale' });
      expect((await zoes(event)).response).toBe('accepted');
      // After a move, a response to the old time does not accept the new one.
      await ann.api.put(eventPath(anns, event), { start: at('2027-05-03T12:00:00') });
      await settle();
      expect((await zoes(event)).response).toBe('needs_action');
      await fromOutside(ZOE, ann.email, 'REPLY', reply('ACCEPTED', '20270102T100000Z'));
      expect(await last()).toMatchObject({ result: 'ignored_stale', reason: 'older_sequence' });
      expect((await zoes(event)).response).toBe('needs_action');
    });

    test('responds as Outlook writes it: without ORGANIZER, in a Windows zone, for one instance', async () => {
      const event = await invite({ recurrence: { rules: ['FREQ=WEEKLY;COUNT=4'] } });
      const windows = [
        'BEGIN:VTIMEZONE',
        'TZID:W. Europe Standard Time',
        'BEGIN:STANDARD',
        'DTSTART:16010101T030000',
        'TZOFFSETFROM:+0200',
        'TZOFFSETTO:+0100',
        'RRULE:FREQ=YEARLY;INTERVAL=1;BYDAY=-1SU;BYMONTH=10',
        'END:STANDARD',
        'BEGIN:DAYLIGHT',
        'DTSTART:16010101T020000',
        'TZOFFSETFROM:+0100',
        'TZOFFSETTO:+0200',
        'RRULE:FREQ=YEARLY;INTERVAL=1;BYDAY=-1SU;BYMONTH=3',
        'END:DAYLIGHT',
        'END:VTIMEZONE',
      ];
      await fromOutside(
        ZOE,
        ann.email,
        'REPLY',
        vcalendar(
          'REPLY',
          [
            [
              `ATTENDEE;PARTSTAT=TENTATIVE;CN=Zoe:MAILTO:${ZOE.toUpperCase()}`,
              'COMMENT;LANGUAGE=en-US:Perhaps\\n',
              `UID:${event.uid}`,
              'RECURRENCE-ID;TZID=W. Europe Standard Time:20270510T090000',
              'DTSTART;TZID=W. Europe Standard Time:20270510T090000',
              'DTEND;TZID=W. Europe Standard Time:20270510T100000',
              'DTSTAMP:20270101T100000Z',
              'SEQUENCE:0',
              'X-MICROSOFT-CDO-BUSYSTATUS:TENTATIVE',
            ],
          ],
          windows,
        ),
      );
      expect((await zoes(event)).response).toBe('needs_action');
      expect(await zoes(event, '?recurrence_id=2027-05-10T09:00:00')).toMatchObject({
        response: 'tentative',
      });
    });

    test('responds as Apple writes it: this and following; delegates; asks again; proposes', async () => {
      const event = await invite({ recurrence: { rules: ['FREQ=WEEKLY;COUNT=6'] } });
      const common = [`UID:${event.uid}`, `ORGANIZER:mailto:${ann.email}`, 'SEQUENCE:0'];
      await fromOutside(
        ZOE,
        ann.email,
        'REPLY',
        vcalendar('REPLY', [
          [
            ...common,
            'DTSTAMP:20270101T100000Z',
            'RECURRENCE-ID;TZID=Europe/Berlin;RANGE=THISANDFUTURE:20270524T090000',
            'DTSTART;TZID=Europe/Berlin:20270524T090000',
            `ATTENDEE;CN="Zoe";EMAIL="${ZOE}";PARTSTAT=DECLINED:mailto:${ZOE}`,
          ],
        ]),
      );
      expect((await zoes(event, '?recurrence_id=2027-05-17T09:00:00')).response).toBe('needs_action');
      expect((await zoes(event, '?recurrence_id=2027-05-31T09:00:00')).response).toBe('declined');

      await fromOutside(
        ZOE,
        ann.email,
        'REPLY',
        vcalendar('REPLY', [
          [
            ...common,
            'DTSTAMP:20270101T110000Z',
            `ATTENDEE;PARTSTAT=DELEGATED;DELEGATED-TO="mailto:kim@far.example":mailto:${ZOE}`,
          ],
        ]),
      );
      const { event: delegated } = await read(ann, anns, event);
      expect(delegated.attendees).toEqual(
        expect.arrayContaining([
          expect.objectContaining({ email: ZOE, response: 'delegated', delegated_to: 'kim@far.example' }),
          expect.objectContaining({
            email: 'kim@far.example',
            response: 'needs_action',
            delegated_from: ZOE,
          }),
        ]),
      );
      await fromOutside(
        'kim@far.example',
        ann.email,
        'REFRESH',
        vcalendar('REFRESH', [[...common, 'DTSTAMP:20270101T120000Z', 'ATTENDEE:mailto:kim@far.example']]),
      );
      expect((await messages(ann, anns, '&direction=in'))[0]).toMatchObject({ result: 'refresh_answered' });
      expect((await outside('kim@far.example')).at(-1)?.text).toMatch(/METHOD:REQUEST/);

      await fromOutside(
        'kim@far.example',
        ann.email,
        'COUNTER',
        vcalendar('COUNTER', [
          [
            ...common,
            'DTSTAMP:20270101T130000Z',
            'RECURRENCE-ID:20270510T070000Z',
            'DTSTART:20270510T120000Z',
            'DTEND:20270510T130000Z',
            'COMMENT:Noon suits better',
            'ATTENDEE;PARTSTAT=TENTATIVE:mailto:kim@far.example',
          ],
        ]),
      );
      const { proposals } = (await read(ann, anns, event, '?include=proposals')).event;
      expect(proposals).toMatchObject([
        {
          by: { email: 'kim@far.example' },
          comment: 'Noon suits better',
          status: 'pending',
          recurrence_id: at('2027-05-10T09:00:00'),
          start: { date_time: '2027-05-10T12:00:00', time_zone: 'UTC' },
        },
      ]);
      await ann.api.post(`${eventPath(anns, event)}/proposals`, {
        proposal_id: proposals[0].id,
        action: 'decline',
      });
      await settle();
      expect((await outside('kim@far.example')).at(-1)?.text).toMatch(/METHOD:DECLINECOUNTER/);
    });

    test('a sender that claims a delegation or SENT-BY of another domain changes nothing', async () => {
      const event = await invite();
      const reply = (from: string, attendee: string) =>
        respond(
          from,
          `UID:${event.uid}`,
          'DTSTAMP:20270101T100000Z',
          'SEQUENCE:0',
          `ATTENDEE;PARTSTAT=ACCEPTED;${attendee}`,
        );
      await reply('eve@evil.example', `DELEGATED-FROM="mailto:${ZOE}":mailto:eve@evil.example`);
      expect(await last()).toMatchObject({ result: 'rejected', reason: 'not_an_attendee' });
      await reply('eve@evil.example', `SENT-BY="mailto:eve@evil.example":mailto:${ZOE}`);
      expect(await last()).toMatchObject({ result: 'rejected', reason: 'sender_mismatch' });
      expect((await read(ann, anns, event)).event.attendees.map(({ email }: any) => email)).not.toContain(
        'eve@evil.example',
      );
      expect((await zoes(event)).response).toBe('needs_action');
      const desk = `desk@${ZOE.split('@')[1]}`;
      await reply(desk, `SENT-BY="mailto:${desk}":mailto:${ZOE}`);
      expect((await zoes(event)).response).toBe('accepted');

      const request = (from: string, sequence: number, summary: string) =>
        fromOutside(
          from,
          ann.email,
          'REQUEST',
          vcalendar('REQUEST', [
            [
              'UID:claimed@far.example',
              'DTSTAMP:20270101T100000Z',
              `SEQUENCE:${sequence}`,
              'DTSTART:20270503T090000Z',
              `SUMMARY:${summary}`,
              `ORGANIZER${from === ZOE ? '' : `;SENT-BY="mailto:${from}"`}:mailto:${ZOE}`,
              `ATTENDEE:mailto:${ann.email}`,
            ],
          ]),
        );
      await request(ZOE, 0, 'Plan');
      await request('eve@evil.example', 1, 'Other place');
      expect(await last()).toMatchObject({ result: 'rejected', reason: 'sender_mismatch' });
      expect(await eventOf(ann, anns, 'claimed@far.example')).toMatchObject({ title: 'Plan' });
      await request(desk, 1, 'Plan of the desk');
      expect(await eventOf(ann, anns, 'claimed@far.example')).toMatchObject({ title: 'Plan of the desk' });
    });

    test('foreign senders, unknown events, another METHOD in the header and TNEF are logged and change nothing', async () => {
      const event = await invite();
      const reply = (email: string, uid = event.uid) =>
        vcalendar('REPLY', [
          [
            `UID:${uid}`,
            'DTSTAMP:20270101T100000Z',
            `ATTENDEE;PARTSTAT=DECLINED:mailto:${email}`,
            'SEQUENCE:0',
          ],
        ]);
      await fromOutside('eve@far.example', ann.email, 'REPLY', reply(ZOE));
      expect(await last()).toMatchObject({
        result: 'rejected',
        reason: 'sender_mismatch',
        from: 'eve@far.example',
      });
      await fromOutside('eve@far.example', ann.email, 'REPLY', reply('eve@far.example'));
      expect(await last()).toMatchObject({ result: 'rejected', reason: 'not_an_attendee' });
      await fromOutside(ZOE, ann.email, 'REPLY', reply(ZOE, 'unknown'));
      expect(await last()).toMatchObject({ result: 'ignored_unknown', event_id: null, uid: 'unknown' });
      await fromOutside(ZOE, ann.email, 'REQUEST', reply(ZOE));
      expect(await last()).toMatchObject({ result: 'rejected', reason: 'method_mismatch' });
      const tnef = { filename: 'winmail.dat', contentType: 'application/ms-tnef', content: 'x' };
      await fromOutside(ZOE, ann.email, 'x', [], { alternatives: [], attachments: [tnef] });
      expect(await last()).toMatchObject({ result: 'rejected', reason: 'tnef_unsupported', method: null });
      // An outside message does not change an event of the workspace.
      await fromOutside(
        ZOE,
        ann.email,
        'REQUEST',
        vcalendar('REQUEST', [
          [
            `UID:${event.uid}`,
            'SEQUENCE:9',
            'DTSTAMP:20270101T100000Z',
            'DTSTART:20270503T070000Z',
            'SUMMARY:Stolen',
            `ORGANIZER:mailto:${ann.email}`,
            `ATTENDEE:mailto:${ann.email}`,
          ],
        ]),
      );
      expect(await last()).toMatchObject({ result: 'rejected', reason: 'sender_mismatch' });
      expect((await read(ann, anns, event)).event).toMatchObject({ title: 'Größe <1>', sequence: 0 });
      expect((await zoes(event)).response).toBe('needs_action');
    });

    test('invites a member: instances without a master are kept until it arrives; stale versions are ignored', async () => {
      const uid = 'outside-series@far.example';
      const common = [
        `UID:${uid}`,
        `ORGANIZER;CN=Zoe:mailto:${ZOE}`,
        `ATTENDEE;RSVP=TRUE:mailto:${bob.email}`,
      ];
      const send = (events: string[][]) =>
        fromOutside(ZOE, bob.email, 'REQUEST', vcalendar('REQUEST', events));
      const instance = [
        ...common,
        'SEQUENCE:0',
        'DTSTAMP:20270101T100000Z',
        'RECURRENCE-ID;TZID=Romance Standard Time:20270609T100000',
        'DTSTART;TZID=Romance Standard Time:20270610T100000',
        'DTEND;TZID=Romance Standard Time:20270610T110000',
        'SUMMARY:Moved',
      ];
      await send([instance]);
      const orphan = await eventOf(bob, bobs, uid);
      const june = `/calendar/${bobs}/instances?from=2027-06-01&to=2027-06-30`;
      const instances = async () =>
        (await bob.api.get(june)).body.instances
          .filter(({ uid: of }: any) => of === uid)
          .map(({ title, start }: any) => [title, start.date_time]);
      expect(await instances()).toEqual([['Moved', '2027-06-10T10:00:00']]);
      const master = [
        ...common,
        'SEQUENCE:0',
        'DTSTAMP:20270101T090000Z',
        'DTSTART;TZID=Romance Standard Time:20270602T100000',
        'DTEND;TZID=Romance Standard Time:20270602T110000',
        'RRULE:FREQ=WEEKLY;COUNT=3',
        'SUMMARY:Series',
      ];
      await send([master]);
      expect((await eventOf(bob, bobs, uid)).id).toBe(orphan.id);
      expect(await instances()).toEqual([
        ['Series', '2027-06-02T10:00:00'],
        ['Moved', '2027-06-10T10:00:00'],
        ['Series', '2027-06-16T10:00:00'],
      ]);
      const bobLog = async () => (await messages(bob, bobs))[0];
      await send([master]);
      expect(await bobLog()).toMatchObject({ result: 'ignored_duplicate' });
      await bob.api.put(`${eventPath(bobs, orphan)}/rsvp`, { response: 'accepted' });
      await settle();
      expect((await outside(ZOE)).at(-1)?.text).toMatch(/METHOD:REPLY/);
      expect((await outside(ZOE)).at(-1)?.text).toContain(`PARTSTAT=ACCEPTED;RSVP=FALSE:mailto:${bob.email}`);
      // A new title keeps the response, a new time resets it.
      await send([master.map((line) => line.replace('090000Z', '110000Z').replace('Series', 'Renamed'))]);
      expect(await eventOf(bob, bobs, uid)).toMatchObject({ title: 'Renamed', my_response: 'accepted' });
      await send([
        master.map((line) =>
          line
            .replace('SEQUENCE:0', 'SEQUENCE:1')
            .replace('T100000', 'T120000')
            .replace('T110000', 'T130000')
            .replace('090000Z', '120000Z'),
        ),
      ]);
      expect(await eventOf(bob, bobs, uid)).toMatchObject({ my_response: 'needs_action', sequence: 1 });
      await send([master.map((line) => line.replace('090000Z', '230000Z'))]);
      expect(await bobLog()).toMatchObject({ result: 'ignored_stale' });
      // The rest of the series ends, then all of it.
      const cancel = (more: string[]) =>
        fromOutside(
          ZOE,
          bob.email,
          'CANCEL',
          vcalendar('CANCEL', [
            [...common, 'DTSTAMP:20270102T100000Z', 'SEQUENCE:2', 'STATUS:CANCELLED', ...more],
          ]),
        );
      await cancel([
        'RECURRENCE-ID;TZID=Romance Standard Time;RANGE=THISANDFUTURE:20270616T120000',
        'DTSTART;TZID=Romance Standard Time:20270616T120000',
      ]);
      expect((await instances()).length).toBe(2);
      await cancel(['DTSTART;TZID=Romance Standard Time:20270602T120000']);
      expect((await eventOf(bob, bobs, uid)).status).toBe('cancelled');
    });

    test('is invited to one instance: it gets this instance, responds to it, and gets a cancellation when it no longer takes part', async () => {
      const KIM = 'kim@far.example';
      const event = await invite({ recurrence: { rules: ['FREQ=WEEKLY;COUNT=4'] } });
      const change = (day: string, attendees: string[]) =>
        ann.api.put(eventPath(anns, event), { scope: 'this', recurrence_id: at(day), attendees });
      await change('2027-05-10T09:00:00', [ZOE, KIM]);
      await change('2027-05-17T09:00:00', []);
      await settle();
      const of = async (address: string) =>
        (await outside(address)).map(({ text }) => text).filter((text) => text.includes(event.uid));
      const [invitation, ...others] = await of(KIM);
      expect(others).toEqual([]);
      expect(invitation).toMatch(/METHOD:REQUEST/);
      expect(invitation).toContain('RECURRENCE-ID;TZID=Europe/Berlin:20270510T090000');
      expect(invitation).not.toContain('RRULE');
      // The relay sends the messages of both changes at once, in any order.
      const cancelled = (await of(ZOE)).find((text) => text.includes('METHOD:CANCEL'));
      expect(cancelled).toContain('RECURRENCE-ID;TZID=Europe/Berlin:20270517T090000');
      // The next version of the series leaves this date out.
      await ann.api.put(eventPath(anns, event), { title: 'Renamed' });
      await settle();
      expect((await of(ZOE)).at(-1)).toContain('EXDATE;TZID=Europe/Berlin:20270517T090000');
      expect((await of(KIM)).at(-1)).not.toContain('RRULE');

      const reply = (from: string, day: string) =>
        respond(
          from,
          `UID:${event.uid}`,
          'DTSTAMP:20270101T100000Z',
          `RECURRENCE-ID:${day}T070000Z`,
          `DTSTART:${day}T070000Z`,
          `ORGANIZER:mailto:${ann.email}`,
          `ATTENDEE;PARTSTAT=ACCEPTED:mailto:${from}`,
          'SEQUENCE:0',
        );
      await reply(KIM, '20270510');
      expect(await last()).toMatchObject({ result: 'reply_recorded' });
      const { attendees } = (await read(ann, anns, event, '?recurrence_id=2027-05-10T09:00:00')).event;
      expect(attendees.find(({ email }: any) => email === KIM)).toMatchObject({ response: 'accepted' });
      for (const [from, day] of [
        [KIM, '20270503'],
        [ZOE, '20270517'],
      ] as const) {
        await reply(from, day);
        expect(await last()).toMatchObject({ result: 'rejected', reason: 'not_an_attendee' });
      }
    });

    test.each([
      ['series first', [0, 1, 2]],
      ['instance first', [2, 0, 1]],
    ])(
      'invites another member to one instance of a series, %s: the member sees it only',
      async (name, order) => {
        const uid = `${name.replace(' ', '-')}@far.example`;
        const carls = await defaultCalendar(carl);
        const days = async (person: TestUser, calendar: string) =>
          (
            await person.api.get(`/calendar/${calendar}/instances?from=2027-09-01&to=2027-09-30`)
          ).body.instances
            .filter((each: any) => each.uid === uid && each.status !== 'cancelled')
            .map(({ start }: any) => start.date_time.slice(5, 10));
        const vevent = (people: string[], more: string[]) => [
          `UID:${uid}`,
          `ORGANIZER;CN=Zoe:mailto:${ZOE}`,
          ...people.map((email) => `ATTENDEE;RSVP=TRUE:mailto:${email}`),
          'SEQUENCE:0',
          ...more,
        ];
        const time = (name: string, text: string) => `${name};TZID=Europe/Berlin:${text}`;
        const series = vevent(
          [ann.email],
          [
            'DTSTAMP:20270101T090000Z',
            time('DTSTART', '20270901T100000'),
            time('DTEND', '20270901T110000'),
            'RRULE:FREQ=WEEKLY;COUNT=4',
            'SUMMARY:Series',
            'DESCRIPTION:Confidential',
          ],
        );
        const guest = vevent(
          [ann.email, carl.email],
          [
            'DTSTAMP:20270101T100000Z',
            time('RECURRENCE-ID', '20270908T100000'),
            time('DTSTART', '20270908T100000'),
            time('DTEND', '20270908T110000'),
            'SUMMARY:With Carl',
          ],
        );
        const mails = [
          [ann, series],
          [ann, guest],
          [carl, guest],
        ] as const;
        for (const n of order) {
          const [person, event] = mails[n] as (typeof mails)[0];
          await fromOutside(ZOE, person.email, 'REQUEST', vcalendar('REQUEST', [event]));
        }
        expect([await days(ann, anns), await days(carl, carls)]).toEqual([
          ['09-01', '09-08', '09-15', '09-22'],
          ['09-08'],
        ]);
        const own = await eventOf(carl, carls, uid);
        expect([own.title, own.description]).toEqual(['With Carl', '']);
        // A new version of the series changes nothing for the guest of one instance.
        const renamed = series.map((line) => line.replace('090000Z', '110000Z').replace('Series', 'Renamed'));
        await fromOutside(ZOE, ann.email, 'REQUEST', vcalendar('REQUEST', [renamed]));
        expect([await days(carl, carls), (await eventOf(carl, carls, uid)).title]).toEqual([
          ['09-08'],
          'With Carl',
        ]);
        // One member is removed from the instance, the other one still takes part.
        const removed = vevent(
          [ann.email],
          [
            'DTSTAMP:20270101T120000Z',
            time('RECURRENCE-ID', '20270908T100000'),
            time('DTSTART', '20270908T100000'),
            'STATUS:CANCELLED',
          ],
        );
        await fromOutside(ZOE, ann.email, 'CANCEL', vcalendar('CANCEL', [removed]));
        expect([await days(ann, anns), await days(carl, carls)]).toEqual([
          ['09-01', '09-15', '09-22'],
          ['09-08'],
        ]);
      },
    );

    test('a new version of an instance that the attendee removed shows it again only at a new time', async () => {
      const uid = 'removed-instance@far.example';
      const at = (name: string, text: string) => `${name};TZID=Europe/Berlin:${text}`;
      const send = (dtstamp: string, ...lines: string[]) =>
        fromOutside(
          ZOE,
          bob.email,
          'REQUEST',
          vcalendar('REQUEST', [
            [
              `UID:${uid}`,
              `ORGANIZER:mailto:${ZOE}`,
              `ATTENDEE;RSVP=TRUE:mailto:${bob.email}`,
              `DTSTAMP:${dtstamp}`,
              ...lines,
            ],
          ]),
        );
      const days = async () =>
        (await bob.api.get(`/calendar/${bobs}/instances?from=2027-10-01&to=2027-10-31`)).body.instances
          .filter((each: any) => each.uid === uid)
          .map(({ start, my_response }: any) => `${start.date_time.slice(5, 10)} ${my_response}`);
      await send(
        '20270101T090000Z',
        at('DTSTART', '20271006T100000'),
        'RRULE:FREQ=WEEKLY;COUNT=3',
        'SUMMARY:A',
      );
      const event = await eventOf(bob, bobs, uid);
      const { status } = await bob.api.delete(eventPath(bobs, event), {
        scope: 'this',
        recurrence_id: { date_time: '2027-10-13T10:00:00', time_zone: 'Europe/Berlin' },
      });
      expect([status, await days()]).toEqual([200, ['10-06 needs_action', '10-20 needs_action']]);
      const instance = [at('RECURRENCE-ID', '20271013T100000'), 'SUMMARY:B'];
      await send('20270101T100000Z', ...instance, at('DTSTART', '20271013T100000'));
      expect(await days()).toEqual(['10-06 needs_action', '10-20 needs_action']);
      await send('20270101T110000Z', ...instance, at('DTSTART', '20271014T100000'), 'SEQUENCE:1');
      expect(await days()).toEqual(['10-06 needs_action', '10-14 needs_action', '10-20 needs_action']);
    });

    test('ADD adds an instance to an event or a series; for an unknown event the server asks with REFRESH', async () => {
      const people = [`ORGANIZER;CN=Zoe:mailto:${ZOE}`, `ATTENDEE;RSVP=TRUE:mailto:${bob.email}`];
      const send = (method: string, uid: string, more: string[]) =>
        fromOutside(ZOE, bob.email, method, vcalendar(method, [[`UID:${uid}`, ...people, ...more]]));
      const times = (day: string, title: string) => [
        `DTSTART;TZID=Europe/Berlin:${day}T100000`,
        `DTEND;TZID=Europe/Berlin:${day}T110000`,
        `SUMMARY:${title}`,
      ];
      for (const [uid, rule] of [
        ['add-to-series', ['RRULE:FREQ=WEEKLY;COUNT=2']],
        ['add-to-single', []],
      ] as const) {
        await send('REQUEST', uid, ['DTSTAMP:20270101T090000Z', ...rule, ...times('20270901', uid)]);
        await send('ADD', uid, [
          'SEQUENCE:1',
          'DTSTAMP:20270102T090000Z',
          ...times('20270917', `more ${uid}`),
        ]);
        const { instances } = (await bob.api.get(`/calendar/${bobs}/instances?from=2027-09-01&to=2027-09-30`))
          .body;
        expect(
          instances
            .filter((one: any) => one.uid === uid)
            .map(({ title, start }: any) => [title, start.date_time]),
        ).toEqual([
          [uid, '2027-09-01T10:00:00'],
          ...(rule.length > 0 ? [[uid, '2027-09-08T10:00:00']] : []),
          [`more ${uid}`, '2027-09-17T10:00:00'],
        ]);
      }
      await send('ADD', 'add-to-nothing', [
        'SEQUENCE:1',
        'DTSTAMP:20270102T090000Z',
        ...times('20270917', 'x'),
      ]);
      expect((await messages(bob, bobs, '&direction=in'))[0]).toMatchObject({
        method: 'ADD',
        result: 'ignored_unknown',
        uid: 'add-to-nothing',
      });
      expect((await messages(bob, bobs, '&direction=out'))[0]).toMatchObject({
        method: 'REFRESH',
        result: 'sent',
        uid: 'add-to-nothing',
      });
      const refresh = (await outside(ZOE)).at(-1)!.text;
      expect(refresh).toContain('METHOD:REFRESH');
      expect(refresh).toContain('UID:add-to-nothing');
      // A UID that is stored as a digest, with characters that a text escapes.
      const long = `a\\,b-${'0123456789'.repeat(60)}`;
      await send('ADD', long, ['SEQUENCE:1', 'DTSTAMP:20270102T090000Z', ...times('20270917', 'x')]);
      expect((await outside(ZOE)).at(-1)!.text).toContain(`UID:${long}\r\n`);
    });

    test('50 attendees who respond by mail at once lose no response', async () => {
      const guests = Array.from({ length: 50 }, (_, n) => `guest${n}@far.example`);
      const event = await newEvent(ann, anns, {
        title: 'Town hall',
        start: at('2027-10-04T09:00:00'),
        attendees: guests,
        send_updates: 'none',
      });
      const transport = createTransport({ host: '127.0.0.1', port: smtp, ignoreTLS: true, pool: true });
      await Promise.all(
        guests.map((guest, n) =>
          transport.sendMail({
            from: guest,
            to: ann.email,
            subject: 'Response',
            text: 'Response',
            alternatives: [
              {
                contentType: 'text/calendar; method=REPLY',
                content: [
                  ...vcalendar('REPLY', [
                    [
                      `UID:${event.uid}`,
                      'DTSTAMP:20270101T090000Z',
                      `ATTENDEE;PARTSTAT=${n % 2 ? 'ACCEPTED' : 'DECLINED'}:mailto:${guest}`,
                    ],
                  ]),
                  '',
                ].join('\r\n'),
              },
            ],
          }),
        ),
      );
      transport.close();
      // The calendars are taken in and applied by concurrent workers.
      await Promise.all([settle(), settle(), settle()]);
      await settle();
      const { attendees } = (await read(ann, anns, event)).event;
      const byEmail = new Map(attendees.map(({ email, response }: any) => [email, response]));
      expect(guests.map((guest) => byEmail.get(guest))).toEqual(
        guests.map((_, n) => (n % 2 ? 'accepted' : 'declined')),
      );
      const log = await messages(ann, anns, `&uid=${event.uid}`);
      expect(log.map(({ result }) => result)).toEqual(guests.map(() => 'reply_recorded'));
    });

    test('a mail of the mailbox is taken in by its reference: sender and calendar are those of the mail', async () => {
      const uid = 'by-reference';
      const invitation = vcalendar('REQUEST', [
        [
          `UID:${uid}`,
          'DTSTAMP:20270101T090000Z',
          'DTSTART:20271101T090000Z',
          'SUMMARY:By reference',
          `ORGANIZER:mailto:${ZOE}`,
          `ATTENDEE:mailto:${bob.email}`,
        ],
      ]);
      await fromOutside(ZOE, bob.email, 'REQUEST', invitation, { subject: 'Taken' });
      await fromOutside('mallory@far.example', bob.email, 'REQUEST', invitation, { subject: 'Forged' });
      await fromOutside(ZOE, bob.email, 'REQUEST', invitation, { subject: 'Plain', alternatives: [] });
      const inbox = await inboxOf(bob);
      const listed = (await bob.api.get(`/mail/users/me/mailboxes/${inbox}/messages?limit=50`)).body.results;
      const take = async (wanted: string) => {
        const { id } = listed.find(({ subject }: any) => subject === wanted);
        const message = { mailbox: inbox, id };
        return bob.api.post(`/calendar/${bobs}/scheduling/inbox`, { message });
      };
      const taken = await take('Taken');
      expect([taken.status, taken.body.message, taken.body.event.title]).toEqual([
        200,
        expect.objectContaining({ result: 'ignored_duplicate', from: ZOE, uid }),
        'By reference',
      ]);
      const forged = await take('Forged');
      expect([forged.status, forged.body.error]).toEqual([403, 'sender_mismatch']);
      const plain = await take('Plain');
      expect([plain.status, plain.body.details]).toEqual([
        422,
        [expect.objectContaining({ field: 'message', code: 'no_calendar' })],
      ]);
      const unknown = await bob.api.post(`/calendar/${bobs}/scheduling/inbox`, {
        message: { mailbox: inbox, id: 999_999 },
      });
      expect(unknown.body.details[0].code).toBe('no_calendar');
    });

    test('all meetings of one mail are taken: of several parts, and of one part', async () => {
      const request = (uid: string) =>
        vcalendar('REQUEST', [
          [
            `UID:${uid}`,
            'DTSTAMP:20270101T090000Z',
            'DTSTART:20271101T090000Z',
            `SUMMARY:${uid}`,
            `ORGANIZER:mailto:${ZOE}`,
            `ATTENDEE:mailto:${bob.email}`,
          ],
        ]);
      const part = (uid: string) => ({
        contentType: 'text/calendar; charset=utf-8; method=REQUEST',
        content: [...request(uid), ''].join('\r\n'),
      });
      const several = { subject: 'Several', attachments: [part('many-1'), part('many-2'), part('many-3')] };
      await fromOutside(ZOE, bob.email, 'REQUEST', request('many-1'), several);
      // A calendar that cannot be read costs the others nothing.
      const broken = [
        'BEGIN:VCALENDAR',
        'METHOD:REQUEST',
        'BEGIN:VEVENT',
        'DTSTART:soon',
        'END:VEVENT',
        'END:VCALENDAR',
      ];
      const lines = [...request('one-1'), ...broken, ...request('one-2')];
      await fromOutside(ZOE, bob.email, 'REQUEST', lines, { subject: 'One part' });
      const uids = ['many-1', 'many-2', 'many-3', 'one-1', 'one-2'];
      for (const uid of uids) {
        expect((await eventOf(bob, bobs, uid)).title).toBe(uid);
        const log = await messages(bob, bobs, `&uid=${uid}`);
        expect(log.map(({ result }) => result)).toEqual(['created']);
      }
      await app.sql(`DELETE FROM calendar_events WHERE uid = ANY ($1)`, [['many-1', 'many-3']]);
      const inbox = await inboxOf(bob);
      const listed = (await bob.api.get(`/mail/users/me/mailboxes/${inbox}/messages?limit=50`)).body.results;
      const { id } = listed.find(({ subject }: any) => subject === 'Several');
      const taken = await bob.api.post(`/calendar/${bobs}/scheduling/inbox`, {
        message: { mailbox: inbox, id },
      });
      expect([taken.status, taken.body.message.result]).toEqual([201, 'created']);
      for (const uid of uids) expect((await eventOf(bob, bobs, uid)).title).toBe(uid);
    });

    test('a mail that a member stores in the own mailbox does not cancel an event of another member', async () => {
      const uid = 'of-two-members';
      const lines = (method: string, sequence: number) =>
        vcalendar(method, [
          [
            `UID:${uid}`,
            'DTSTAMP:20270101T090000Z',
            `SEQUENCE:${sequence}`,
            'DTSTART:20271108T090000Z',
            'SUMMARY:Of two members',
            `ORGANIZER:mailto:${ZOE}`,
            `ATTENDEE:mailto:${ann.email}`,
            `ATTENDEE:mailto:${carl.email}`,
          ],
        ]);
      for (const { email } of [ann, carl]) await fromOutside(ZOE, email, 'REQUEST', lines('REQUEST', 0));
      const inbox = await inboxOf(carl);
      const stored = await carl.api.post(`/mail/users/me/mailboxes/${inbox}/messages`, {
        from: { address: ZOE, name: 'Zoe' },
        to: [{ address: carl.email }],
        subject: 'Forged',
        text: 'Forged',
        attachments: [
          {
            filename: 'invite.ics',
            contentType: 'text/calendar',
            content: Buffer.from([...lines('CANCEL', 1), ''].join('\r\n')).toString('base64'),
          },
        ],
      });
      expect(stored.status).toBe(200);
      const carls = await defaultCalendar(carl);
      const message = { mailbox: inbox, id: stored.body.message.id };
      const forged = await carl.api.post(`/calendar/${carls}/scheduling/inbox`, { message });
      expect([forged.status, forged.body.error]).toEqual([403, 'sender_mismatch']);
      await settle();
      expect(await eventOf(ann, anns, uid)).toMatchObject({ status: 'confirmed', title: 'Of two members' });
      // A mail that changes nothing is no failure.
      const { body } = await carl.api.get(`/mail/users/me/mailboxes/${inbox}/messages?limit=50`);
      const { id } = body.results.find(({ subject }: any) => subject === 'REQUEST');
      const repeated = await carl.api.post(`/calendar/${carls}/scheduling/inbox`, {
        message: { mailbox: inbox, id },
      });
      expect([repeated.status, repeated.body.message.result]).toEqual([200, 'ignored_duplicate']);
    });

    test('the meeting of two members stays in the calendar of one after the other deletes theirs', async () => {
      const uid = 'of-two-calendars';
      const request = (dtstamp: string, title: string) =>
        vcalendar('REQUEST', [
          [
            `UID:${uid}`,
            `DTSTAMP:${dtstamp}`,
            'SEQUENCE:0',
            'DTSTART:20271109T090000Z',
            `SUMMARY:${title}`,
            `ORGANIZER:mailto:${ZOE}`,
            `ATTENDEE:mailto:${carl.email}`,
            `ATTENDEE:mailto:${ann.email}`,
          ],
        ]);
      const received = await defaultCalendar(carl);
      for (const { email } of [carl, ann])
        await fromOutside(ZOE, email, 'REQUEST', request('20270101T090000Z', 'Shared'));
      await carl.api.post('/calendar', { name: 'New', is_default: true });
      expect((await carl.api.delete(`/calendar/${received}`)).status).toBe(200);
      expect(await eventOf(ann, anns, uid)).toMatchObject({ status: 'confirmed', title: 'Shared' });
      await fromOutside(ZOE, ann.email, 'REQUEST', request('20270102T090000Z', 'Renamed'));
      expect(await eventOf(ann, anns, uid)).toMatchObject({ status: 'confirmed', title: 'Renamed' });
    });

    test('a meeting whose calendar was deleted returns with the next message of its organizer, and for other members', async () => {
      const request = (uid: string, dtstamp: string, method = 'REQUEST') =>
        vcalendar(method, [
          [
            `UID:${uid}`,
            `DTSTAMP:${dtstamp}`,
            'SEQUENCE:0',
            'DTSTART:20271110T090000Z',
            `SUMMARY:${uid} ${dtstamp}`,
            `ORGANIZER:mailto:${ZOE}`,
            `ATTENDEE:mailto:${carl.email}`,
            `ATTENDEE:mailto:${ann.email}`,
          ],
        ]);
      const [first, second] = ['20270101T090000Z', '20270102T090000Z'];
      const uids = ['lost-updated', 'lost-joined', 'lost-cancelled'];
      const received = await defaultCalendar(carl);
      for (const uid of uids) await fromOutside(ZOE, carl.email, 'REQUEST', request(uid, first));
      await carl.api.post('/calendar', { name: 'Newer', is_default: true });
      expect((await carl.api.delete(`/calendar/${received}`)).status).toBe(200);
      const carls = await defaultCalendar(carl);
      expect(await eventOf(carl, carls, 'lost-updated')).toBeUndefined();
      await settle();
      const { notifications } = (await ann.api.get('/notifications?limit=200')).body;
      expect(
        notifications.filter(
          ({ type, title }: any) => type === 'calendar.cancelled' && title.includes('lost-'),
        ),
      ).toEqual([]);
      await fromOutside(ZOE, carl.email, 'REQUEST', request('lost-updated', second));
      expect(await eventOf(carl, carls, 'lost-updated')).toMatchObject({
        status: 'confirmed',
        title: `lost-updated ${second}`,
        sequence: 0,
      });
      await fromOutside(ZOE, ann.email, 'REQUEST', request('lost-joined', first));
      expect(await eventOf(ann, anns, 'lost-joined')).toMatchObject({
        status: 'confirmed',
        title: `lost-joined ${first}`,
      });
      expect(
        await app.sql(`SELECT uid FROM calendar_events WHERE uid LIKE 'lost-%' AND deleted_at IS NOT NULL`),
      ).toEqual([{ uid: 'lost-cancelled' }]);
      await fromOutside(ZOE, carl.email, 'CANCEL', request('lost-cancelled', second, 'CANCEL'));
      await fromOutside(ZOE, ann.email, 'REQUEST', request('lost-cancelled', first));
      expect(await eventOf(ann, anns, 'lost-cancelled')).toBeUndefined();
    });
  });
});
