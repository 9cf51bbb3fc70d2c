import { MailClient, mailboxesOf, TestMailService } from '../../support/mail/mail-service.ts';
import { type Capture, captures, differences } from '../../support/mail/wildduck-captures.ts';

/** Captures that the embedded service does not support, with the reason. */
const OUT_OF_SCOPE: Record<string, string> = {
  'addressregister-after-draft': 'the workspace provides the autocompletion',
  'addressregister-after-submit': 'the workspace provides the autocompletion',
  'addressregister-noquery': 'the workspace provides the autocompletion',
  'delete-all-in-mailbox(not whitelisted)': 'not in the public interface',
  'storage-upload': 'stored files are not in the public interface',
  'draft-with-files': 'stored files are not in the public interface',
  'get-draft-with-files': 'stored files are not in the public interface',
  'draft-with-bobs-file':
    'stored files are not in the public interface; unknown ones are ignored, see draft-files-unknown',
  'upload-12MB-attachment': 'the body was not recorded; attachments of this size are tested elsewhere',
  'get-12MB-attachment': 'the message was not recorded',
  'get-attachment-range': 'the message was not recorded',
  'submit-401-recipients-draft': 'the body was not recorded; tested elsewhere',
  'submit-too-many': 'the draft was not recorded; tested elsewhere',
  'bob-submit-ratelimit-0': 'needs other settings; tested elsewhere',
  'bob-submit-ratelimit-1': 'needs other settings; tested elsewhere',
  'bob-submit-ratelimit-2': 'needs other settings; tested elsewhere',
  'bob-over-quota-upload': 'needs other settings; tested elsewhere',
  'bob-suspended-list': 'accounts cannot be suspended',
  'bob-suspended-upload': 'accounts cannot be suspended',
  'bob-suspended-auth': 'accounts cannot be suspended',
  'bob-token-after-suspend': 'accounts cannot be suspended',
  'list counters=yes': 'the other mailboxes were not recorded',
  'list empty params': 'the messages were not recorded; tested elsewhere',
  'next and previous both': 'the messages were not recorded; tested elsewhere',
  'html 1MiB+1': 'the body was not recorded; sent again below',
  'subject 2049': 'the body was not recorded; sent again below',
};

