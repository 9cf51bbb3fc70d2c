import { QUOTAS } from '../../../src/platform/quotas/quotas.js';
import { type MailClient, mailboxesOf, TestMailService } from '../../support/mail/mail-service.ts';

let mail: TestMailService;
let alice: MailClient;
let boxes: Record<string, string>;

beforeAll(async () => {
  mail = await TestMailService.start();
  alice = await mail.person('alice');
  boxes = await mailboxesOf(alice);
});
afterAll(() => mail?.stop());

const BOXES = '/users/me/mailboxes';
const messages = (mailbox: string): string => `${BOXES}/${boxes[mailbox]}/messages`;

async function store(mailbox: string, fields: object): Promise<number> {
  const { status, body } = await alice.post(messages(mailbox), fields);
  expect([status, body]).toEqual([200, expect.objectContaining({ success: true })]);
  return body.message.id;
}
const read = async (mailbox: string, id: number) => (await alice.get(`${messages(mailbox)}/${id}`)).body;
const sourceOf = async (id: number): Promise<string> =>
  (await alice.get(`${messages('Drafts')}/${id}/message.eml`)).bytes
    .toString()
    .replaceAll('=\r\n', '')
    .replaceAll('=3D', '=');

describe('a forward', () => {
  /** A message with a picture in its text, by a relative address too, and a PDF that has a content id. */
  const RAW = [
    'Subject: pictures',
    'Content-Type: multipart/mixed; boundary=outer',
    '',
    '--outer',
    'Content-Type: multipart/related; boundary=inner',
    '',
    '--inner',
    'Content-Type: text/html',
    '',
    '<img src="cid:a%2Bb@x"><img src=\'pics/b.png\'><i style="background: url(pics/b.png)">',
    '--inner',
    'Content-Type: image/png; name=a.png',
    'Content-ID: <a+b@x>',
    '',
    'a',
    '--inner',
    'Content-Type: image/png; name=b.png',
    'Content-Location: pics/b.png',
    '',
    'b',
    '--inner--',
    '--outer',
    'Content-Type: application/pdf; name=c.pdf',
    'Content-ID: <c@x>',
    'Content-Disposition: attachment; filename=c.pdf',
    '',
    'c',
    '--outer--',
    '',
  ].join('\r\n');

  /** The names of the files that the links of a message show. */
  async function shownIn(message: { html: string[]; attachments?: { id: string; filename: string }[] }) {
    const names = new Map(message.attachments?.map(({ id, filename }) => [`attachment:${id}`, filename]));
    const links = message.html[0]!.matchAll(/src=["']([^"']*)["']|url\(([^)]*)\)/g);
    return [...links].map(([, src, url]) => names.get(src ?? url ?? '') ?? 'nothing');
  }

  async function forward(action: string, attachments: boolean | string[] | undefined) {
    const id = await store('INBOX', { raw: RAW });
    const { html } = await read('INBOX', id);
    const reference = { mailbox: boxes['INBOX'], id, action, attachments };
    return store('Drafts', { draft: true, html: `<p>see</p>${html[0]}`, reference });
  }

  test('shows the pictures of the message that it forwards', async () => {
    const id = await store('INBOX', { raw: RAW });
    const shown = ['a.png', 'b.png', 'b.png'];
    expect(await shownIn(await read('INBOX', id))).toEqual(shown);
    for (const attachments of [true, ['ATT00001', 'ATT00002', 'ATT00003']]) {
      const draft = await forward('forward', attachments);
      const copy = await read('Drafts', draft);
      expect(await shownIn(copy)).toEqual(shown);
      expect(copy.attachments.map(({ filename }: { filename: string }) => filename)).toEqual([
        'a.png',
        'b.png',
        'c.pdf',
      ]);
      // Mail programs hide a file with a content id that no link names.
      expect(copy.attachments[2]).toMatchObject({ cid: null, related: false });
      expect(await sourceOf(draft)).not.toContain('attachment:ATT');
    }
  });

  test.each([
    ['forward', ['ATT00003'], ['c.pdf'], ['nothing', 'nothing', 'nothing']],
    ['forward', ['ATT00002', 'ATT00003'], ['b.png', 'c.pdf'], ['nothing', 'b.png', 'b.png']],
    ['reply', false, [], ['nothing', 'nothing', 'nothing']],
    ['replyAll', undefined, [], ['nothing', 'nothing', 'nothing']],
  ])('%s with %j shows no other file in place of a picture', async (action, attachments, names, shown) => {
    const draft = await forward(action, attachments);
    const copy = await read('Drafts', draft);
    expect((copy.attachments ?? []).map(({ filename }: { filename: string }) => filename)).toEqual(names);
    expect(await shownIn(copy)).toEqual(shown);
    expect(await sourceOf(draft)).not.toContain('attachment:ATT');
  });

  test('keeps a copied picture apart from a new one with the same content id', async () => {
    const id = await store('INBOX', { raw: RAW });
    const draft = await store('Drafts', {
      draft: true,
      html: '<img src="cid:a+b@x"><img src="attachment:ATT00001">',
      attachments: [{ filename: 'new.png', contentType: 'image/png', cid: 'a+b@x', content: 'bg==' }],
      reference: { mailbox: boxes['INBOX'], id, action: 'forward', attachments: ['ATT00001'] },
    });
    expect(await shownIn(await read('Drafts', draft))).toEqual(['new.png', 'a.png']);
  });
});

