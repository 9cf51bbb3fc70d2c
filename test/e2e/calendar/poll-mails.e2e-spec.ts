import { simpleParser } from 'mailparser';
import { OutboxWorker } from '../../../src/platform/events/outbox.worker.js';
import { SystemMail } from '../../../src/platform/system-mail/system-mail.js';
import { type TestUser, TestApp } from '../../support/app.ts';
import { OtherServer } from '../../support/mail/smtp.ts';
import { until } from '../../support/until.ts';

const ZOE = 'zoe@far.example';

/** Participants from outside of the workspace: a mail with a link to a page with a form. */
describe('polls by mail', () => {
  let world: OtherServer;
  let app: TestApp;
  let ann: TestUser;
  let bob: TestUser;

  beforeAll(async () => {
    world = await OtherServer.start();
    app = await TestApp.start({ SMTP_URL: world.url, SYSTEM_MAIL_FROM: 'Acme <no-reply@acme.example>' });
    [ann, bob] = await app.tenant('acme', 'ann', 'bob');
  });
  afterAll(async () => {
    await app?.stop();
    await world?.stop();
  });

  const create = async (title: string, fields: object = {}) => {
    const { status, body } = await ann.api.post('/calendar/polls', {
      title,
      location: 'Room <3>',
      time_zone: 'Europe/Berlin',
      options: [{ start: '2027-03-02T09:00:00' }, { start: '2027-03-03T14:00:00' }],
      participants: [bob.email, { email: ZOE, name: 'Zoe' }],
      ...fields,
    });
    expect([status, body.error]).toEqual([201, undefined]);
    return body.poll;
  };
  const mailOf = async (title: string) => {
    await app.get<OutboxWorker>(OutboxWorker).drain();
    let found: string | undefined;
    await until('the mail', async () => {
      for (const { raw } of world.received)
        if ((await simpleParser(raw)).subject?.includes(title)) found = raw;
      return found !== undefined;
    });
    return simpleParser(found as string);
  };
  const linkIn = (text: string): string => {
    const [, token] = /\/apis\/v1\/calendar\/polls\/outside\/([\w.-]+)/.exec(text) as RegExpExecArray;
    return `${app.base}/apis/v1/calendar/polls/outside/${token}`;
  };
  const send = (link: string, fields: Record<string, string>, headers = {}) =>
    fetch(link, { method: 'POST', body: new URLSearchParams(fields), headers });
  const read = async (poll: any) => (await ann.api.get(`/calendar/polls/${poll.id}`)).body.poll;

  test('a new poll mails a link to each participant from outside; the form of the page votes', async () => {
    const poll = await create('Joint planning');
    const mail = await mailOf('Joint planning');
    expect([(mail.to as any).text, mail.replyTo?.value[0]?.address]).toEqual([ZOE, ann.email]);
    expect(mail.text).toContain('Tuesday, March 2, 2027');
    expect(mail.text).toContain('Room <3>');
    expect(world.received.filter(({ to }) => to.includes(bob.email))).toEqual([]);
    const link = linkIn(mail.text as string);
    const page = await fetch(link, { headers: { 'accept-language': 'de-AT,en;q=0.5' } });
    const text = await page.text();
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(text).toContain('Room &lt;3&gt;');
    expect(text).toContain('Dienstag, 2. März 2027');
    expect(text).toContain('Wenn nötig');
    const [first, second] = poll.options.map(({ id }: any) => `option_${id}`);
    const voted = await send(link, { [first]: 'yes', [second]: 'if_needed', comment: 'Late is <b>fine</b>' });
    const after = await voted.text();
    expect([voted.status, after.includes('Your choice is saved')]).toEqual([200, true]);
    expect(after.match(/value="yes"\s+checked/g)).toHaveLength(1);
    expect(after).toContain('Late is &lt;b&gt;fine&lt;/b&gt;');
    const stored = await read(poll);
    expect(stored.options.map(({ counts }: any) => [counts.yes, counts.if_needed])).toEqual([
      [1, 0],
      [0, 1],
    ]);
    expect(stored.participants.find(({ email }: any) => email === ZOE)).toMatchObject({
      comment: 'Late is <b>fine</b>',
      responded_at: expect.any(String),
    });
    // A vote replaces all earlier ones; unknown fields and answers do not count.
    await send(link, { [first]: 'no', [second]: 'perhaps', option_x: 'yes' });
    expect((await read(poll)).options.map(({ counts }: any) => counts)).toMatchObject([
      { yes: 0, no: 1 },
      { yes: 0, if_needed: 0, no: 0 },
    ]);
  });

  test('the zone is named once, before the options, and not with days', async () => {
    await create('Zone of times');
    const text = (await mailOf('Zone of times')).text as string;
    expect(text).toMatch(/Times in the zone Europe\/Berlin[^]*March 2[^]*March 3/);
    const options = [{ date: '2027-03-02' }, { date: '2027-03-03' }];
    const poll = await create('Zone of days', { options });
    const days = (await mailOf('Zone of days')).text as string;
    expect(days).toContain('March 3');
    expect(days).not.toContain('Europe/Berlin');
    expect(poll.kind).toBe('date');
    expect(await (await fetch(linkIn(days))).text()).not.toContain('Europe/Berlin');
  });

  test('a closed poll shows its result and takes no votes; a wrong token is 404', async () => {
    const poll = await create('Closed soon');
    const link = linkIn((await mailOf('Closed soon')).text as string);
    await ann.api.post(`/calendar/polls/${poll.id}/finalize`, {
      option_id: poll.options[1].id,
      send_updates: 'none',
    });
    const page = await (await fetch(link)).text();
    expect(page).toContain('A time has been chosen: Wednesday, March 3, 2027');
    expect(page).not.toContain('<form');
    const late = await send(link, { [`option_${poll.options[0].id}`]: 'yes' });
    expect([late.status, (await late.text()).includes('A time has been chosen')]).toEqual([200, true]);
    expect((await read(poll)).options[0].counts.yes).toBe(0);
    for (const wrong of [`${link}x`, link.replace(/\/[^/]*$/, '/x'), link.replace(/\/([^/]{20})/g, '/$1A')]) {
      const response = await fetch(wrong, { headers: { 'accept-language': 'vi' } });
      expect([response.status, (await response.text()).includes('Liên kết không hợp lệ')]).toEqual([
        404,
        true,
      ]);
    }
    const json = await fetch(link, {
      method: 'POST',
      body: '{}',
      headers: { 'content-type': 'application/json' },
    });
    expect(json.status).toBe(415);
  });

  test('a cancelled poll mails the participants from outside who voted, once', async () => {
    const yan = 'yan@far.example';
    const poll = await create('No longer needed', { participants: [ZOE, yan, bob.email] });
    await mailOf('No longer needed');
    const { raw } = await until('the mail to Zoe', async () =>
      world.received.find(({ to, raw: text }) => to.includes(ZOE) && text.includes('No longer needed')),
    );
    const link = linkIn((await simpleParser(raw)).text as string);
    await send(link, { [`option_${poll.options[0].id}`]: 'yes' });
    for (let at = 0; at < 2; at += 1)
      expect((await ann.api.post(`/calendar/polls/${poll.id}/cancel`)).status).toBe(200);
    const mail = await mailOf('cancelled the poll “No longer needed”');
    expect([(mail.to as any).text, mail.replyTo?.value[0]?.address]).toEqual([ZOE, ann.email]);
    expect(mail.text).toContain('Your choice of times is not needed any more.');
    await create('After it');
    await mailOf('After it');
    const subjects = await Promise.all(
      world.received.map(async ({ raw: text }) => (await simpleParser(text)).subject),
    );
    expect(subjects.filter((subject) => subject?.includes('cancelled the poll'))).toHaveLength(1);
  });

  test('send_updates none sends no mail', async () => {
    await create('Silent', { send_updates: 'none' });
    await create('Loud');
    await mailOf('Loud');
    expect(world.received.filter(({ raw }) => /^Subject:.*Silent/m.test(raw))).toEqual([]);
  });

  test('a removed member’s polls go to another member, who takes part and decides', async () => {
    const [owner, leaver, heir] = await app.tenant('transfer', 'owner', 'leaver', 'heir');
    const fields = {
      title: 'Inherited',
      time_zone: 'Europe/Berlin',
      options: [{ start: '2027-03-02T09:00:00' }, { start: '2027-03-03T14:00:00' }],
      hold: true,
    };
    const { poll } = (await leaver.api.post('/calendar/polls', fields)).body;
    await owner.api.post(`/tenant/members/${leaver.id}/deactivate`);
    const moved = await owner.api.post(`/tenant/members/${leaver.id}/transfer`, { to: heir.id });
    expect([moved.status, moved.body.transferred ?? moved.body]).toEqual([
      200,
      expect.objectContaining({ polls: 1 }),
    ]);
    const path = `/calendar/polls/${poll.id}`;
    const votes = [{ option_id: poll.options[0].id, answer: 'yes' }];
    const voted = await heir.api.post(`${path}/vote`, { votes });
    expect([voted.status, voted.body.poll.owner_id]).toEqual([200, heir.id]);
    const done = await heir.api.post(`${path}/finalize`, { option_id: poll.options[0].id });
    // The former owner still is a participant of the poll. Former members are not invited.
    expect([done.status, done.body.event]).toEqual([
      200,
      expect.objectContaining({ title: 'Inherited', attendees: [] }),
    ]);
  });

  // The last test: it stops the worker.
  test('a poll that is cancelled before its mails are sent sends none', async () => {
    const worker = app.get<OutboxWorker>(OutboxWorker);
    await worker.onModuleDestroy();
    const poll = await create('Never sent');
    expect((await ann.api.post(`/calendar/polls/${poll.id}/cancel`)).status).toBe(200);
    const { id } = poll.participants.find(({ email }: any) => email === ZOE);
    expect(await app.get<SystemMail>(SystemMail).stateOf(ann.tenantId as string, `poll ${id}`)).toMatchObject(
      {
        state: 'cancelled',
      },
    );
  });
});
