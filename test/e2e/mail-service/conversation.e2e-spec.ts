import { randomBytes } from 'node:crypto';
import { jest } from '@jest/globals';
import { MailboxesRepository } from '../../../src/mail-service/mailboxes/mailboxes.repository.js';
import { MessagesRepository } from '../../../src/mail-service/messages/messages.repository.js';
import { DatabaseBusyError } from '../../../src/platform/database/database-errors.js';
import { type MailClient, mailboxesOf, TestMailService } from '../../support/mail/mail-service.ts';
import { until } from '../../support/until.ts';

let mail: TestMailService;
let alice: MailClient;
let bob: MailClient;
let alices: Record<string, string>;
let bobs: Record<string, string>;

beforeAll(async () => {
  mail = await TestMailService.start();
  alice = await mail.person('alice');
  bob = await mail.person('bob');
  [alices, bobs] = [await mailboxesOf(alice), await mailboxesOf(bob)];
});
afterAll(() => mail?.stop());

const box = (id: string | undefined): string => `/users/me/mailboxes/${id}`;

async function draft(user: MailClient, boxes: Record<string, string>, fields: object): Promise<number> {
  const { status, body } = await user.post(`${box(boxes['Drafts'])}/messages`, { draft: true, ...fields });
  expect([status, body]).toEqual([200, expect.objectContaining({ success: true })]);
  return body.message.id;
}

async function submit(user: MailClient, boxes: Record<string, string>, fields: object) {
  const id = await draft(user, boxes, fields);
  const { body } = await user.post(`${box(boxes['Drafts'])}/messages/${id}/submit`, {});
  expect(body).toEqual({
    success: true,
    queueId: expect.stringMatching(/^[0-9a-f]{18}$/),
    message: { id: expect.any(Number), mailbox: boxes['Sent Mail'], size: expect.any(Number) },
  });
  return body;
}

/** Waits for a message with this subject. @returns the newest one */
async function arrived(user: MailClient, mailbox: string | undefined, subject: string): Promise<any> {
  const value = await until(subject, async () => {
    const { body } = await user.get(`${box(mailbox)}/messages`);
    return body.results.find((row: { subject: string }) => row.subject === subject);
  });
  return (await user.get(`${box(mailbox)}/messages/${(value as { id: number }).id}`)).body;
}

const list = async (user: MailClient, mailbox: string | undefined, query = '') =>
  (await user.get(`${box(mailbox)}/messages${query}`)).body;