describe('what a draft names', () => {
  const post = (fields: object) => alice.post(messages('Drafts'), { draft: true, subject: 'x', ...fields });
  const count = async (): Promise<number> => (await alice.get(`${messages('Drafts')}?limit=1`)).body.total;

  test('must exist when its files are wanted', async () => {
    const id = await store('INBOX', { subject: 'files', attachments: [{ filename: 'a', content: 'YQ==' }] });
    const before = await count();
    const of = (given: object) => ({
      reference: { mailbox: boxes['INBOX'], id, action: 'forward', ...given },
    });
    const unknown = '0'.repeat(24);
    for (const fields of [
      of({ id: 999_999, attachments: true }),
      of({ id: 999_999, attachments: ['ATT00001'] }),
      of({ mailbox: unknown, attachments: true }),
      of({ attachments: ['ATT00001', 'ATT00009'] }),
    ])
      expect((await post(fields)).status).toBe(404);
    expect(await count()).toBe(before);
    expect((await post(of({ id: 999_999 }))).status).toBe(200);
    expect((await post(of({ id: 999_999, attachments: [] }))).status).toBe(200);
  });

  test.each(['***', 'a', 'aGVsbG8=garbage!', 'YQ===', '\u2014'.repeat(300_000), 'YQ*'.repeat(300_000)])(
    'content that is not base64 is rejected: %.20s',
    async (content) => {
      const before = await count();
      const { status, body } = await post({ attachments: [{ filename: 'a', content }] });
      expect([status, body.code]).toEqual([400, 'InputValidationError']);
      expect(await count()).toBe(before);
    },
  );

  test.each([
    ['', 0],
    ['aGVsbG8=', 5],
    ['aGVs\r\nbG8', 5],
    ['_-8', 2],
    ['YWJj'.repeat(300_000), 900_000],
  ])('base64 with line breaks, without padding, or of URLs is read: %.20s', async (content, size) => {
    const { body } = await post({ attachments: [{ filename: 'a', content }] });
    expect((await read('Drafts', body.message.id)).attachments[0].decodedSize).toBe(size);
  });

  test('has a time of an existing day', async () => {
    for (const date of ['2027-02-30T00:00:00Z', '2027-02-29', '2027-04-31T10:00:00+02:00'])
      expect((await post({ date })).status).toBe(400);
    for (const date of ['2028-02-29T00:00:00Z', 'Thu, 29 Feb 2024 10:00:00 +0100', 1_700_000_000_000])
      expect((await post({ date })).status).toBe(200);
    const id = await store('Drafts', { draft: true, to: [{ address: 'bob@far.example' }], text: 'x' });
    const sent = await alice.post(`${messages('Drafts')}/${id}/submit`, { sendTime: '2027-02-30T00:00:00Z' });
    expect(sent.status).toBe(400);
  });

  test('keeps the first id of a long thread', async () => {
    const ids = Array.from({ length: 150 }, (_, n) => `<${n}@x>`);
    const raw = `Message-ID: <150@x>\r\nReferences: ${ids.join('\r\n ')}\r\nSubject: long\r\n\r\nx`;
    const id = await store('INBOX', { raw });
    const draft = await store('Drafts', {
      draft: true,
      reference: { mailbox: boxes['INBOX'], id, action: 'reply' },
    });
    const { references } = await read('Drafts', draft);
    expect([references.length, references[0], references.at(-1)]).toEqual([100, '<0@x>', '<150@x>']);
  });
});