/** Intended differences by member. */
const PICTURES = 'attachments that are copied include the pictures of the text, so that its links show them';
const REPLY_TO = 'WildDuck loses the replyTo of an upload; here it is kept, and replies go to it';
const HASH = 'WildDuck omits the hash of a copied attachment; here each attachment has one';
const TARGET = {
  why: 'WildDuck responds 500 to an unknown target mailbox; here it is a 404',
  lines: [
    'status 500 expected, received 404',
    '.error: "Mailbox is missing" expected, received "This mailbox does not exist"',
    '.code: additional',
  ],
};
const FLAGS = {
  why: 'WildDuck responds 500 to setting one flag and clearing another; here both change',
  lines: [
    'status 500 expected, received 200',
    '.error: missing',
    '.code: missing',
    '.success: additional',
    '.updated: additional',
  ],
};
const NAMES = 'WildDuck shows control characters in names of files; here they are blanks (RFC 2183, 2.3)';
const named = (member: string): { why: string; lines: string[] } => ({
  why: NAMES,
  lines: [`${member}.filename: "x\\".html\\r\\nX-Inj: 1" expected, received "x\\".html X-Inj: 1"`],
});
const DEVIATIONS: Record<string, { why: string; lines: string[] }> = {
  'get-evil-message': named('.attachments[]'),
  'accept-gzip': named('.results[].attachmentsList[]'),
  'list includeHeaders=true': named('.results[].attachmentsList[]'),
  'get-message': { why: REPLY_TO, lines: ['.replyTo: additional'] },
  'get-message-query-params': { why: REPLY_TO, lines: ['.replyTo: additional'] },
  'get-message-replacecid': { why: REPLY_TO, lines: ['.replyTo: additional'] },
  'get-message-exp-id': { why: REPLY_TO, lines: ['.replyTo: additional'] },
  'bulk-put-move-missing-target': TARGET,
  'move-to-bobs-mailbox': TARGET,
  'put-message-flags': FLAGS,
  'put-seen-true-flagged-false': FLAGS,
  'put-message-nochange': {
    why: 'WildDuck responds 500 to an empty change; here it is a 400',
    lines: ['status 500 expected, received 400'],
  },
  'submit-draft-no-recipients': {
    why: 'WildDuck reports success without sending; here it is a 422',
    lines: [
      'status 200 expected, received 422',
      '.success: missing',
      '.error: additional',
      '.code: additional',
    ],
  },
  'to partially typed': {
    why: 'WildDuck drops invalid recipients; here they are a 422 that names them',
    lines: [
      'status 200 expected, received 422',
      '.success: missing',
      '.message: missing',
      '.error: additional',
      '.code: additional',
      '.details: additional',
    ],
  },
  'attachment empty content': {
    why: 'WildDuck refuses empty files; here they are attached',
    lines: [
      'status 400 expected, received 200',
      '.error: missing',
      '.code: missing',
      '.details: missing',
      '.success: additional',
      '.message: additional',
    ],
  },
  'attachment non-base64 content': {
    why: 'WildDuck stores what is left of the content; here it is a 400',
    lines: [
      'status 200 expected, received 400',
      '.success: missing',
      '.message: missing',
      '.error: additional',
      '.code: additional',
      '.details: additional',
    ],
  },
  'get-draft-reply': {
    why: `${REPLY_TO}; ${HASH}; ${PICTURES}`,
    lines: [
      '.to[].address: "carol@example.org" expected, received "carol.r@example.org"',
      '.to[].name: "Carol" expected, received "Carol R"',
      '.attachments: 1 items expected, received 2',
      '.attachments[].fileContentHash: additional',
    ],
  },
  'sent-list': {
    why: `${REPLY_TO}; ${HASH}; ${PICTURES}`,
    lines: [
      '.results[].to[].address: "carol@example.org" expected, received "carol.r@example.org"',
      '.results[].to[].name: "Carol" expected, received "Carol R"',
      '.results[].attachmentsList: 1 items expected, received 2',
      '.results[].attachmentsList[].fileContentHash: additional',
    ],
  },
};

/** Members of the contract that WildDuck lacks: counters and cursors of the mailbox list, new mailboxes, and others. */
const ADDITIONS =
  /^(?:\.results\[\])?\.(?:unseen|headers)|^\.(?:total|nextCursor|previousCursor|path|name|modifyIndex|subscribed|hidden|encryptMessages|retention)|\.decodedSize$/;

const ALICE = '6b0108e57d46ea6fe43d660e';
const BOB = '6b0108e57d46ea6fe43d6617';
const BOXES: Record<string, string> = {
  INBOX: '6b0108e57d46ea6fe43d660f',
  'Sent Mail': '6b0108e57d46ea6fe43d6610',
  Trash: '6b0108e57d46ea6fe43d6611',
  Drafts: '6b0108e57d46ea6fe43d6612',
  Junk: '6b0108e57d46ea6fe43d6613',
};
const BOBS: Record<string, string> = {
  INBOX: '6b0108e57d46ea6fe43d6618',
  'Sent Mail': '6b0108e57d46ea6fe43d6619',
  Drafts: '6b0108e57d46ea6fe43d661b',
};

let mail: TestMailService;
let alice: MailClient;
let bob: MailClient;
let inbox: string;
let drafts: string;
/** Our values by captured value. The first one is a `sendTime`, which lay in the future. */
const known = new Map([['2027-01-01T10:00:00Z', new Date(Date.now() + 86_400_000).toISOString()]]);

const learn = (captured: string, actual: string): void => {
  if (captured.length >= 20 && !known.has(captured)) known.set(captured, actual);
};

