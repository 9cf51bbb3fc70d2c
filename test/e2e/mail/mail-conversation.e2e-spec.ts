import { createHash, randomBytes } from 'node:crypto';
import { RecipientsApi } from '../../../src/modules/mail/index.js';
import type { RequestContext } from '../../../src/platform/context/request-context.js';
import { mailTarget } from '../../../src/modules/mail/gate/mail-gate.js';
import { type TestUser, TestApp } from '../../support/app.ts';
import type { ApiResponse } from '../../support/network/client.ts';
import { TestMailService } from '../../support/mail/mail-service.ts';
import { until } from '../../support/until.ts';

const BOXES = '/mail/users/me/mailboxes';

/** All requests pass the workspace API and end at the embedded mail service. */
describe('a conversation', () => {
  let mail: TestMailService;
  let app: TestApp;
  let alice: Writer;
  let bob: Writer;
  /** Operations with a successful response. */
  const used = new Set<string>();

  beforeAll(async () => {
    mail = await TestMailService.start();
    app = await TestApp.start(mail.settings);
    const users = await app.tenant('letters', 'alice', 'bob', 'carol');
    [alice, bob] = users.map((person) => new Writer(person, used)) as [Writer, Writer];
  });
  afterAll(async () => {
    await app?.stop();
    await mail?.stop();
  });

  const file = Buffer.concat([Buffer.from('%PDF-1.7 <html>'), randomBytes(40_000)]);

  test('starts with a message to a user who has never opened mail, and gets a reply', async () => {
    // Neither has an account yet: alice's is created by her first request, and her message waits for bob's.
    const drafts = await alice.box('Drafts');
    const draft = await alice.ok('POST', '/mail/draft', {
      mailbox: drafts,
      draft: true,
      to: [{ name: 'Bob', address: bob.person.email }],
      bcc: [{ address: 'hidden@letters.example' }],
      subject: 'Zahlen ✓',
      html: '<p>see the <b>file</b></p>',
      attachments: [
        { filename: 'zahlen ü.pdf', contentType: 'application/pdf', content: file.toString('base64') },
      ],
    });
    expect(draft.message).toEqual({ id: expect.any(Number), mailbox: drafts, size: expect.any(Number) });
    const sent = await alice.ok('POST', '/mail/draft/submit', {
      mailbox_id: drafts,
      message_id: String(draft.message.id),
    });
    expect(sent).toMatchObject({ success: true, message: { mailbox: await alice.box('Sent Mail') } });
    expect((await alice.list('Drafts')).results).toEqual([]);
    const known = await app
      .get(RecipientsApi)
      .suggest({ tenantId: alice.person.tenantId, userId: alice.person.id } as RequestContext, 'bob@');
    expect(known.map(({ address }) => address)).toEqual([bob.person.email]);

    const inbox = await bob.box('INBOX');
    const found = await bob.arrived('INBOX', 'Zahlen ✓');
    expect(found).toMatchObject({ attachments: true, seen: false, from: { address: alice.person.email } });
    const counted = (await bob.ok('GET', `${BOXES}?counters=true`)).results;
    expect(counted.find(({ id }: { id: string }) => id === inbox)).toMatchObject({ total: 1, unseen: 1 });
    const letter = await bob.ok('GET', `${BOXES}/${inbox}/messages/${found.id}`);
    expect(letter).toMatchObject({
      subject: 'Zahlen ✓',
      from: { address: alice.person.email, name: 'Alice' },
      to: [{ name: 'Bob', address: bob.person.email }],
      attachments: [{ id: 'ATT00001', filename: 'zahlen ü.pdf', contentType: 'application/pdf' }],
    });
    expect(JSON.stringify(letter)).not.toContain('hidden');

    const download = await bob.download(inbox, found.id, 'ATT00001', 'zahlen ü.pdf');
    expect(download.status).toBe(200);
    expect(download.bytes.equals(file)).toBe(true);
    expect(download.headers.get('content-type')).toBe('application/pdf');
    expect(download.headers.get('x-content-type-options')).toBe('nosniff');
    expect(download.headers.get('content-disposition')).toMatch(/^attachment; .*filename\*=UTF-8''zahlen/);
    expect(download.headers.get('content-security-policy')).toMatch(/sandbox/);

    // By the plain message routes.
    const bobs = await bob.box('Drafts');
    const reply = await bob.ok('POST', `${BOXES}/${bobs}/messages`, {
      draft: true,
      text: 'thank you',
      reference: { mailbox: inbox, id: found.id, action: 'reply' },
    });
    await bob.ok('POST', `${BOXES}/${bobs}/messages/${reply.message.id}/submit`, {});
    const answer = await alice.read('INBOX', await alice.arrived('INBOX', 'Re: Zahlen ✓'));
    expect(answer).toMatchObject({
      from: { address: bob.person.email },
      text: expect.stringMatching(/thank/),
    });
    expect(answer.references).toContain(letter.messageId);
    const [own] = (await alice.list('Sent Mail')).results;
    expect(answer.thread).toBe(own.thread);
    expect((await bob.read('INBOX', found)).answered).toBe(true);
  });

  test('is marked, moved to mailboxes and restored', async () => {
    const inbox = await bob.box('INBOX');
    const path = `${BOXES}/${inbox}/messages`;
    const made = await bob.ok('POST', BOXES, { path: 'Projects/Alpha', subscribed: false, retention: 0 });
    const project = `${BOXES}/${made.id}`;
    expect(await bob.ok('GET', project)).toMatchObject({
      path: 'Projects/Alpha',
      name: 'Alpha',
      subscribed: false,
    });
    expect(await bob.ok('PUT', project, { path: 'Projects/Beta' })).toMatchObject({ success: true });
    expect(await bob.ok('GET', project)).toMatchObject({ path: 'Projects/Beta' });

    const ids: number[] = [];
    for (let n = 1; n <= 3; n += 1) {
      const { message } = await bob.ok('POST', path, { subject: `bulk ${n}`, text: 't', unseen: true });
      ids.push(message.id);
    }
    expect(await bob.ok('PUT', path, { message: ids, seen: true })).toMatchObject({
      success: true,
      updated: 3,
    });
    expect(await bob.ok('PUT', path, { message: ids.slice(1).map(String), seen: false })).toMatchObject({
      updated: 2,
    });
    const unseen = (await bob.ok('GET', `${path}?unseen=true`)).results;
    expect(unseen.map(({ subject }: { subject: string }) => subject)).toEqual(
      expect.arrayContaining(['bulk 3', 'bulk 2']),
    );
    expect(unseen.map(({ subject }: { subject: string }) => subject)).not.toContain('bulk 1');

    const moved = await bob.ok('PUT', path, { message: ids, moveTo: made.id });
    expect(moved).toEqual({ success: true, mailbox: made.id, id: ids.map((id, n) => [id, n + 1]) });
    expect((await bob.ok('GET', project)).total).toBe(3);
    // Single moves to the trash: the original mailbox is the project, not the inbox.
    const trash = await bob.box('Trash');
    const binned = await bob.ok('PUT', `${project}/messages/2`, { moveTo: trash, flagged: true });
    const [[, there]] = binned.id;
    const restored = await bob.ok('PUT', `${BOXES}/${trash}/messages`, {
      message: [there],
      restoreToOrigin: true,
    });
    expect(restored).toMatchObject({ success: true, mailbox: made.id });
    const home = await bob.ok('PUT', `${project}/messages`, { message: [1, 3], restoreToOrigin: true });
    expect(home).toMatchObject({
      mailbox: inbox,
      id: [
        [1, expect.any(Number)],
        [3, expect.any(Number)],
      ],
    });

    // A message that is in its original mailbox.
    const marked = { message: [home.id[0][1]], restoreToOrigin: true, flagged: true };
    expect(await bob.ok('PUT', path, marked)).toEqual({ success: true, updated: 1 });

    const [[, last]] = restored.id;
    expect(await bob.ok('DELETE', `${project}/messages/${last}`)).toMatchObject({ success: true });
    expect((await bob.api('GET', `${project}/messages/${last}`)).status).toBe(404);
    expect(await bob.ok('DELETE', project)).toMatchObject({ success: true });
    expect((await bob.api('GET', project)).status).toBe(404);
  });

  test('mailboxes are changed when they are sent back as they were read', async () => {
    const listed = (await bob.ok('GET', BOXES)).results;
    for (const box of listed) await bob.ok('PUT', `${BOXES}/${box.id}`, { ...box, subscribed: false });
    expect((await bob.ok('GET', BOXES)).results).toEqual(
      listed.map((box: object) => ({ ...box, subscribed: false })),
    );
  });

  test('is paged by cursors in both directions', async () => {
    const { id } = await alice.ok('POST', BOXES, { path: 'Many' });
    const path = `${BOXES}/${id}/messages`;
    for (let n = 1; n <= 23; n += 1) await alice.ok('POST', path, { subject: `p${n}`, text: 't' });
    const subjects = (page: { results: { subject: string }[] }) => page.results.map(({ subject }) => subject);
    const first = await alice.ok('GET', `${path}?order=desc&threadCounters=true`);
    expect([first.total, first.results.length, first.previousCursor]).toEqual([23, 20, false]);
    const second = await alice.ok('GET', `${path}?order=desc&cursor=${first.nextCursor}&direction=next`);
    expect(second.nextCursor).toBe(false);
    expect([...subjects(first), ...subjects(second)]).toEqual(
      Array.from({ length: 23 }, (_, n) => `p${23 - n}`),
    );
    const back = await alice.ok(
      'GET',
      `${path}?order=desc&cursor=${second.previousCursor}&direction=previous`,
    );
    expect(subjects(back)).toEqual(subjects(first));
  });

  test('is isolated from other users who know its ids', async () => {
    const inbox = await alice.box('INBOX');
    const [letter] = (await alice.list('INBOX')).results;
    const bobs = await bob.box('INBOX');
    const hers = `${BOXES}/${inbox}`;
    const attachment = `/mail/attachment?mailbox_id=${inbox}&message_id=${letter.id}&attachment_id=ATT00001&filename=x`;
    for (const [method, path, body] of [
      ['GET', hers],
      ['GET', `${hers}/messages`],
      ['GET', `${hers}/messages/${letter.id}`],
      ['GET', attachment],
      ['PUT', hers, { path: 'Mine now' }],
      ['PUT', `${hers}/messages`, { message: [letter.id], seen: true }],
      ['PUT', `${hers}/messages`, { message: [letter.id], moveTo: bobs }],
      ['PUT', `${hers}/messages/${letter.id}`, { flagged: true }],
      ['DELETE', `${hers}/messages/${letter.id}`],
      ['DELETE', hers],
      ['POST', `${hers}/messages`, { subject: 'x' }],
      ['POST', '/mail/draft', { mailbox: inbox, subject: 'x' }],
      ['POST', '/mail/draft/submit', { mailbox_id: inbox, message_id: String(letter.id) }],
      ['POST', `${hers}/messages/${letter.id}/submit`, {}],
    ] as const) {
      const { status } = await bob.api(method, path, body);
      expect([method, path, status]).toEqual([method, path, 404]);
    }
    // His messages cannot be moved to her mailboxes.
    const [his] = (await bob.list('INBOX')).results;
    const pushed = await bob.api('PUT', `${BOXES}/${bobs}/messages`, { message: [his.id], moveTo: inbox });
    expect(pushed.status).toBeGreaterThanOrEqual(400);
    expect((await alice.list('INBOX')).results).toEqual([letter]);

    for (const hidden of [true, 'true']) {
      const made = await alice.api('POST', BOXES, { path: 'Secret', hidden });
      expect([made.status, made.body.error]).toEqual([422, 'hidden_mailbox_not_allowed']);
      const changed = await alice.api('PUT', hers, { hidden });
      expect([changed.status, changed.body.error]).toEqual([422, 'hidden_mailbox_not_allowed']);
    }
    expect((await alice.mailboxes()).map(({ path }) => path)).not.toContain('Secret');
  });

  test('carries 12 MiB attachments in both directions, two at once', async () => {
    // A user may send two bodies of this size at a time.
    const files = Array.from({ length: 2 }, (_, n) => Buffer.alloc(12 * 1024 * 1024, `${n} of mail `));
    const drafts = await alice.box('Drafts');
    await Promise.all(
      files.map(async (bytes, n) => {
        const attachments = [{ filename: `${n}.bin`, content: bytes.toString('base64') }];
        const { message } = await alice.ok('POST', '/mail/draft', {
          mailbox: drafts,
          draft: true,
          to: [{ address: bob.person.email }],
          subject: `large ${n}`,
          attachments,
        });
        await alice.ok('POST', '/mail/draft/submit', { mailbox_id: drafts, message_id: String(message.id) });
        const { id } = await bob.arrived('INBOX', `large ${n}`);
        const { status, bytes: came } = await bob.download(await bob.box('INBOX'), id, 'ATT00001', 'big.bin');
        expect([status, came.length, digest(came)]).toEqual([200, bytes.length, digest(bytes)]);
      }),
    );
  });

  test('used every operation of the contract', () => {
    expect([...used].toSorted()).toEqual([
      'createDraft',
      'createMailbox',
      'createMessage',
      'deleteMailbox',
      'deleteMessage',
      'listMailboxes',
      'listMessages',
      'readAttachment',
      'readMailbox',
      'readMessage',
      'submitDraft',
      'submitMessage',
      'updateMailbox',
      'updateMessage',
      'updateMessages',
    ]);
  });
});

