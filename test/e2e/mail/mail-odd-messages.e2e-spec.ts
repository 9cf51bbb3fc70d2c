import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { SmtpReceiver } from '../../../src/mail-service/smtp/smtp-receiver.js';
import { type TestUser, TestApp } from '../../support/app.ts';
import { TestMailService } from '../../support/mail/mail-service.ts';
import { ODD_MAIL, type OddMail } from '../../support/mail/odd-mail.ts';
import { openApi } from '../../support/contract/operations.ts';
import { RawSmtp } from '../../support/mail/smtp.ts';

const BOXES = '/mail/users/me/mailboxes';
const ajv = new Ajv2020({ strict: false, allErrors: true });
(formats as unknown as (ajv: Ajv2020) => void)(ajv);
const { schemas } = openApi().components;
ajv.addSchema({ $id: 'api', components: { schemas } });

/** Messages of unknown senders as a mail client reads them. */
describe('odd messages', () => {
  let mail: TestMailService;
  let app: TestApp;
  let port: number;
  let alice: TestUser;
  let bob: TestUser;

  beforeAll(async () => {
    mail = await TestMailService.start({ MAIL_MESSAGE_MB: '8' });
    port = await mail.get(SmtpReceiver).listen(0);
    app = await TestApp.start(mail.settings);
    [alice, bob] = await app.tenant('odd', 'alice', 'bob');
    for (const user of [alice, bob]) await inboxOf(user);
  });
  afterAll(async () => {
    await app?.stop();
    await mail?.stop();
  });

  async function inboxOf({ api }: TestUser): Promise<string> {
    const { body } = await api.get(BOXES);
    return body.results.find(({ path }: { path: string }) => path === 'INBOX').id;
  }

  function expectFits(schema: string, value: unknown): void {
    const check = ajv.getSchema(`api#/components/schemas/${schema}`)!;
    expect(check(value) ? null : check.errors?.slice(0, 3)).toBeNull();
  }

  async function send({ raw }: OddMail, { email }: TestUser): Promise<string> {
    const client = await RawSmtp.open(port);
    try {
      await client.begin(email);
      return await client.message(raw);
    } finally {
      client.close();
    }
  }

  test.each(ODD_MAIL.map((odd) => [odd.name, odd] as const))('%s', async (_, odd) => {
    const { api } = alice;
    const inbox = await inboxOf(alice);
    const messages = `${BOXES}/${inbox}/messages`;
    const before = (await api.get(messages)).body.total;
    expect(await send(odd, alice)).toMatch(odd.reply ?? /^250/);
    const list = await api.get(`${messages}?limit=3&threadCounters=true`);
    expect([list.status, list.body.total - before]).toEqual([200, odd.reply ? 0 : 1]);
    expectFits('MailMessageList', list.body);
    if (odd.reply) return;

    const [{ id }] = list.body.results;
    const read = await api.get(`${messages}/${id}`);
    expect(read.status).toBe(200);
    expectFits('MailMessage', read.body);
    expect(read.body).toMatchObject({ ...odd.expected });
    // List rows are small for any message, except for its recipients.
    if (!/990|addresses/.test(odd.name))
      expect(JSON.stringify(list.body.results[0]).length).toBeLessThan(20_000);
    for (const [n, { type, content }] of (odd.downloads ?? []).entries()) {
      const { id: attachment, filename } = read.body.attachments[n];
      const query = new URLSearchParams({
        mailbox_id: inbox,
        message_id: String(id),
        attachment_id: attachment,
        filename,
      });
      const download = await api.get(`/mail/attachment?${query.toString()}`);
      expect([download.status, download.headers.get('content-type')]).toEqual([200, type]);
      expect(download.headers.get('content-disposition')).toMatch(/^attachment;[^\r\n/\\\u202E]*$/);
      expect(download.headers.get('x-content-type-options')).toBe('nosniff');
      expect(download.headers.get('content-security-policy')).toMatch(/sandbox/);
      if (content !== undefined) expect(download.text.trim()).toBe(content);
    }
  });

  test('can be replied to, forwarded, marked and moved, and are isolated', async () => {
    const { api } = alice;
    const [inbox, theirs] = [await inboxOf(alice), await inboxOf(bob)];
    const boxes = (await api.get(BOXES)).body.results;
    const drafts = boxes.find(({ path }: { path: string }) => path === 'Drafts').id;
    const messages = `${BOXES}/${inbox}/messages`;
    const { results } = (await api.get(`${messages}?limit=250`)).body;
    expect(results.length).toBeGreaterThan(40);
    for (const { id } of results) {
      for (const action of ['replyAll', 'forward']) {
        const made = await api.post('/mail/draft', {
          mailbox: drafts,
          text: 'see below',
          reference: { mailbox: inbox, id, action, ...(action === 'forward' && { attachments: true }) },
        });
        // Too many recipients or parts are a typed error.
        expect([200, 400, 413, 422]).toContain(made.status);
        if (made.status !== 200) continue;
        const draft = await api.get(`${BOXES}/${drafts}/messages/${made.body.message.id}`);
        expectFits('MailMessage', draft.body);
        expect(draft.body.from.address).toBe(alice.email);
        expect(draft.body.bcc ?? []).toEqual([]);
        const source = await mail.root.get(
          `/users/${await accountOf(alice)}/mailboxes/${drafts}/messages/${made.body.message.id}/message.eml`,
        );
        expect(source.bytes.toString('latin1')).not.toMatch(/^(?:X-Evil|X|Bcc):/im);
      }
    }
    const all = results.map(({ id }: { id: number }) => id).join(',');
    const marked = await api.put(messages, { message: all, seen: true });
    expect(marked.body).toMatchObject({ updated: results.length });
    const other = bob.api;
    expect((await other.get(`${BOXES}/${theirs}/messages`)).body.results).toEqual([]);
    const [{ id }] = results;
    const foreign = [
      await other.get(messages),
      await other.get(`${messages}/${id}`),
      await other.put(`${messages}/${id}`, { seen: false }),
      await other.put(messages, { message: all, moveTo: theirs }),
      await other.delete(`${messages}/${id}`),
      await other.post(`${messages}/${id}/submit`, {}),
      await other.post('/mail/draft/submit', { mailbox_id: inbox, message_id: String(id) }),
      await other.post('/mail/draft', { mailbox: drafts, text: 'x' }),
      await other.post(messages, { text: 'x' }),
      await other.get(`${BOXES}/${inbox}`),
      await other.put(`${BOXES}/${inbox}`, { subscribed: false }),
      await other.delete(`${BOXES}/${inbox}`),
      await other.get(
        `/mail/attachment?mailbox_id=${inbox}&message_id=${id}&attachment_id=ATT00001&filename=x`,
      ),
    ];
    for (const { status } of foreign) expect([404, 403, 400]).toContain(status);
    // A reference to another user's message is like one to an unknown message: ignored, unless its files are wanted.
    const bobs = (await other.get(BOXES)).body.results.find(
      ({ path }: { path: string }) => path === 'Drafts',
    ).id;
    const reference = { mailbox: inbox, id, action: 'forward' };
    const files = await other.post('/mail/draft', {
      mailbox: bobs,
      reference: { ...reference, attachments: true },
    });
    expect(files.status).toBe(404);
    const theft = await other.post('/mail/draft', { mailbox: bobs, reference });
    const stolen = (await other.get(`${BOXES}/${bobs}/messages/${theft.body.message.id}`)).body;
    expect([stolen.attachments ?? [], stolen.subject]).toEqual([[], '']);
    expect((await api.get(`${messages}?limit=1`)).body.total).toBe(results.length);
  });

  async function accountOf({ email }: TestUser): Promise<string> {
    const [row] = await mail.sql<{ id: string }>('SELECT id FROM users WHERE address = $1', [email]);
    return row!.id;
  }
});
