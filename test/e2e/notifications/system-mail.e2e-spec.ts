import fc from 'fast-check';
import { simpleParser } from 'mailparser';
import { parseFragment } from 'parse5';
import { v7 as uuidv7 } from 'uuid';
import { Db } from '../../../src/platform/database/db.js';
import { Outbox } from '../../../src/platform/events/outbox.js';
import { OutboxWorker } from '../../../src/platform/events/outbox.worker.js';
import { LANGUAGES } from '../../../src/platform/languages/languages.js';
import { htmlOf, textOf } from '../../../src/platform/system-mail/mail-message.js';
import { type MailContent, type MailTemplate } from '../../../src/platform/system-mail/mail-template.js';
import { outcomeOf, SmtpRelay } from '../../../src/platform/smtp/smtp-relay.js';
import { SystemMail } from '../../../src/platform/system-mail/system-mail.js';
import { SystemMailDelivery } from '../../../src/platform/system-mail/system-mail.delivery.js';
import { TestApp } from '../../support/app.ts';
import { holdEvents } from '../../support/database/outbox.ts';
import { mailboxesOf, TestMailService } from '../../support/mail/mail-service.ts';
import { dripServer, OtherServer } from '../../support/mail/smtp.ts';
import { until } from '../../support/until.ts';

const TENANT = uuidv7();
const MARKER = 'code-493817';

const template: MailTemplate<{ code: string; subject?: string; isGone?: boolean }> = {
  name: 'test.code',
  previews: () => ({}),
  compose: ({ values: { code, subject = 'Your code', isGone }, language }) =>
    isGone
      ? null
      : {
          subject,
          paragraphs: [`Language ${language}`, 'Üben & prüfen <b>'],
          code,
          action: { label: 'Open', url: 'https://work.example/open?a=1&b=2' },
          unsubscribe: { label: 'Unsubscribe', url: 'https://work.example/stop' },
          replyTo: { name: 'Ann', address: 'ann@work.example' },
          senderName: 'Ann',
          calendar: { method: 'REQUEST', content: 'BEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n' },
        },
};

/** An application that knows the test's template. */
async function start(settings: Record<string, string>, databaseUrl?: string): Promise<TestApp> {
  const app = await TestApp.start(settings, databaseUrl);
  app.get<SystemMail>(SystemMail).register(template);
  return app;
}

const queue = (app: TestApp, key: string, to = 'bob@far.example', values = {}, lifetimeSeconds?: number) =>
  app.get<Db>(Db).tx((tx) =>
    app.get<SystemMail>(SystemMail).queue(tx, {
      tenantId: TENANT,
      template,
      to,
      language: 'de',
      values: { code: MARKER, ...values },
      key,
      ...(lifetimeSeconds !== undefined && { lifetimeSeconds }),
    }),
  );
const drain = (app: TestApp) => app.get<OutboxWorker>(OutboxWorker).drain();
const stateOf = async (app: TestApp, key: string) =>
  (await app.get<SystemMail>(SystemMail).stateOf(TENANT, key))?.state;