const ours = (text: string): string => {
  for (const [captured, actual] of known) text = text.replaceAll(captured, actual);
  return text;
};

const TO_ALICE = [{ address: 'alice@example.com' }];
const EVIL = {
  from: { address: 'a@example.org' },
  to: TO_ALICE,
  subject: 'evil',
  text: 't',
  html: '<script>alert(1)</script><img src=x onerror=alert(1)><p>hi</p>',
  attachments: [
    {
      filename: 'x".html\r\nX-Inj: 1',
      contentType: 'text/html',
      content: Buffer.from('<script>1</script>').toString('base64'),
    },
  ],
};

const logIn = async (name: string): Promise<MailClient> => {
  const { body } = await mail.root.post('/authenticate', {
    username: name,
    password: `Pa55-${name}-word`,
    token: true,
  });
  return new MailClient(mail.url, body.token, body.id);
};

/** Requests that preceded a capture and were not recorded. */
const BEFORE: Record<string, () => Promise<unknown>> = {
  'create-user-duplicate': async () => {
    alice = await logIn('alice');
    bob = await logIn('bob');
    for (const [user, id, boxes] of [[alice, ALICE, BOXES] as const, [bob, BOB, BOBS] as const]) {
      known.set(id, user.id);
      const own = await mailboxesOf(user);
      for (const [path, captured] of Object.entries(boxes)) known.set(captured, own[path]!);
    }
    inbox = known.get(BOXES['INBOX']!)!;
    drafts = known.get(BOXES['Drafts']!)!;
  },
  'get-evil-message': async () => {
    const path = `/users/me/mailboxes/${inbox}/messages`;
    const big = { filename: 'big.bin', content: Buffer.alloc(12_288 * 1024).toString('base64') };
    const from = { address: 'a@example.org' };
    await post(alice, path, { from, to: TO_ALICE, subject: 'big', text: 't', attachments: [big] });
    await post(alice, path, EVIL);
  },
  'bob-token-after-password-change': () =>
    mail.root.put(`/users/${bob.id}`, { password: 'another-Pa55-word' }),
  'auth-user-token-on-authenticate': async () => {
    alice = await logIn('alice');
  },
  'upload-empty-body': async () => {
    for (let n = 0; n < 25; n += 1) {
      const from = { address: `s${n}@example.org` };
      const body = { from, to: TO_ALICE, subject: `bulk ${n}`, text: `body ${n}`, unseen: n % 2 === 0 };
      await post(alice, `/users/me/mailboxes/${inbox}/messages`, body);
    }
  },
  'submit-draft-no-recipients': () =>
    post(alice, `/users/me/mailboxes/${drafts}/messages`, { draft: true, subject: 'nobody', text: 't' }),
  'spoof-draft-from-overridden': () =>
    post(alice, `/users/me/mailboxes/${drafts}/messages`, {
      draft: true,
      from: { name: 'CEO', address: 'ceo@bigcorp.example' },
      to: [{ address: 'victim@example.net' }],
      subject: 'spoof3',
      text: 'x',
    }),
};

async function post(client: MailClient, path: string, body: unknown): Promise<void> {
  const { status, body: response } = await client.request('POST', path, body);
  if (status !== 200) throw new Error(JSON.stringify(response));
}

function caller(capture: Capture): MailClient {
  if (capture.label.startsWith('bob-')) return bob;
  const byService = capture.label === 'password-false-user';
  return byService || capture.request.headers?.['X-Access-Token'] === '<root>' ? mail.root : alice;
}