describe('two users', () => {
  const file = Buffer.from('Zahlen – ünïcode\n');

  test('exchange messages with an attachment, reply, move, mark and download', async () => {
    await submit(alice, alices, {
      to: [{ name: 'Bob', address: 'BOB@Example.COM' }],
      bcc: [{ address: 'alice@example.com' }],
      subject: 'Numbers ✓',
      text: 'see the file',
      attachments: [
        { filename: 'zahlen ü.txt', contentType: 'text/plain', content: file.toString('base64') },
      ],
    });
    const letter = await arrived(bob, bobs['INBOX'], 'Numbers ✓');
    expect(letter).toMatchObject({
      from: { address: 'alice@example.com', name: 'Alice Example' },
      to: [{ name: 'Bob', address: 'BOB@example.com' }],
      seen: false,
      draft: false,
      envelope: {
        from: 'alice@example.com',
        rcpt: [{ value: 'bob@example.com', formatted: 'bob@example.com' }],
      },
    });
    // Bob's copy has no Bcc; alice's own copy has.
    expect(letter.bcc).toBeUndefined();
    expect(
      (await bob.get(`${box(bobs['INBOX'])}/messages/${letter.id}/message.eml`)).bytes.toString(),
    ).not.toMatch(/^bcc:/im);
    const sent = await arrived(alice, alices['Sent Mail'], 'Numbers ✓');
    expect(sent.bcc).toEqual([{ address: 'alice@example.com', name: '' }]);
    const [attachment] = letter.attachments;
    expect(attachment).toMatchObject({ id: 'ATT00001', filename: 'zahlen ü.txt', contentType: 'text/plain' });
    const download = await bob.get(`${box(bobs['INBOX'])}/messages/${letter.id}/attachments/ATT00001`);
    expect(download.bytes.equals(file)).toBe(true);
    expect(download.headers).toMatchObject({
      'content-type': 'text/plain',
      'x-content-type-options': 'nosniff',
    });

    const response = { mailbox: bobs['INBOX'], id: letter.id, action: 'reply' };
    await submit(bob, bobs, { text: 'thanks', reference: response });
    const reply = await arrived(alice, alices['INBOX'], 'Re: Numbers ✓');
    expect(reply.thread).toBe(sent.thread);
    expect(reply.references).toContain(letter.messageId);
    expect((await bob.get(`${box(bobs['INBOX'])}/messages/${letter.id}`)).body.answered).toBe(true);

    const { body: moved } = await bob.put(`${box(bobs['INBOX'])}/messages`, {
      message: String(letter.id),
      moveTo: bobs['Trash'],
    });
    expect(moved).toEqual({ success: true, mailbox: bobs['Trash'], id: [[letter.id, 1]] });
    const { body: marked } = await bob.put(`${box(bobs['Trash'])}/messages`, { message: '1:*', seen: true });
    expect(marked).toEqual({ success: true, updated: 1 });
    const inTrash = (await bob.get(`${box(bobs['Trash'])}/messages/1?markAsSeen=false`)).body;
    expect(inTrash).toMatchObject({ seen: true, expires: expect.any(String) });
  });

  test('reply to the recipients of the draft, and to the sender only when it names none', async () => {
    const { body } = await bob.post(`${box(bobs['INBOX'])}/messages`, {
      from: { address: 'boss@far.example' },
      subject: 'secret',
    });
    const reference = { mailbox: bobs['INBOX'], id: body.message.id, action: 'reply' };
    const recipientsOf = async (fields: object) => {
      const id = await draft(bob, bobs, { reference, ...fields });
      const { to, cc, bcc } = (await bob.get(`${box(bobs['Drafts'])}/messages/${id}`)).body;
      return [to, cc, bcc].map((list) => list?.map(({ address }: { address: string }) => address));
    };
    const bcc = [{ address: 'alice@example.com' }];
    expect(await recipientsOf({ bcc })).toEqual([undefined, undefined, ['alice@example.com']]);
    expect(await recipientsOf({ to: [] })).toEqual([undefined, undefined, undefined]);
    expect(await recipientsOf({ to: [{ address: '' }] })).toEqual([undefined, undefined, undefined]);
    expect(await recipientsOf({})).toEqual([['boss@far.example'], undefined, undefined]);
  });

  test('move and mark messages in one request', async () => {
    const inbox = `${box(bobs['INBOX'])}/messages`;
    const ids: number[] = [];
    for (const unseen of [true, true, false])
      ids.push((await bob.post(inbox, { subject: 'to mark', unseen, flagged: true })).body.message.id);
    const before = (await bob.get(box(bobs['INBOX']))).body;
    const move = (fields: object) =>
      bob.put(inbox, { message: ids.join(','), moveTo: bobs['Junk'], ...fields });
    // A failed move does not change flags.
    expect((await move({ seen: false, moveTo: '0'.repeat(24) })).status).toBe(404);
    expect((await bob.get(box(bobs['INBOX']))).body.unseen).toBe(before.unseen);

    const { status, body } = await move({ seen: true, flagged: false, draft: true });
    expect([status, body.id]).toEqual([200, ids.map((id, n) => [id, n + 1])]);
    const rows = (await list(bob, bobs['Junk'])).results;
    expect(rows).toHaveLength(3);
    for (const row of rows) expect(row).toMatchObject({ seen: true, flagged: false, draft: false });
    const [left, there] = [await bob.get(box(bobs['INBOX'])), await bob.get(box(bobs['Junk']))];
    expect(left.body).toMatchObject({ total: before.total - 3, unseen: before.unseen - 2 });
    expect(there.body).toMatchObject({ total: 3, unseen: 0 });
    await bob.put(`${box(bobs['Junk'])}/messages/1`, { moveTo: bobs['Trash'], seen: false });
    expect((await bob.get(box(bobs['Trash']))).body.unseen).toBe(1);
  });

  test('forward with all or some attachments', async () => {
    const { body } = await alice.post(`${box(alices['INBOX'])}/messages`, {
      from: { address: 'x@example.org' },
      subject: 'two files',
      text: 't',
      attachments: [
        { filename: 'one.txt', content: Buffer.from('1').toString('base64') },
        { filename: 'two.bin', content: '00ff', encoding: 'hex' },
      ],
    });
    const forward = {
      mailbox: alices['INBOX'],
      id: body.message.id,
      action: 'forward',
      attachments: ['att00002'],
    };
    const id = await draft(alice, alices, { to: [{ address: 'bob@example.com' }], reference: forward });
    const { body: copy } = await alice.get(`${box(alices['Drafts'])}/messages/${id}`);
    expect(copy).toMatchObject({ subject: 'Fwd: two files', draft: true, reference: { action: 'forward' } });
    expect(copy.attachments.map(({ filename }: { filename: string }) => filename)).toEqual(['two.bin']);
    const bytes = await alice.get(`${box(alices['Drafts'])}/messages/${id}/attachments/ATT00001`);
    expect([...bytes.bytes]).toEqual([0, 255]);
  });

  test('replacePrevious stores the new draft and deletes the old one', async () => {
    const old = await draft(alice, alices, { subject: 'v1' });
    const { body } = await alice.post(`${box(alices['Drafts'])}/messages`, {
      draft: true,
      subject: 'v2',
      replacePrevious: { id: old },
    });
    expect(body).toMatchObject({ success: true, previousDeleted: true });
    expect((await alice.get(`${box(alices['Drafts'])}/messages/${old}`)).status).toBe(404);
  });

  test('a previous draft that cannot be deleted does not make the client store the new one again', async () => {
    const old = await draft(alice, alices, { subject: 'v1' });
    jest.spyOn(mail.get(MessagesRepository), 'remove').mockRejectedValueOnce(new DatabaseBusyError());
    const { status, body } = await alice.post(`${box(alices['Drafts'])}/messages`, {
      draft: true,
      subject: 'v2',
      replacePrevious: { id: old },
    });
    expect([status, body]).toEqual([
      200,
      {
        success: true,
        message: expect.objectContaining({ id: expect.any(Number) }),
        previousDeleteError: expect.stringMatching(/^Failed to delete previous message\. /),
      },
    ]);
  });

  test('data URL images in HTML become inline attachments', async () => {
    const dot = Buffer.from('89504e470d0a1a0a', 'hex').toString('base64');
    const id = await draft(alice, alices, { html: `<p><img src="data:image/png;base64,${dot}"></p>` });
    const { body } = await alice.get(`${box(alices['Drafts'])}/messages/${id}`);
    expect(body.html).toEqual(['<p><img src="attachment:ATT00001"></p>']);
    expect(body.attachments).toEqual([expect.objectContaining({ contentType: 'image/png', related: true })]);
  });
});