describe('the name of a mailbox', () => {
  test.each(['line\nbreak', 'bell\u0007', 'a/b\u0085c', 'x\u2028y'])(
    'has no control characters: %j',
    async (path) => {
      expect((await alice.post(BOXES, { path })).status).toBe(400);
    },
  );

  test('has no blanks at its ends', async () => {
    expect((await alice.post(BOXES, { path: 'Plans' })).status).toBe(200);
    for (const path of ['Plans ', ' Plans', 'Plans\u00a0']) {
      const { status, body } = await alice.post(BOXES, { path });
      expect([status, body.code]).toEqual([400, 'MailboxExistsError']);
    }
    const { body } = await alice.post(BOXES, { path: 'Plans/ 2027 ' });
    expect((await alice.get(`${BOXES}/${body.id}`)).body).toMatchObject({
      path: 'Plans/2027',
      name: '2027',
    });
    await alice.put(`${BOXES}/${body.id}`, { path: ' Plans / Old' });
    expect((await alice.get(`${BOXES}/${body.id}`)).body.path).toBe('Plans/Old');
  });
});

describe('a bounce', () => {
  test('has its status as a file', async () => {
    const raw = [
      'Subject: failed',
      'Content-Type: multipart/report; report-type=delivery-status; boundary=d',
      '',
      '--d',
      'Content-Type: text/plain',
      '',
      'Failed',
      '--d',
      'Content-Type: message/delivery-status',
      '',
      'Reporting-MTA: dns; mx.example',
      '',
      'Final-Recipient: rfc822; a@far.example',
      'Action: failed',
      'Status: 5.1.1',
      '--d',
      'Content-Type: text/rfc822-headers',
      '',
      'Subject: x',
      '--d--',
      '',
    ].join('\r\n');
    const { text, html, attachments } = await read('INBOX', await store('INBOX', { raw }));
    expect([text.trim(), html.join('')]).toEqual(['Failed', expect.not.stringContaining('Reporting-MTA')]);
    const types = attachments.map(({ contentType }: { contentType: string }) => contentType);
    expect(types).toEqual(['message/delivery-status', 'text/rfc822-headers']);
  });
});

describe('a draft that is saved again', () => {
  const threadOf = async (id: number) => {
    const { thread, references, reference, headers } = await read('Drafts', id);
    const inReplyTo = headers.find(({ key }: { key: string }) => key === 'in-reply-to')?.value;
    return { thread, references, reference, inReplyTo };
  };

  test('without a reference stays a reply, also after its origin was deleted', async () => {
    const origin = await store('INBOX', { subject: 'question', text: 'a' });
    const { thread, messageId } = await read('INBOX', origin);
    const reference = { mailbox: boxes['INBOX'], id: origin, action: 'reply' };
    const first = await store('Drafts', { draft: true, to: [], text: 'b', reference });
    const expected = { thread, references: [messageId], reference, inReplyTo: messageId };
    expect(await threadOf(first)).toEqual(expected);
    const second = await store('Drafts', { draft: true, text: 'c', replacePrevious: { id: first } });
    expect(await threadOf(second)).toEqual(expected);
    expect((await read('Drafts', second)).to).toBeUndefined();
    await alice.delete(`${messages('INBOX')}/${origin}`);
    const third = await store('Drafts', {
      draft: true,
      text: 'd',
      reference,
      replacePrevious: { id: second },
    });
    expect(await threadOf(third)).toEqual(expected);
  });

  test('without a thread has none', async () => {
    const first = await store('Drafts', { draft: true, text: 'a' });
    const second = await store('Drafts', { draft: true, text: 'b', replacePrevious: { id: first } });
    expect(await threadOf(second)).toMatchObject({ references: [], inReplyTo: undefined });
  });
});