describe('mails of the workspace through SMTP_URL', () => {
  let relay: OtherServer;
  let app: TestApp;
  let second: TestApp;

  beforeAll(async () => {
    relay = await OtherServer.start();
    const settings = { SMTP_URL: relay.url, SYSTEM_MAIL_FROM: 'Acme Work <no-reply@work.example>' };
    app = await start(settings);
    second = await start(settings, app.databaseUrl);
  });
  afterAll(async () => {
    await second?.stop();
    await app?.stop();
    await relay?.stop();
  });

  test('a mail is sent after the commit of its cause, as text and HTML, and only its record remains', async () => {
    const release = await holdEvents(app);
    expect(await queue(app, 'one')).toBe('queued');
    const [stored] = await app.sql(`SELECT * FROM system_mails WHERE key = 'one'`);
    const [event] = await app.sql(`SELECT payload FROM outbox WHERE type = 'system_mail.queued'`);
    expect(event).toBeDefined();
    expect(JSON.stringify([stored, event])).not.toContain('493817');
    await release();
    await drain(app);
    await until('the mail', () => relay.received.length === 1);
    const [{ from, to, raw } = { from: '', to: [], raw: '' }] = relay.received;
    expect([from, to]).toEqual(['no-reply@work.example', ['bob@far.example']]);
    const mail = await simpleParser(raw);
    expect(mail.from?.value).toEqual([{ name: 'Ann (Acme Work)', address: 'no-reply@work.example' }]);
    expect(mail.replyTo?.value).toEqual([{ name: 'Ann', address: 'ann@work.example' }]);
    expect(mail.subject).toBe('Your code');
    expect(mail.text).toContain('Üben & prüfen <b>');
    expect(mail.text).toContain(MARKER);
    expect(mail.html).toContain('Üben &amp; prüfen &lt;b&gt;');
    expect(mail.html).toContain('href="https://work.example/open?a=1&amp;b=2"');
    expect(mail.messageId).toBe(`<${stored.id}@work.example>`);
    expect(mail.headers.get('auto-submitted')).toBe('auto-generated');
    expect(raw).toMatch(/^List-Unsubscribe: <https:\/\/work\.example\/stop>\r$/m);
    expect(raw).toMatch(/^List-Unsubscribe-Post: List-Unsubscribe=One-Click\r$/m);
    expect(raw).toMatch(/^Content-Type: text\/calendar; charset=utf-8; method=REQUEST/m);
    expect(await app.sql(`SELECT state, sealed FROM system_mails WHERE key = 'one'`)).toEqual([
      { state: 'sent', sealed: null },
    ]);
  });

  test('each registered mail has a text in each language, and no placeholder stays', () => {
    const templates = app.get<SystemMail>(SystemMail).registered.filter((each) => each !== template);
    expect(templates.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['notifications.unread', 'guests.code', 'guests.invite']),
    );
    for (const { previews } of templates.map((each) => ({ previews: each.previews.bind(each) }))) {
      const names = Object.keys(previews('en'));
      expect(names).not.toEqual([]);
      for (const name of names) {
        const texts = LANGUAGES.map((language) => textOf(previews(language)[name]!));
        expect(new Set(texts).size).toBe(LANGUAGES.length);
        for (const text of texts) expect(text).not.toMatch(/\{\w+\}|undefined|\[object/);
      }
    }
  });

  test('a key is used once, a rolled-back mail is not sent, and a template may cancel', async () => {
    relay.received.length = 0;
    expect(await queue(app, 'twice')).toBe('queued');
    expect(await queue(second, 'twice')).toBe('duplicate');
    const cause = new Error('rolled back');
    await expect(
      app.get<Db>(Db).tx(async (tx) => {
        const mail = { tenantId: TENANT, template, to: 'bob@far.example', language: 'en' as const };
        await app.get<SystemMail>(SystemMail).queue(tx, { ...mail, values: { code: '1' }, key: 'rolled' });
        throw cause;
      }),
    ).rejects.toBe(cause);
    await queue(app, 'cancelled', 'bob@far.example', { isGone: true });
    await queue(app, 'late', 'bob@far.example', {}, -1);
    await drain(app);
    expect(await queue(app, 'twice')).toBe('duplicate');
    await drain(app);
    expect(relay.received).toHaveLength(1);
    const states = await Promise.all(
      ['twice', 'rolled', 'cancelled', 'late'].map((key) => stateOf(app, key)),
    );
    expect(states).toEqual(['sent', undefined, 'cancelled', 'expired']);
  });

  test('two processes send each mail once', async () => {
    relay.received.length = 0;
    const keys = Array.from({ length: 30 }, (_, n) => `both-${n}`);
    for (const [n, key] of keys.entries()) await queue(n % 2 ? app : second, key, `${key}@far.example`);
    await Promise.all([drain(app), drain(second)]);
    expect(relay.received.map(({ to }) => to[0]).toSorted()).toEqual(
      keys.map((key) => `${key}@far.example`).toSorted(),
    );
  });

  test('a temporary rejection is retried, a permanent one ends with its reason', async () => {
    relay.received.length = 0;
    let code = 451;
    relay.reject = (to) =>
      to.startsWith('no') ? Object.assign(new Error('No'), { responseCode: code }) : undefined;
    await queue(app, 'temporary', 'no@far.example');
    await drain(app);
    expect(await stateOf(app, 'temporary')).toBe('queued');
    code = 550;
    await queue(app, 'permanent', 'no.2@far.example');
    await drain(app);
    expect(await app.get<SystemMail>(SystemMail).stateOf(TENANT, 'permanent')).toEqual({
      state: 'failed',
      error: expect.stringContaining('550'),
    });
    relay.reject = () => undefined;
    await app.sql(
      `UPDATE outbox SET due_at = now() - make_interval(secs => 1) WHERE type = 'system_mail.queued'`,
    );
    await drain(app);
    expect(await stateOf(app, 'temporary')).toBe('sent');
    expect(relay.received).toHaveLength(1);
  });

  test('a relay that hangs does not delay other events', async () => {
    const heard: string[] = [];
    app.get<Outbox>(Outbox).subscribe('test.local', 'test', async ({ id }) => void heard.push(id));
    relay.hangs = true;
    try {
      await queue(app, 'hanging');
      await until('the hanging mail', () => relay.hanging === 1);
      await app
        .get<Db>(Db)
        .tx((tx) =>
          app.get<Outbox>(Outbox).append(tx, { tenantId: TENANT, type: 'test.local', payload: {} }),
        );
      await until('the local event', () => heard.length === 1);
      expect(await stateOf(app, 'hanging')).toBe('queued');
    } finally {
      relay.resume();
    }
  });

  test('mails that were not sent in time end, and old records are deleted', async () => {
    await queue(app, 'old', 'bob@far.example', {}, -1);
    await app.sql(`UPDATE system_mails SET finished_at = now() - interval '31 days' WHERE key = 'one'`);
    await (app.get<SystemMailDelivery>(SystemMailDelivery) as any).mails.clean();
    expect(await stateOf(app, 'old')).toBe('expired');
    expect(await stateOf(app, 'one')).toBeUndefined();
  });
});