describe('a user', () => {
  test('cannot reach mail of another user', async () => {
    const id = await draft(alice, alices, { subject: 'private' });
    const theirs = `${box(alices['Drafts'])}/messages`;
    const responses = await Promise.all([
      bob.get(box(alices['Drafts'])),
      bob.get(theirs),
      bob.get(`${theirs}/${id}`),
      bob.get(`${theirs}/${id}/message.eml`),
      bob.get(`${theirs}/${id}/attachments/ATT00001`),
      bob.put(theirs, { message: '1:*', seen: true }),
      bob.put(theirs, { message: String(id), moveTo: bobs['INBOX'] }),
      bob.delete(`${theirs}/${id}`),
      bob.post(theirs, { subject: 'x' }),
      bob.post(`${theirs}/${id}/submit`, {}),
      bob.put(box(alices['Drafts']), { path: 'x' }),
      bob.delete(box(alices['Drafts'])),
    ]);
    expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 404));
    for (const path of [
      `/users/${alice.id}/mailboxes`,
      `/users/${alice.id}/mailboxes/${alices['Drafts']}/messages`,
    ])
      expect((await bob.get(path)).body).toEqual({
        error: 'Not enough privileges',
        code: 'MissingPrivileges',
      });
    expect((await alice.get(`${theirs}/${id}`)).body.subject).toBe('private');
  });

  test('gets 403 without a valid token, before any other error', async () => {
    for (const token of [null, 'x', 'a'.repeat(40), `${alice.token}`.toUpperCase()]) {
      const client = Object.assign(Object.create(alice), { token });
      const { status, body } = await client.request('GET', '/users/me/mailboxes');
      expect([status, body]).toEqual([403, { code: 'InvalidToken', message: 'Invalid accessToken value' }]);
    }
  });

  test('extends a token by use, for 180 days at most; a new password revokes all tokens', async () => {
    const status = async (client: MailClient) => (await client.get('/users/me/mailboxes')).status;
    const left = async (client: MailClient): Promise<number> => {
      const sql =
        'SELECT extract(day FROM expires_at - now())::int AS days FROM access_tokens WHERE user_id = $1';
      return (await mail.sql(sql, [client.id]))[0].days;
    };
    const age = (client: MailClient, set: string) =>
      mail.sql(`UPDATE access_tokens SET ${set} WHERE user_id = $1`, [client.id]);
    const [used, old, over] = [
      await mail.person('used'),
      await mail.person('old'),
      await mail.person('over'),
    ];
    await age(used, `expires_at = now() + interval '2 days'`);
    await age(old, `expires_at = now() + interval '2 hours', created_at = now() - interval '178 days'`);
    await age(over, `expires_at = now() - interval '1 second'`);
    expect([await status(used), await status(old), await status(over)]).toEqual([200, 200, 403]);
    expect([await left(used), await left(old)]).toEqual([13, 1]);
    const stored = await mail.sql(
      `SELECT encode(hash, 'hex') AS hash FROM access_tokens WHERE user_id = $1`,
      [used.id],
    );
    expect(stored[0].hash).not.toContain(used.token);
    await mail.root.put(`/users/${used.id}`, { password: 'another-Pa55-word' });
    expect(await status(used)).toBe(403);
    await old.delete('/authenticate');
    expect(await status(old)).toBe(403);
  });

  test('sends with the own address, whatever the draft contains', async () => {
    const raw = [
      'From: CEO <ceo@bigcorp.example>',
      'Sender: ceo@bigcorp.example',
      'From: second@bigcorp.example',
      'To: bob@example.com',
      'Bcc: hidden@example.com,',
      ' folded@example.com',
      'Subject: forged',
      '',
      'body',
    ].join('\r\n');
    const { body: made } = await alice.post(`${box(alices['Drafts'])}/messages`, { draft: true, raw });
    await alice.post(`${box(alices['Drafts'])}/messages/${made.message.id}/submit`, {});
    const letter = await arrived(bob, bobs['INBOX'], 'forged');
    expect(letter.from).toEqual({ address: 'alice@example.com', name: 'CEO' });
    const source = (
      await bob.get(`${box(bobs['INBOX'])}/messages/${letter.id}/message.eml`)
    ).bytes.toString();
    expect(source.match(/^from:/gim)).toHaveLength(1);
    expect(source).not.toMatch(/bigcorp|hidden@|folded@|^sender:/im);
    expect(source).toMatch(/\r\n\r\nbody$/);
  });

  test('pages through a mailbox in both directions and orders', async () => {
    const { body } = await alice.post('/users/me/mailboxes', { path: 'Pages' });
    for (let n = 1; n <= 7; n += 1)
      await alice.post(`${box(body.id)}/messages`, { subject: `p${n}`, text: 't', unseen: n % 2 === 1 });
    const walk = async (query: string): Promise<string[]> => {
      const seen: string[] = [];
      for (let next = ''; ;) {
        const page = await list(alice, body.id, `?limit=3&${query}${next}`);
        seen.push(...page.results.map(({ subject }: { subject: string }) => subject));
        if (page.nextCursor === false) return seen;
        next = `&next=${page.nextCursor}`;
      }
    };
    expect(await walk('')).toEqual(['p7', 'p6', 'p5', 'p4', 'p3', 'p2', 'p1']);
    expect(await walk('order=asc')).toEqual(['p1', 'p2', 'p3', 'p4', 'p5', 'p6', 'p7']);
    expect(await walk('unseen=true')).toEqual(['p7', 'p5', 'p3', 'p1']);
    const first = await list(alice, body.id, '?limit=3');
    const second = await list(alice, body.id, `?limit=3&next=${first.nextCursor}`);
    const back = await list(alice, body.id, `?limit=3&previous=${second.previousCursor}`);
    expect(back).toEqual(first);
    expect([first.page, second.page, second.total]).toEqual([1, 2, 7]);
    const both = await list(
      alice,
      body.id,
      `?limit=3&next=${first.nextCursor}&previous=${second.previousCursor}`,
    );
    expect(both).toEqual(second);
    const empty = await list(alice, body.id, '?next=&previous=&unseen=&limit=&order=');
    expect(empty.results).toHaveLength(7);
    // A year that PostgreSQL does not have.
    const place = JSON.stringify([{ $date: '0000-01-01T00:00:00.000000Z' }, { $oid: body.id }]);
    const forged = Buffer.from(JSON.stringify([place, 1])).toString('base64url');
    expect((await alice.get(`${box(body.id)}/messages?next=${forged}`)).status).toBe(400);
    const named = await list(alice, body.id, '?limit=1&includeHeaders=Subject,x-none&metaData=true');
    expect(named.results[0]).toMatchObject({ headers: { subject: ['p7'] }, metaData: {} });
    // A page ends at its bytes too, in both directions. The first message is part of it whatever its size.
    await mail.sql(
      `UPDATE messages SET summary = summary || jsonb_build_object('to', jsonb_build_array(jsonb_build_object('address', repeat('x', 3000000))))
        WHERE mailbox_id = $1`,
      [body.id],
    );
    const all = await list(alice, body.id, '?limit=1');
    const long: number[] = all.results.map(({ id }: any) => id);
    let [page, last] = [all, all];
    for (; page.nextCursor; last = page) {
      page = await list(alice, body.id, `?limit=250&next=${page.nextCursor}`);
      expect(page.results).toHaveLength(1);
      long.push(page.results[0].id);
    }
    expect(long).toHaveLength(all.total);
    const before = await list(alice, body.id, `?limit=250&previous=${last.previousCursor}`);
    expect(before.results.map(({ id }: any) => id)).toEqual([long.at(-2)]);
  });

  test('renames a mailbox with its children, and deletes one with its messages', async () => {
    const made: Record<string, string> = {};
    for (const path of ['Old', 'Old/in', 'Oldish'])
      made[path] = (await alice.post('/users/me/mailboxes', { path })).body.id;
    await alice.post(`${box(made['Old/in'])}/messages`, { subject: 'kept' });
    await alice.put(box(made['Old']), { path: 'New' });
    expect(await mailboxesOf(alice)).toMatchObject({
      New: made['Old'],
      'New/in': made['Old/in'],
      Oldish: made['Oldish'],
    });
    await alice.put(box(made['Oldish']), { path: 'Oldish/2026' });
    expect((await alice.get(box(made['Oldish']))).body.path).toBe('Oldish/2026');
    const names = (count: number) =>
      Array.from({ length: count }, () => randomBytes(250).toString('hex')).join('/');
    const tooLong = { code: 'InputValidationError', details: { path: '"path" is too long' } };
    for (const path of [' ', '\u200b', 'New/\u3164'])
      expect([path, (await alice.post('/users/me/mailboxes', { path })).status]).toEqual([path, 400]);
    const inInbox = await alice.post('/users/me/mailboxes', { path: 'inbox /Bills' });
    expect((await alice.get(box(inInbox.body.id))).body.path).toBe('INBOX/Bills');
    const created = await alice.post('/users/me/mailboxes', { path: names(8) });
    expect([created.status, created.body]).toEqual([400, expect.objectContaining(tooLong)]);
    expect((await alice.post('/users/me/mailboxes', { path: `New/${names(4)}` })).status).toBe(200);
    // The path of the child would be too long.
    const renamed = await alice.put(box(made['Old']), { path: names(4) });
    expect([renamed.status, renamed.body]).toEqual([400, expect.objectContaining(tooLong)]);
    expect(await mailboxesOf(alice)).toMatchObject({ New: made['Old'] });
    const used = async () =>
      (await mail.sql('SELECT storage_used::int AS n FROM users WHERE id = $1', [alice.id]))[0].n;
    const before = await used();
    expect((await alice.delete(box(made['Old/in']))).body).toEqual({ success: true });
    expect(await used()).toBeLessThan(before);
    const [sums] = await mail.sql('SELECT sum(size)::int AS n FROM messages WHERE user_id = $1', [alice.id]);
    expect(await used()).toBe(sums.n);
  });

  test('renames a mailbox that another request has renamed in between', async () => {
    const { id } = (await alice.post('/users/me/mailboxes', { path: 'First' })).body;
    const child = (await alice.post('/users/me/mailboxes', { path: 'First/in' })).body.id;
    const mailboxes = mail.get(MailboxesRepository);
    const find = jest.spyOn(mailboxes, 'find').mockImplementationOnce(async (...key) => {
      const found = await mailboxes.find(...key);
      await alice.put(box(id), { path: 'Second' });
      return found;
    });
    await alice.put(box(id), { path: 'Third' });
    expect(find).toHaveBeenCalled();
    expect(await mailboxesOf(alice)).toMatchObject({ Third: id, 'Third/in': child });
  });

  test('can send text that PostgreSQL cannot store', async () => {
    const bad = 'a\0b\ud800c';
    const requests: [string, string, unknown][] = [
      ['POST', '/users/me/mailboxes', { path: bad }],
      [
        'POST',
        `${box(alices['Drafts'])}/messages`,
        { draft: true, subject: bad, text: bad, html: bad, from: { name: bad, address: 'a@b.co' } },
      ],
      [
        'POST',
        `${box(alices['Drafts'])}/messages`,
        {
          draft: true,
          metaData: { [bad]: bad },
          attachments: [{ filename: bad, content: 'YQ==', contentType: bad, cid: bad }],
        },
      ],
      ['PUT', `${box(alices['INBOX'])}/messages`, { message: '1:*', metaData: { [bad]: bad } }],
      ['PUT', `${box(alices['INBOX'])}/messages`, { message: '99999999999999999999999999', seen: true }],
      ['GET', `${box(alices['INBOX'])}/messages/9007199254740993`, undefined],
      ['GET', `/users/me/mailboxes/resolve?path=%00`, undefined],
      ['GET', `${box(alices['INBOX'])}/messages?includeHeaders=%00`, undefined],
    ];
    for (const [method, path, body] of requests) {
      const { status, body: response } = await alice.request(method, path, body);
      expect([method, path, status === 500 && response.code === 'InternalServer']).toEqual([
        method,
        path,
        false,
      ]);
    }
  });
});