const digest = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

/** A user who writes and reads mail over HTTP only. */
class Writer {
  constructor(
    readonly person: TestUser,
    private readonly used: Set<string>,
  ) {}

  async api(method: string, path: string, body?: unknown): Promise<ApiResponse> {
    const answer = await this.person.api.request(method, path, { body });
    if (answer.status < 300) this.note(method, path);
    return answer;
  }

  /** Sends a request that must succeed. @returns the body */
  async ok(method: string, path: string, body?: unknown): Promise<any> {
    const answer = await this.api(method, path, body);
    if (answer.status !== 200) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    return answer.body;
  }

  async mailboxes(): Promise<{ id: string; path: string }[]> {
    return (await this.ok('GET', BOXES)).results;
  }

  /** The id of a mailbox. */
  async box(path: string): Promise<string> {
    const found = (await this.mailboxes()).find((box) => box.path === path);
    if (!found) throw new Error(`there is no mailbox ${path}`);
    return found.id;
  }

  async list(path: string): Promise<any> {
    return this.ok('GET', `${BOXES}/${await this.box(path)}/messages`);
  }

  async read(path: string, { id }: { id: number }): Promise<any> {
    return this.ok('GET', `${BOXES}/${await this.box(path)}/messages/${id}`);
  }

  /** Waits for a message. @returns its summary */
  async arrived(path: string, subject: string): Promise<any> {
    const found = await until(subject, async () =>
      (await this.list(path)).results.find((row: { subject: string }) => row.subject === subject),
    );
    return found;
  }

  async download(mailbox: string, message: number, attachment: string, filename: string) {
    const query = new URLSearchParams({
      mailbox_id: mailbox,
      message_id: String(message),
      attachment_id: attachment,
      filename,
    });
    const path = `/mail/attachment?${query.toString()}`;
    const { base, token } = this.person.api;
    const response = await fetch(`${base}/apis/v1${path}`, { headers: { authorization: `Bearer ${token}` } });
    if (response.ok) this.note('GET', path);
    const { status, headers } = response;
    return { status, headers, bytes: Buffer.from(await response.arrayBuffer()) };
  }

  private note(method: string, path: string): void {
    const target = mailTarget(method, `/apis/v1${path}`);
    if (target === null || typeof target === 'symbol') throw new Error(`${path} is no operation of mail`);
    this.used.add(target.operation);
  }
}
