import { SmtpReceiver } from '../../../src/mail-service/smtp/smtp-receiver.js';
import { PeriodicJobs } from '../../../src/platform/jobs/periodic-jobs.js';
import { MailUpstream } from '../../../src/modules/mail/mail-upstream.js';
import { type TestUser, TestApp } from '../../support/app.ts';
import { TestMailService } from '../../support/mail/mail-service.ts';
import { sendBySmtp } from '../../support/mail/smtp.ts';
import { until } from '../../support/until.ts';
import { capture, DRAFTS, INBOX, WildDuck } from '../../support/mail/wild-duck.ts';

const BOXES = '/mail/users/me/mailboxes';
const MESSAGES = `${BOXES}/${INBOX}/messages`;

describe('with a WildDuck', () => {
  let duck: WildDuck;
  let app: TestApp;
  let alice: TestUser;

  beforeAll(async () => {
    duck = await WildDuck.start();
    app = await TestApp.start(duck.settings);
    [alice] = await app.tenant('acme', 'alice');
    await alice.api.get(BOXES);
  });
  beforeEach(() => duck.clear());
  afterAll(async () => {
    await app?.stop();
    await duck?.stop();
  });

  const unknownField = (path: string) => ({
    status: 400,
    json: {
      error: `"${path}" is not allowed`,
      code: 'InputValidationError',
      details: { [path.replaceAll(/[.[\]]+/g, ',')]: `"${path}" is not allowed` },
    },
  });
  const sent = () => duck.mail.map(({ method, url, body }) => [method, url.split('/mailboxes')[1], body]);

  test('the mailbox list has total and cursors, a new mailbox path and name', async () => {
    const list = await alice.api.get(BOXES);
    expect(list.body).toMatchObject({
      success: true,
      total: list.body.results.length,
      nextCursor: false,
      previousCursor: false,
    });
    duck.script = ({ method }) =>
      method === 'POST' ? { status: 200, json: { success: true, id: INBOX } } : undefined;
    const created = await alice.api.post(BOXES, { path: '/Projects/Alpha', retention: 5 });
    expect(created.body).toEqual({
      success: true,
      id: INBOX,
      path: 'Projects/Alpha',
      name: 'Alpha',
      subscribed: true,
      retention: 5,
    });
  });

  test('summaries and messages have `unseen`, whatever their texts contain', async () => {
    const text = '"seen":true,"unseen":true';
    const row = (id: number, seen: boolean) => ({ id, subject: `${text} ü`, intro: text.repeat(300), seen });
    for (const count of [1, 20]) {
      const results = Array.from({ length: count }, (_, n) => row(n + 1, n % 2 === 0));
      duck.script = () => ({ status: 200, json: { success: true, total: count, results } });
      const { body } = await alice.api.get(MESSAGES);
      expect(body.results).toEqual(results.map((each) => ({ ...each, unseen: !each.seen })));
    }
    const message = { success: true, ...row(1, false), metaData: { seen: true } };
    duck.script = () => ({ status: 200, json: message });
    expect((await alice.api.get(`${MESSAGES}/1`)).body).toEqual({ ...message, unseen: true });
  });

  test('a draft with unusable recipients is a 422 that names them, and nothing is stored', async () => {
    const to = [
      { address: 'bob@acme.example' },
      { address: 'bo' },
      { address: '' },
      { name: 'Eve' },
      { address: 'a b@c.example' },
    ];
    const { status, body } = await alice.api.post('/mail/draft', { mailbox: DRAFTS, to });
    expect([status, body.error]).toEqual([422, 'validation_failed']);
    expect(body.details.map(({ field }: { field: string }) => field)).toEqual([
      'to.1.address',
      'to.4.address',
    ]);
    expect(body.details[0].message).toContain('"bo"');
    expect(duck.mail).toEqual([]);
  });

  test('a draft without recipients is not submitted', async () => {
    const draft = { ...capture('get-draft').json, to: [], cc: undefined, bcc: undefined };
    duck.script = () => ({ status: 200, json: draft });
    const { status, body } = await alice.api.post('/mail/draft/submit', {
      mailbox_id: DRAFTS,
      message_id: '4',
    });
    expect([status, body.error, body.details[0].code]).toEqual([422, 'validation_failed', 'no_recipients']);
    expect(duck.mail.map(({ method }) => method)).toEqual(['GET']);
  });

  test('kept attachments are copied for a mail service that does not know them', async () => {
    const attachments = [
      { id: 'ATT00001', filename: 'a.pdf', contentType: 'application/pdf', disposition: 'attachment' },
      { id: 'ATT00002', filename: 'b.png', contentType: 'image/png', disposition: 'inline', cid: '<b@x>' },
    ];
    duck.script = ({ method, url, body }, response) => {
      if (method === 'POST')
        return JSON.stringify(body).includes('"keep"')
          ? unknownField('attachments[0].keep')
          : { status: 200, json: { success: true, message: { id: 5, mailbox: DRAFTS, size: 9 } } };
      if (url.endsWith('/3')) return { status: 200, json: { success: true, id: 3, attachments } };
      response.writeHead(200, { 'Content-Type': 'image/png' }).end(`bytes of ${url.slice(-8)}`);
      return true;
    };
    const draft = {
      mailbox: DRAFTS,
      html: '<img src="attachment:ATT00002"><a href="attachment:ATT00001">a</a>',
      attachments: [{ keep: 'att00002' }, { filename: 'new.txt', content: 'bmV3' }],
      replacePrevious: { id: 3 },
    };
    for (const requests of [4, 3]) {
      duck.requests.length = 0;
      const { status, body } = await alice.api.post('/mail/draft', draft);
      expect([status, body.message?.id]).toEqual([200, 5]);
      // The second time, the rejection is known.
      expect(duck.mail).toHaveLength(requests);
      expect(duck.mail.at(-1)!.body.html).toBe('<img src="cid:b@x"><a href="cid:missing@invalid">a</a>');
      expect(duck.mail.at(-1)!.body.attachments).toEqual([
        {
          filename: 'b.png',
          contentType: 'image/png',
          contentDisposition: 'inline',
          cid: 'b@x',
          content: Buffer.from('bytes of ATT00002').toString('base64'),
        },
        { filename: 'new.txt', content: 'bmV3' },
      ]);
    }
  });

  test('messages are flagged in bulk; opposite flags take two updates and count once', async () => {
    duck.script = () => ({ status: 200, json: { success: true, updated: 2 } });
    const { body } = await alice.api.put(MESSAGES, { message: [1, 2], seen: true, flagged: false });
    expect(body).toEqual({ success: true, updated: 2 });
    expect(sent()).toEqual([
      ['PUT', `/${INBOX}/messages`, { message: '1,2', flagged: false }],
      ['PUT', `/${INBOX}/messages`, { message: '1,2', seen: true }],
    ]);
  });

  test('messages are deleted in bulk, one by one where the mail service knows no other way', async () => {
    duck.script = ({ method, url }) => {
      if (method === 'PUT') return unknownField('delete');
      return url.endsWith('/2')
        ? { status: 404, json: capture('delete-message-again').json }
        : { status: 200, json: { success: true } };
    };
    for (const puts of [1, 0]) {
      duck.requests.length = 0;
      const { status, body } = await alice.api.put(MESSAGES, { message: [1, 2, '3'], delete: true });
      expect([status, body]).toEqual([200, { success: true, deleted: 2 }]);
      expect(sent().filter(([method]) => method === 'PUT')).toHaveLength(puts);
      expect(sent().filter(([method]) => method === 'DELETE')).toHaveLength(3);
    }
    const none = await alice.api.put(MESSAGES, { message: [2], delete: true });
    expect(none.status).toBe(404);
    duck.requests.length = 0;
    for (const more of [{ seen: true }, { moveTo: INBOX }, { restoreToOrigin: true }])
      expect((await alice.api.put(MESSAGES, { message: [1], delete: true, ...more })).status).toBe(422);
    expect((await alice.api.put(MESSAGES, { message: [1], delete: 'maybe' })).status).toBe(422);
    expect(duck.mail).toEqual([]);
  });

  test.each([
    ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', true],
    ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', true],
    ['application/vnd.oasis.opendocument.text', true],
    ['application/msword', true],
    ['application/vnd.ms-excel.sheet.macroEnabled.12', true],
    ['text/xml', false],
    ['application/xhtml+xml', false],
    ['image/svg+xml', false],
    ['application/rdf+xml', false],
    ['text/html', false],
    ['application/x-javascript', false],
    ['message/rfc822', false],
  ])('an attachment of type %s keeps it: %s', async (type, keeps) => {
    duck.script = (_, response) => {
      response.writeHead(200, { 'Content-Type': type }).end('bytes');
      return true;
    };
    const query = `mailbox_id=${INBOX}&message_id=1&attachment_id=ATT00001&filename=x`;
    const response = await fetch(`${app.base}/apis/v1/mail/attachment?${query}`, {
      headers: { authorization: `Bearer ${alice.token}` },
    });
    await response.arrayBuffer();
    expect(response.headers.get('content-type')).toBe(
      keeps ? type.toLowerCase() : 'application/octet-stream',
    );
  });

  test('every 500 of a mail route is worded as in section 7 of the contract', async () => {
    const id = 'a'.repeat(24);
    const routes: [string, string, unknown?][] = [
      ['POST', '/mail/draft', { mailbox: id }],
      ['POST', '/mail/draft/submit', { mailbox_id: id, message_id: '1' }],
      ['GET', `/mail/attachment?mailbox_id=${id}&message_id=1&attachment_id=ATT00001&filename=x`],
      ['GET', BOXES],
      ['POST', BOXES, { path: 'x' }],
      ['GET', `${BOXES}/${id}`],
      ['PUT', `${BOXES}/${id}`, { path: 'x' }],
      ['DELETE', `${BOXES}/${id}`],
      ['GET', `${BOXES}/${id}/messages`],
      ['POST', `${BOXES}/${id}/messages`, {}],
      ['PUT', `${BOXES}/${id}/messages`, { message: [1], seen: true }],
      ['GET', `${BOXES}/${id}/messages/1`],
      ['PUT', `${BOXES}/${id}/messages/1`, { seen: true }],
      ['DELETE', `${BOXES}/${id}/messages/1`],
      ['POST', `${BOXES}/${id}/messages/1/submit`, {}],
    ];
    const upstream = app.get(MailUpstream);
    upstream.send = () => Promise.reject(new Error('secret detail'));
    try {
      for (const [method, path, body] of routes) {
        const response = await alice.api.request(method, path, { body });
        expect([path, response.status, response.body.error]).toEqual([path, 500, 'Internal server error']);
        expect(response.text).not.toContain('secret');
      }
    } finally {
      // Restores the method of the class.
      delete (upstream as Partial<MailUpstream>).send;
    }
    // The error shape of WildDuck's HTTP layer.
    duck.script = () => ({ status: 500, json: { code: 'InternalServer', message: 'failed' } });
    for (const [method, path, body] of routes) {
      const response = await alice.api.request(method, path, { body });
      expect([path, response.status, response.body.error]).toEqual([path, 500, 'Proxy failed']);
    }
  });
});