describe('limits', () => {
  test('of recipients, per day and of storage', async () => {
    const small = await TestMailService.start({
      MAIL_QUOTA_MB: '1',
      MAIL_DAILY_RECIPIENTS: '3',
      MAIL_MESSAGE_MB: '1',
    });
    try {
      const carl = await small.person('carl');
      const boxes = await mailboxesOf(carl);
      const many = Array.from({ length: 401 }, (_, n) => ({ address: `r${n}@example.com` }));
      const crowd = await draft(carl, boxes, { to: many });
      const submitted = (id: number) => carl.post(`${box(boxes['Drafts'])}/messages/${id}/submit`, {});
      expect((await submitted(crowd)).body).toEqual({
        error: 'Your email has too many recipients',
        code: 'TooMany',
      });
      await submit(carl, boxes, { to: many.slice(0, 2), subject: 'two' });
      const beyond = await submitted(await draft(carl, boxes, { to: many.slice(0, 2) }));
      expect([beyond.status, beyond.body]).toEqual([
        403,
        {
          error: 'You reached a daily sending limit for your account. Limit expires in 24 hours',
          code: 'RateLimitedError',
        },
      ]);
      const half = { filename: 'a', content: Buffer.alloc(400_000).toString('base64') };
      await draft(carl, boxes, { attachments: [half] });
      const full = await carl.post(`${box(boxes['Drafts'])}/messages`, { draft: true, attachments: [half] });
      expect([full.status, full.body]).toEqual([
        400,
        { error: 'User is over quota', code: 'OverQuotaError' },
      ]);
      const large = { filename: 'a', content: Buffer.alloc(1_000_000).toString('base64') };
      const rejected = await carl.post(`${box(boxes['Drafts'])}/messages`, {
        draft: true,
        attachments: [large],
      });
      expect(rejected.body.code).toBe('MessageTooLarge');
    } finally {
      await small.stop();
    }
  });

  test('of the cost of parsing a message', async () => {
    const nested = (depth: number): string => {
      let text = '';
      for (let n = 0; n < depth; n += 1)
        text += `Content-Type: multipart/mixed; boundary=b${n}\r\n\r\n--b${n}\r\n`;
      return `${text}Content-Type: text/plain\r\n\r\nx\r\n`;
    };
    const parts = `Content-Type: multipart/mixed; boundary=b\r\n\r\n${'--b\r\n\r\nx\r\n'.repeat(5_000)}--b--\r\n`;
    const headers = `Subject: ${'x'.repeat(3_000_000)}\r\n\r\nx`;
    for (const raw of [nested(2_000), parts, headers]) {
      const { status, body } = await alice.post(`${box(alices['INBOX'])}/messages`, { raw });
      expect([status, body.code]).toEqual([400, 'MessageTooComplex']);
    }
    // The next message is not affected.
    await draft(alice, alices, { subject: 'after' });
  });

  test('12 MB are stored and downloaded unchanged', async () => {
    const bytes = Buffer.alloc(12 * 1024 * 1024, 'twelve megabytes of mail ');
    const id = await draft(alice, alices, {
      attachments: [{ filename: 'big.bin', content: bytes.toString('base64') }],
    });
    const path = `${box(alices['Drafts'])}/messages/${id}/attachments/ATT00001`;
    const download = await alice.get(path);
    expect([download.status, download.bytes.length]).toEqual([200, bytes.length]);
    expect(download.bytes.equals(bytes)).toBe(true);
  });
});