describe('mails of the workspace through the embedded mail service', () => {
  let service: TestMailService;
  let app: TestApp;

  beforeAll(async () => {
    service = await TestMailService.start();
    app = await start({ ...service.settings, MAIL_SERVICE_EMBEDDED: 'true' });
  });
  afterAll(async () => {
    await app?.stop();
    await service?.stop();
  });

  test('a mail arrives in the mailbox of a member, once for each id', async () => {
    const ann = await service.person('ann');
    const box = (await mailboxesOf(ann))['INBOX'];
    const list = async () => (await ann.get(`/users/me/mailboxes/${box}/messages`)).body.results;
    await queue(app, 'local', 'Ann@example.com');
    await drain(app);
    const [first] = await until('the mail', async () => ((await list()).length > 0 ? list() : undefined));
    expect(first).toMatchObject({ subject: 'Your code', from: { address: 'no-reply@localhost' } });

    const [{ id }] = await app.sql(`SELECT id FROM system_mails WHERE key = 'local'`);
    const again = {
      id,
      from: 'no-reply@localhost',
      to: 'ann@example.com',
      subject: 'x',
      raw: Buffer.from('Subject: x\r\n\r\n').toString('base64'),
    };
    expect((await service.root.post('/system/messages', again)).body).toEqual({
      success: true,
      id,
      duplicate: true,
    });
    const parallel = { ...again, id: uuidv7() };
    const results = await Promise.all(
      Array.from({ length: 8 }, () => service.root.post('/system/messages', parallel)),
    );
    expect(results.filter(({ body }) => !body.duplicate)).toHaveLength(1);
    await until('the second mail', async () => (await list()).length === 2);
    expect((await ann.post('/system/messages', again)).status).toBe(403);
    expect((await service.root.post('/system/messages', { ...again, to: 'x' })).status).toBe(400);
  });

  test('a mail to an outside address fails with the reason; a mail to a missing mailbox is dropped', async () => {
    await queue(app, 'outside', 'bob@far.example');
    await drain(app);
    expect(await app.get<SystemMail>(SystemMail).stateOf(TENANT, 'outside')).toEqual({
      state: 'failed',
      error: expect.stringContaining('422'),
    });
    expect(app.get<SystemMail>(SystemMail).reachesOutside).toBe(false);
    await queue(app, 'missing', 'nemo@example.com');
    await drain(app);
    expect(await stateOf(app, 'missing')).toBe('sent');
    await service.sql(
      `UPDATE queue SET attempts = 1000, due_at = now() - make_interval(secs => 1) WHERE recipient = 'nemo@example.com'`,
    );
    await service.sql(`UPDATE queue SET worker = NULL WHERE recipient = 'nemo@example.com'`);
    await until('the end of the entry', async () => {
      const rows = await service.sql(`SELECT FROM queue WHERE recipient = 'nemo@example.com'`);
      return rows.length === 0;
    });
  });

  test('without a relay and a mail service nothing is queued', async () => {
    const without = await start({}, app.databaseUrl);
    try {
      expect(without.get<SystemMail>(SystemMail).isConfigured).toBe(false);
      expect(await queue(without, 'none')).toBe('not_configured');
      expect(await stateOf(without, 'none')).toBeUndefined();
    } finally {
      await without.stop();
    }
  });
});

