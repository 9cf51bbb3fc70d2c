import { createTransport, type Transporter } from 'nodemailer';
import { SmtpReceiver } from '../../../src/mail-service/smtp/smtp-receiver.js';
import { MailArrivals } from '../../../src/modules/mail/arrivals/mail-arrivals.js';
import { TestApp, type TestUser } from '../../support/app.ts';
import { ok } from '../../support/domains/forms.ts';
import { WebhookTest } from '../../support/domains/webhooks.ts';
import { MailProxy } from '../../support/mail/mail-proxy.ts';
import { TestMailService } from '../../support/mail/mail-service.ts';
import { answer, verify, WebhookReceiver } from '../../support/network/webhook-receiver.ts';
import { until } from '../../support/until.ts';

const TYPES = ['mail.received'];
const BOXES = '/mail/users/me/mailboxes';

describe('webhooks of received mail', () => {
  let mail: TestMailService;
  let proxy: MailProxy;
  let app: TestApp;
  let at: WebhookTest;
  let transport: Transporter;
  let alice: TestUser;
  let bob: TestUser;

  beforeAll(async () => {
    mail = await TestMailService.start();
    const receiver = mail.get(SmtpReceiver);
    receiver.awaitMs = 0;
    const port = await receiver.listen(0);
    transport = createTransport({ host: '127.0.0.1', port, ignoreTLS: true });
    proxy = await MailProxy.start(mail.url);
    app = await TestApp.start({ ...mail.settings, MAIL_SERVICE_URL: proxy.url, MAIL_ACCOUNTS: 'create' });
    at = new WebhookTest(app, await WebhookReceiver.start());
    [alice, bob] = await app.tenant('mail-hooks', 'alice', 'bob');
    for (const user of [alice, bob]) await boxes(user);
  });
  afterEach(() => {
    proxy.fails = () => false;
  });
  afterAll(async () => {
    transport?.close();
    await app?.stop();
    await at?.receiver.stop();
    await proxy?.stop();
    await mail?.stop();
  });

  const boxes = async (user: TestUser): Promise<Record<string, string>> =>
    Object.fromEntries(
      ok(await user.api.get(BOXES)).results.map(({ path, id }: { path: string; id: string }) => [path, id]),
    );
  const listed = async (user: TestUser): Promise<any[]> =>
    ok(await user.api.get(`${BOXES}/${(await boxes(user))['INBOX']}/messages?limit=100`)).results;
  const receive = async (user: TestUser, subject: string): Promise<void> => {
    await transport.sendMail({
      from: '"Zoe" <zoe@far.example>',
      to: user.email,
      cc: 'carol@far.example',
      subject,
      text: 'The body',
      attachments: [{ filename: 'a.txt', content: 'x' }],
    });
    await until(subject, async () => (await listed(user)).some((each) => each.subject === subject));
  };
  const search = async (): Promise<void> => {
    await app.inCells(() => app.get(MailArrivals).run());
    await at.deliver();
  };
  const subjects = (path: string) =>
    at.receiver.of(path).map(({ body }) => body.data['mail']?.subject ?? null);

  test('name the mails that arrive in the own inbox, without their body', async () => {
    await receive(alice, 'Before');
    const hook = await at.hook(alice, TYPES);
    const bobs = await at.hook(bob, TYPES);
    // Arrives before the first search.
    await receive(alice, 'First');
    await receive(bob, 'For Bob');
    await search();
    expect(subjects(hook.path)).toEqual(['First']);
    expect(subjects(bobs.path)).toEqual(['For Bob']);
    const [message] = at.receiver.of(hook.path);
    const [{ id, mailbox, date }] = await listed(alice);
    expect(verify(message!, hook.secret)).toMatchObject({ type: 'mail.received' });
    expect(message!.body.data).toEqual({
      user_id: alice.id,
      mailbox,
      message_id: id,
      mail: {
        id,
        mailbox,
        from: { name: 'Zoe', address: 'zoe@far.example' },
        to: [{ name: '', address: alice.email }],
        cc: [{ name: '', address: 'carol@far.example' }],
        subject: 'First',
        date,
        attachments: 1,
      },
    });
    expect(message!.text).not.toContain('The body');
    await search();
    for (const subject of ['Second', 'Third']) await receive(alice, subject);
    await search();
    await search();
    expect(subjects(hook.path)).toEqual(['First', 'Second', 'Third']);
    expect(subjects(bobs.path)).toEqual(['For Bob']);
  });

  test('are not sent for a mail that is moved back into the inbox; a deleted one has no content', async () => {
    const [carl] = await app.tenant('moved-mail', 'carl');
    ok(await carl.api.get(BOXES));
    const hook = await at.hook(carl, TYPES);
    for (const subject of ['Old', 'New']) await receive(carl, subject);
    await search();
    const { INBOX: inbox, Trash: trash } = await boxes(carl);
    const move = async (from: string, to: string, subject: string): Promise<void> => {
      const messages: any[] = ok(await carl.api.get(`${BOXES}/${from}/messages`)).results;
      const { id } = messages.find((each) => each.subject === subject);
      ok(await carl.api.put(`${BOXES}/${from}/messages`, { message: [id], moveTo: to }));
    };
    await move(inbox!, trash!, 'Old');
    await move(trash!, inbox!, 'Old');
    await search();
    expect(subjects(hook.path)).toEqual(['Old', 'New']);
    await receive(carl, 'Gone');
    // The timer of the webhooks would otherwise sometimes send the event before the mail is deleted.
    await app.sql(`UPDATE webhook_queues SET held_until = 'infinity', ready_at = 'infinity'`);
    await search();
    await move(inbox!, trash!, 'Gone');
    expect(subjects(hook.path)).toEqual(['Old', 'New']);
    await at.retry();
    expect(subjects(hook.path)).toEqual(['Old', 'New', null]);
  });

  test('of a mail service that fails have no content, or come later; other webhooks get theirs', async () => {
    const [dora] = await app.tenant('failing-mail', 'dora');
    ok(await dora.api.get(BOXES));
    const hook = await at.hook(dora, [...TYPES, 'task.created']);
    await receive(dora, 'Unread');
    await receive(dora, 'Unread too');
    await app.inCells(() => app.get(MailArrivals).run());
    proxy.fails = (method, path) => method === 'GET' && /\/messages/.test(path);
    await at.task(dora, 'A task');
    await at.deliver();
    expect(at.receiver.of(hook.path).map(({ body }) => [body.type, body.data['mail'] ?? null])).toEqual([
      ['mail.received', null],
      ['mail.received', null],
      ['task.created', null],
    ]);
    proxy.fails = () => false;
    await receive(dora, 'Late');
    proxy.fails = (method, path) => method === 'GET' && /\/messages/.test(path);
    await search();
    expect(at.receiver.of(hook.path)).toHaveLength(3);
    proxy.fails = () => false;
    await search();
    expect(subjects(hook.path).at(-1)).toBe('Late');
  });

  test('are not sent to a member who has left, also none that waited', async () => {
    const [owner, leaver] = await app.tenant('left-mail', 'owner', 'leaver');
    ok(await leaver.api.get(BOXES));
    const hook = await at.hook(leaver, TYPES);
    await receive(leaver, 'Seen');
    await search();
    at.receiver.on(hook.path, answer(503));
    await receive(leaver, 'Waiting');
    await search();
    expect(at.receiver.of(hook.path)).toHaveLength(2);
    ok(await owner.api.post(`/tenant/members/${leaver.id}/deactivate`));
    at.receiver.on(hook.path, answer(204));
    await search();
    await at.retry();
    expect(at.receiver.of(hook.path)).toHaveLength(2);
  });

  test('are only for own webhooks of their user; without one nothing is searched', async () => {
    const [owner] = await app.tenant('tenant-mail', 'owner');
    ok(await owner.api.get(BOXES));
    const input = {
      scope: 'tenant',
      url: at.receiver.urlOf('/tenant'),
      event_types: ['task.created', ...TYPES],
    };
    const rejected = await owner.api.post('/webhooks', input);
    expect([rejected.status, rejected.body.details]).toEqual([
      422,
      [{ field: 'event_types.1', code: 'personal_type', message: expect.any(String) }],
    ]);
    const { webhook } = ok(
      await owner.api.post('/webhooks', { ...input, event_types: ['task.created'] }),
      201,
    );
    const changed = await owner.api.patch(`/webhooks/${webhook.id}`, {
      event_types: TYPES,
      base_revision: 1,
    });
    expect(changed.body.details[0]).toMatchObject({ field: 'event_types.0', code: 'personal_type' });
    const types: any[] = ok(await owner.api.get('/webhooks/event-types')).event_types;
    expect(types.find(({ type }) => type === 'mail.received').scopes).toEqual(['user']);
    const scans = () => app.sql('SELECT FROM mail_arrival_scans WHERE user_id = $1', [owner.id]);
    const hook = await at.hook(owner, TYPES);
    await search();
    expect(await scans()).toHaveLength(1);
    ok(await owner.api.delete(`/webhooks/${hook.id}`, { base_revision: 1 }));
    await receive(owner, 'Unwanted');
    await search();
    expect(await scans()).toEqual([]);
    const later = await at.hook(owner, TYPES);
    await search();
    expect(at.receiver.of(later.path)).toEqual([]);
  });
});