describe('a scheduled message', () => {
  const LATER = '2099-01-01T10:00:00.000Z';
  const schedule = async (subject: string) => {
    const id = await draft(alice, alices, {
      to: [{ address: 'bob@example.com' }, { address: 'alice@example.com' }],
      subject,
      attachments: [{ filename: 'a.txt', content: 'YQ==' }],
    });
    const { body } = await alice.post(`${box(alices['Drafts'])}/messages/${id}/submit`, { sendTime: LATER });
    return body as { queueId: string; message: { id: number } };
  };
  const queued = (queueId: string) => mail.sql('SELECT FROM queue WHERE id = $1', [queueId]);
  const countOf = async () =>
    (await mail.sql(`SELECT sent_count FROM users WHERE address = 'alice@example.com'`))[0].sent_count;
  const sentBox = () => `${box(alices['Sent Mail'])}/messages`;

  test.each([
    ['deleted', (id: number) => alice.delete(`${sentBox()}/${id}`)],
    ['deleted in bulk', (id: number) => alice.put(sentBox(), { message: String(id), delete: true })],
    ['moved to the trash', (id: number) => alice.put(`${sentBox()}/${id}`, { moveTo: alices['Trash'] })],
    ['moved to the drafts', (id: number) => alice.put(`${sentBox()}/${id}`, { moveTo: alices['Drafts'] })],
  ])('is not sent when its copy is %s', async (how, change) => {
    const subject = `undo ${how}`;
    const count = await countOf();
    const { queueId, message } = await schedule(subject);
    expect(await queued(queueId)).toHaveLength(2);
    expect(await countOf()).toBe(count + 2);
    expect((await change(message.id)).status).toBe(200);
    expect(await queued(queueId)).toEqual([]);
    // The recipients do not count towards the daily limit.
    expect(await countOf()).toBe(count);
    const drafts = (await list(alice, alices['Drafts'])).results.filter(
      (row: any) => row.subject === subject,
    );
    if (how !== 'moved to the drafts') return expect(drafts).toEqual([]);
    // It is a draft again.
    const again = await alice.post(`${box(alices['Drafts'])}/messages/${drafts[0].id}/submit`, {});
    expect(again.body).toMatchObject({ success: true });
    expect((await arrived(bob, bobs['INBOX'], subject)).attachments).toHaveLength(1);
  });

  test('stays scheduled when its flags change, and is final once delivery has begun', async () => {
    const { queueId, message } = await schedule('undo too late');
    await alice.put(`${sentBox()}/${message.id}`, { flagged: true });
    expect(await queued(queueId)).toHaveLength(2);
    await mail.sql('UPDATE queue SET attempts = 1 WHERE id = $1', [queueId]);
    await alice.delete(`${sentBox()}/${message.id}`);
    expect(await queued(queueId)).toHaveLength(2);
    await mail.sql('DELETE FROM queue WHERE id = $1', [queueId]);
  });
});