test('a delivery to a server that never ends a response fails for the moment', async () => {
  const server = await dripServer();
  const relay = new SmtpRelay(server.url, 1);
  relay.deliveryMs = 300;
  try {
    const sent = relay.send(
      { from: 'a@work.example', to: ['b@far.example'] },
      Buffer.from('Subject: x\r\n\r\n'),
    );
    const outcome = await sent.then(() => null, outcomeOf);
    expect(outcome).toEqual({ kind: 'retry', reason: 'The outgoing server took too long.', status: '4.0.0' });
  } finally {
    relay.close();
    await server.stop();
  }
});

/** Names of elements, and all texts and attribute values. */
function partsOf(html: string): { names: Set<string>; texts: string[]; links: string[] } {
  const names = new Set<string>();
  const texts: string[] = [];
  const links: string[] = [];
  const visit = (node: any): void => {
    if (node.tagName) names.add(node.tagName);
    if (node.nodeName === '#text') texts.push(node.value);
    for (const { name, value } of node.attrs ?? []) if (name === 'href') links.push(value);
    for (const child of node.childNodes ?? []) visit(child);
  };
  visit(parseFragment(html));
  return { names, texts, links };
}

const ELEMENTS = 'title meta div h1 p a br strong table tbody tr th td'.split(' ');

test('the layout shows any text and adds no markup of it', () => {
  const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }).map((each) => `x${each}y`);
  const hostile = fc.oneof(
    text,
    fc.constantFrom('<script>alert(1)</script>', '"><img src=x onerror=1>', '&amp;'),
  );
  const content = fc.record<MailContent>({
    subject: hostile,
    paragraphs: fc.array(hostile, { maxLength: 3 }),
    code: hostile,
    facts: fc.array(fc.record({ label: hostile, value: hostile }), { maxLength: 3 }),
    items: fc.array(fc.record({ title: hostile, detail: hostile, url: fc.webUrl() }), { maxLength: 3 }),
    footer: fc.array(hostile, { maxLength: 2 }),
  });
  fc.assert(
    fc.property(content, fc.constantFrom(...LANGUAGES), (each, language) => {
      const { names, links } = partsOf(htmlOf(each, language));
      for (const name of names) expect(ELEMENTS).toContain(name);
      expect(links).toEqual((each.items ?? []).map(({ url }) => url));
      for (const paragraph of each.paragraphs) expect(textOf(each)).toContain(paragraph);
    }),
  );
});