describe('mailboxes', () => {
  const paths = async (): Promise<string[]> =>
    (await alice.get(BOXES)).body.results.map(({ path }: { path: string }) => path);

  test('have names in normalization form C', async () => {
    const created = await alice.post(BOXES, { path: 'Ma\u0308rz/Cafe\u0301' });
    expect(created.body).toMatchObject({ path: 'M\u00e4rz/Caf\u00e9', name: 'Caf\u00e9' });
    expect((await alice.post(BOXES, { path: 'M\u00e4rz/Caf\u00e9' })).body.code).toBe('MailboxExistsError');
    const resolved = await alice.get(`${BOXES}/resolve?path=${encodeURIComponent('Ma\u0308rz/Cafe\u0301')}`);
    expect(resolved.body.id).toBe(created.body.id);
    const other = (await alice.post(BOXES, { path: 'Other' })).body.id;
    expect((await alice.put(`${BOXES}/${other}`, { path: 'Ma\u0308rz/Cafe\u0301' })).body.code).toBe(
      'MailboxExistsError',
    );
    expect((await alice.put(`${BOXES}/${other}`, { path: 'Ju\u0308ni' })).body).toEqual({ success: true });
    expect(await paths()).toContain('J\u00fcni');
  });

  test('are at most 1,500, also of concurrent creations', async () => {
    const zoe = await mail.person('zoe');
    const existing = (await zoe.get(BOXES)).body.results.length;
    await mail.sql(
      `INSERT INTO mailboxes (user_id, id, path, hidden, retention, encrypt_messages)
       SELECT $1, lpad(to_hex(n), 24, '0'), 'Old ' || n, false, NULL, false FROM generate_series(1, $2::int) n`,
      [zoe.id, QUOTAS.user.mailboxes - existing - 2],
    );
    const replies = await Promise.all(
      Array.from({ length: 5 }, (_, n) => zoe.post(BOXES, { path: `New ${n}` })),
    );
    expect(replies.map(({ status, body }) => `${status} ${body.code ?? 'ok'}`).toSorted()).toEqual([
      '200 ok',
      '200 ok',
      '400 CANNOT',
      '400 CANNOT',
      '400 CANNOT',
    ]);
  });

  test('are not moved below themselves', async () => {
    const parent = (await alice.post(BOXES, { path: 'Loop' })).body.id;
    await alice.post(BOXES, { path: 'Loop/kid' });
    for (const path of ['Loop/kid/x', 'Loop/y']) {
      const { status, body } = await alice.put(`${BOXES}/${parent}`, { path });
      expect([status, body.code]).toEqual([400, 'DisallowedMailboxMethod']);
    }
    expect((await alice.put(`${BOXES}/${parent}`, { path: 'Loops' })).status).toBe(200);
    const paths = (await alice.get(BOXES)).body.results.map((box: any) => box.path);
    expect(paths).toEqual(expect.arrayContaining(['Loops', 'Loops/kid']));
  });

  test('with others below them are not deleted', async () => {
    const parent = (await alice.post(BOXES, { path: 'Projects' })).body.id;
    const child = (await alice.post(BOXES, { path: 'Projects/Crane' })).body.id;
    await alice.post(BOXES, { path: 'Projects2/Crane' });
    await alice.post(`${BOXES}/${parent}/messages`, { subject: 'stays', text: 'a' });
    const refused = await alice.delete(`${BOXES}/${parent}`);
    expect([refused.status, refused.body.code]).toEqual([400, 'MailboxHasChildrenError']);
    expect(await paths()).toEqual(expect.arrayContaining(['Projects', 'Projects/Crane']));
    expect((await alice.get(`${BOXES}/${parent}`)).body.total).toBe(1);
    for (const id of [child, parent])
      expect((await alice.delete(`${BOXES}/${id}`)).body).toEqual({ success: true });
    expect((await paths()).filter((path) => /^Projects(?:\/|$)/.test(path))).toEqual([]);
  });
});

test('a reply goes to an address with a quoted local part', async () => {
  const raw = 'From: "Pat" <"pat doe"@Far.example>\r\nSubject: quoted\r\n\r\ntext';
  const id = await store('INBOX', { raw });
  const reply = await store('Drafts', {
    draft: true,
    text: 'a',
    reference: { mailbox: boxes['INBOX'], id, action: 'reply' },
  });
  expect((await read('Drafts', reply)).to).toEqual([{ name: 'Pat', address: '"pat doe"@far.example' }]);
  const named = await store('Drafts', { draft: true, cc: [{ address: '"pat doe"@far.example' }] });
  expect((await read('Drafts', named)).cc).toEqual([{ name: '', address: '"pat doe"@far.example' }]);
  for (const address of ['"pat"doe"@far.example', '"pat\r\n"@far.example', '"pat"@', 'pat doe@far.example']) {
    const { status } = await alice.post(messages('Drafts'), { draft: true, cc: [{ address }] });
    expect([address, status]).toEqual([address, 400]);
  }
});