describe('a draft', () => {
  const content = Buffer.from('kept – ünïcode');
  const path = () => `${box(alices['Drafts'])}/messages`;

  test('keeps attachments of its previous version by reference', async () => {
    const first = await draft(alice, alices, {
      html: '<img src="cid:b@x">',
      attachments: [
        { filename: 'ü.txt', contentType: 'text/plain', content: content.toString('base64') },
        { filename: 'b.png', contentType: 'image/png', cid: 'b@x', content: 'YmI=' },
      ],
    });
    const { body: made } = await alice.post(path(), {
      draft: true,
      html: '<p>new <img src="cid:b@x"></p>',
      attachments: [{ keep: 'ATT00001' }, { keep: 'att00002' }, { filename: 'c.txt', content: 'Yw==' }],
      replacePrevious: { id: first },
    });
    expect(made).toMatchObject({ success: true, previousDeleted: true });
    const { body } = await alice.get(`${path()}/${made.message.id}`);
    const names = body.attachments.map(({ filename }: { filename: string }) => filename);
    expect(names.toSorted()).toEqual(['b.png', 'c.txt', 'ü.txt']);
    const { id, decodedSize } = body.attachments.find((each: any) => each.filename === 'ü.txt');
    const file = await alice.get(`${path()}/${made.message.id}/attachments/${id}`);
    expect([file.bytes.equals(content), file.headers['content-length'], decodedSize]).toEqual([
      true,
      String(content.length),
      content.length,
    ]);
    const image = body.attachments.find((each: any) => each.filename === 'b.png');
    expect(body.html[0]).toContain(`attachment:${image.id}`);
  });

  test('keeps the images of HTML that is sent back as it was read, and forwards them', async () => {
    const first = await draft(alice, alices, {
      html: '<img src="cid:a@x"><img src="cid:b@x">',
      attachments: ['a', 'b'].map((name) => ({ filename: `${name}.png`, cid: `${name}@x`, content: 'YmI=' })),
    });
    const { html, attachments } = (await alice.get(`${path()}/${first}`)).body;
    expect(html[0]).toContain('attachment:ATT00002');
    const shown = async (fields: object, count: number) => {
      const { body: made } = await alice.post(path(), { draft: true, html: html[0], ...fields });
      const message = `${path()}/${made.message.id}`;
      expect((await alice.get(message)).body.html[0].match(/attachment:ATT/g)).toHaveLength(count);
      const source = (await alice.get(`${message}/message.eml`)).bytes.toString().replaceAll('=\r\n', '');
      expect(source.match(/"cid:[ab]@x"/g)).toHaveLength(count);
      return made.message.id;
    };
    const ids = attachments.map(({ id }: { id: string }) => id);
    const reference = { mailbox: alices['Drafts'], id: first, action: 'forward', attachments: ids };
    await shown({ reference }, 2);
    const kept = ids.map((keep: string) => ({ keep }));
    const second = await shown({ attachments: kept, replacePrevious: { id: first } }, 2);
    await shown({ attachments: kept.slice(1), replacePrevious: { id: second } }, 1);
  });

  test.each([
    ['of no previous version', {}, 404],
    ['of an unknown version', { replacePrevious: { id: 9_999 } }, 404],
    ['that do not exist', { keep: 'ATT00007' }, 404],
    ['with an invalid id', { keep: '../1' }, 400],
  ])('does not keep attachments %s', async (_, more, status) => {
    const previous = await draft(alice, alices, { attachments: [{ content: 'YQ==' }] });
    const { keep = 'ATT00001', ...rest } = more as { keep?: string };
    const body = {
      draft: true,
      attachments: [{ keep }],
      ...(keep !== 'ATT00001' && { replacePrevious: { id: previous } }),
      ...rest,
    };
    expect((await alice.post(path(), body)).status).toBe(status);
    expect((await alice.get(`${path()}/${previous}`)).status).toBe(200);
  });

  test('reports invalid recipients, and is not sent without recipients', async () => {
    const { status, body } = await alice.post(path(), {
      draft: true,
      to: [{ address: 'bo' }, { address: 'bob@example.com' }, { address: 7 }],
    });
    expect([status, body.code, Object.keys(body.details)]).toEqual([
      422,
      'InvalidRecipients',
      ['to,0,address', 'to,2,address'],
    ]);
    expect(body.error).toContain('"bo"');
    const empty = await draft(alice, alices, { subject: 'to no one', to: [{ address: '' }] });
    const submitted = await alice.post(`${path()}/${empty}/submit`, {});
    expect([submitted.status, submitted.body.code]).toEqual([422, 'NoRecipients']);
  });
});