async function replay(capture: Capture, client = caller(capture), numbered = true): Promise<string[]> {
  const { method, path, body, headers = {} } = capture.request;
  const sent = typeof body === 'string' ? ours(body) : body && JSON.parse(ours(JSON.stringify(body)));
  const type = Object.entries(headers).filter(([name]) => /^content-/i.test(name));
  const response = await client.request(method, ours(path), sent, Object.fromEntries(type));
  const lines = differences(capture.json, response.body, learn, numbered);
  if (response.status !== capture.status)
    lines.unshift(`status ${capture.status} expected, received ${response.status}`);
  const theirs = capture.contentType;
  if (theirs !== (response.headers['content-type'] ?? '') && !capture.label.startsWith('get-attachment'))
    lines.push(`content type ${theirs} expected, received ${response.headers['content-type']}`);
  const deviation = DEVIATIONS[capture.label]?.lines ?? [];
  return lines.filter((line) => {
    const [member = '', difference] = line.split(': ');
    return !deviation.includes(line) && !(difference === 'additional' && ADDITIONS.test(member));
  });
}

beforeAll(async () => {
  mail = await TestMailService.start();
});
afterAll(() => mail?.stop());

describe('a captured conversation with a real WildDuck', () => {
  const rows = [...captures('routes'), ...captures('extras').filter(({ request }) => request.method !== '')];

  test.each(rows.filter(({ label }) => !(label in OUT_OF_SCOPE)).map((row) => [row.label, row] as const))(
    '%s',
    async (_, capture) => {
      await BEFORE[capture.label]?.();
      expect(await replay(capture)).toEqual([]);
    },
  );
});

describe('captured edge cases of a real WildDuck', () => {
  const rows = captures('edge-cases').filter(({ label }) => !(label in OUT_OF_SCOPE));
  let erin: MailClient;

  /** A user with the mailbox that alice had then: 28 messages, the last with id 32. */
  beforeAll(async () => {
    erin = await mail.person('erin');
    const boxes = await mailboxesOf(erin);
    known.clear();
    for (const [path, captured] of Object.entries(BOXES)) known.set(captured, boxes[path]!);
    const path = `/users/me/mailboxes/${boxes['INBOX']}/messages`;
    for (let n = 1; n < 32; n += 1) await post(erin, path, { subject: `m${n}`, text: 't' });
    await post(erin, path, EVIL);
    for (const gone of [6, 7, 9, 10]) await erin.delete(`${path}/${gone}`);
    for (let n = 0; n < 3; n += 1)
      await post(erin, `/users/me/mailboxes/${boxes['Drafts']}/messages`, { draft: true, text: 't' });
  });

  test.each(rows.map((row) => [row.label, row] as const))('%s', async (_, capture) => {
    expect(await replay(capture, erin, false)).toEqual([]);
  });

  test.each([
    ['html', '"html" length must be less than or equal to 1048576 characters long', 1_048_577],
    ['subject', '"subject" length must be less than or equal to 2048 characters long', 2_049],
  ])('%s that is too long', async (field, error, length) => {
    const path = `/users/me/mailboxes/${known.get(BOXES['Drafts']!)}/messages`;
    const response = await erin.post(path, { draft: true, [field]: 'x'.repeat(length) });
    expect([response.status, response.body]).toEqual([
      400,
      { error, code: 'InputValidationError', details: { [field]: error } },
    ]);
  });

  test('too many invalid passwords', async () => {
    const attempt = () =>
      mail.root.post('/authenticate', { username: 'alice', password: 'wrong', token: true });
    const responses = [];
    for (let n = 0; n < 13; n += 1) responses.push((await attempt()).body);
    expect(responses[11]).toEqual({
      error: 'Authentication failed',
      code: 'AuthFailed',
      id: expect.any(String),
    });
    expect(responses[12]).toEqual({ error: 'Authentication was rate limited', code: 'RateLimitedError' });
  });

  test('every listed exception and deviation exists', () => {
    const labels = (['routes', 'extras', 'edge-cases'] as const).flatMap((file) =>
      captures(file).map(({ label }) => label),
    );
    expect(labels).toEqual(
      expect.arrayContaining([...Object.keys(OUT_OF_SCOPE), ...Object.keys(DEVIATIONS)]),
    );
  });
});