describe('with the embedded mail service', () => {
  let mail: TestMailService;
  let app: TestApp;
  let port: number;
  let carol: TestUser;

  beforeAll(async () => {
    mail = await TestMailService.start();
    port = await mail.get(SmtpReceiver).listen(0);
    app = await TestApp.start(mail.settings);
    app.get(PeriodicJobs).onApplicationBootstrap();
    [carol] = await app.tenant('letters', 'carol', 'dave');
  });
  afterAll(async () => {
    await app?.stop();
    await mail?.stop();
  });

  const raw = (subject: string, to: string) =>
    `From: Ann <ann@far.example>\r\nTo: ${to}\r\nSubject: ${subject}\r\n\r\nhello\r\n`;
  const subjects = async () => {
    const { body } = await carol.api.get(BOXES);
    const inbox = body.results.find(({ path }: { path: string }) => path === 'INBOX').id;
    const list = await carol.api.get(`${BOXES}/${inbox}/messages`);
    return list.body.results.map(({ subject }: { subject: string }) => subject);
  };

  test('a member who has never opened mail receives mail by SMTP', async () => {
    const envelope = { from: 'ann@far.example', to: [carol.email] };
    await sendBySmtp(port, envelope, raw('First', carol.email));
    expect(await subjects()).toEqual(['First']);
    await until(
      'all accounts',
      async () => (await app.sql('SELECT FROM mail_pending_accounts')).length === 0,
    );
  });

  test('a message to a member that is being added waits for the account', async () => {
    const sent = sendBySmtp(port, { from: 'a@far.example', to: ['erin@new.example'] }, raw('Early', 'erin'));
    await app.tenant('new', 'erin');
    await sent;
  });

  test('postmaster is the oldest account of the domain, other names stay unknown', async () => {
    const domain = carol.email.split('@')[1];
    const [{ address }] = await mail.sql('SELECT address FROM users ORDER BY created_at, id LIMIT 1');
    for (const to of [`postmaster@${domain}`, `PostMaster@${domain}`, 'Postmaster']) {
      await sendBySmtp(port, { from: 'ann@far.example', to: [to] }, raw('Report', to));
    }
    const [{ count }] = await mail.sql(
      `SELECT count(*)::int FROM messages m JOIN users u ON u.id = m.user_id WHERE u.address = $1 AND m.subject = 'Report'`,
      [address],
    );
    expect(count).toBe(3);
    mail.get(SmtpReceiver).awaitMs = 0;
    for (const to of [`postmasters@${domain}`, 'postmaster@elsewhere.example'])
      await expect(sendBySmtp(port, { from: 'a@far.example', to: [to] }, raw('x', to))).rejects.toThrow(
        /550/,
      );
  });

  test('an unknown target mailbox is a 404, an empty change a 400', async () => {
    const { body } = await carol.api.get(BOXES);
    const inbox = body.results.find(({ path }: { path: string }) => path === 'INBOX').id;
    const path = `${BOXES}/${inbox}/messages`;
    for (const [target, change] of [
      [path, { message: [1] }],
      [`${path}/1`, {}],
    ] as const) {
      const moved = await carol.api.put(target, { ...change, moveTo: '0'.repeat(24) });
      expect([moved.status, moved.body.code]).toEqual([404, 'NoSuchMailbox']);
      const nothing = await carol.api.put(target, change);
      expect([nothing.status, nothing.body.error]).toEqual([400, 'Nothing was changed']);
    }
  });
});