test('messages are deleted in bulk', async () => {
  const { body: made } = await alice.post('/users/me/mailboxes', { path: 'Bulk', retention: 0 });
  expect(made).toMatchObject({ path: 'Bulk', name: 'Bulk', hidden: false, subscribed: true, total: 0 });
  const path = `${box(made.id)}/messages`;
  for (let n = 0; n < 4; n += 1) await alice.post(path, { subject: `b${n}`, unseen: true });
  expect((await alice.put(path, { message: '1,2,9', delete: true })).body).toEqual({
    success: true,
    deleted: 2,
  });
  expect((await alice.put(path, { message: '1,2', delete: true })).status).toBe(404);
  expect((await alice.put(path, { message: '3', delete: true, seen: true })).status).toBe(400);
  expect((await list(alice, made.id)).results).toMatchObject([{ unseen: true }, { unseen: true }]);
  expect((await alice.get(box(made.id))).body).toMatchObject({ total: 2, unseen: 2 });
  const { body } = await alice.get(`${path}/3?markAsSeen=true`);
  expect(body).toMatchObject({ seen: true, unseen: false });
  expect(body.headers).toContainEqual({ key: 'subject', value: 'b2' });
  expect((await alice.get('/users/me/mailboxes')).body).toMatchObject({
    nextCursor: false,
    previousCursor: false,
  });
});

test('a mailbox is deleted in batches, so that no statement reaches its time limit', async () => {
  const { body: made } = await alice.post('/users/me/mailboxes', { path: 'Large' });
  await alice.post(`${box(made.id)}/messages`, { subject: 'first' });
  const columns = (
    await mail.sql(`SELECT string_agg(attname, ', ' ORDER BY attnum) AS names FROM pg_attribute
      WHERE attrelid = 'messages'::regclass AND attnum > 0 AND attname <> 'uid'`)
  )[0].names as string;
  await mail.sql(`INSERT INTO messages (uid, ${columns}) SELECT number, ${columns}
    FROM messages, generate_series(2, 5001) AS number WHERE mailbox_id = '${made.id}'`);
  // In place of the time limit: it ends statements that delete all these messages.
  await mail.sql(`
    CREATE FUNCTION limit_deletion() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF (SELECT count(*) FROM deleted) > 5000 THEN RAISE EXCEPTION 'too long' USING ERRCODE = '57014'; END IF;
      RETURN NULL;
    END $$;
    CREATE TRIGGER limit_deletion AFTER DELETE ON messages REFERENCING OLD TABLE AS deleted
      FOR EACH STATEMENT EXECUTE FUNCTION limit_deletion()`);
  try {
    expect((await alice.delete(box(made.id))).body).toEqual({ success: true });
  } finally {
    await mail.sql('DROP TRIGGER limit_deletion ON messages; DROP FUNCTION limit_deletion()');
  }
  expect((await alice.get(box(made.id))).status).toBe(404);
  expect(await mail.sql(`SELECT FROM messages WHERE mailbox_id = '${made.id}'`)).toEqual([]);
});
