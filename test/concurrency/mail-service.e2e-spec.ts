import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { SmtpReceiver } from '../../src/mail-service/smtp/smtp-receiver.js';
import { RawMessages } from '../../src/mail-service/storage/raw-messages.js';
import { Db } from '../../src/platform/database/db.js';
import { emptyDatabase } from '../support/database/database.ts';
import { countDeadlocks } from '../support/database/deadlocks.ts';
import { MailClient, mailboxesOf, TestMailService } from '../support/mail/mail-service.ts';
import { freePort } from '../support/network/ports.ts';
import { OtherServer, sendBySmtp } from '../support/mail/smtp.ts';
import { until } from '../support/until.ts';
import { childEnv } from '../support/installation/child-env.ts';

const times = <T>(n: number, work: (n: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: n }, (_, each) => work(each)));

const box = (id: string | undefined): string => `/users/me/mailboxes/${id}`;
const letter = (subject: string): string => `From: a@far.example\r\nSubject: ${subject}\r\n\r\ntext\r\n`;

/** The counters of all mailboxes beside a recount. */
const COUNTED = `
  SELECT b.path, b.total::int, b.unseen::int, b.size::int, count(m.*)::int AS real_total,
    (count(m.*) FILTER (WHERE NOT m.seen))::int AS real_unseen, coalesce(sum(m.size), 0)::int AS real_size
  FROM mailboxes b LEFT JOIN messages m ON m.user_id = b.user_id AND m.mailbox_id = b.id
  GROUP BY b.user_id, b.id, b.path, b.total, b.unseen, b.size`;
const STORED = `
  SELECT u.storage_used::int AS used, coalesce(sum(m.size), 0)::int AS real FROM users u
  LEFT JOIN messages m ON m.user_id = u.id GROUP BY u.id`;

async function expectCounted(query: (sql: string) => Promise<any[]>): Promise<void> {
  for (const row of await query(COUNTED))
    expect([row.path, row.total, row.unseen, row.size]).toEqual([
      row.path,
      row.real_total,
      row.real_unseen,
      row.real_size,
    ]);
  for (const { used, real } of await query(STORED)) expect(used).toBe(real);
}

describe('concurrency', () => {
  let mail: TestMailService;
  let alice: MailClient;
  let boxes: Record<string, string>;
  let port: number;
  let deadlocks: () => number;

  beforeAll(async () => {
    mail = await TestMailService.start();
    deadlocks = countDeadlocks(mail.get(Db));
    port = await mail.get(SmtpReceiver).listen(0);
  });
  beforeEach(async () => {
    alice = await mail.person(`alice${Math.random().toString(36).slice(2, 8)}`);
    boxes = await mailboxesOf(alice);
  });
  afterEach(() => expectCounted((sql) => mail.sql(sql)));
  afterAll(() => mail?.stop());

  const uids = async (mailbox: string | undefined): Promise<number[]> => {
    const { body } = await alice.get(`${box(mailbox)}/messages?limit=250&order=asc`);
    return body.results.map(({ id }: { id: number }) => id);
  };
  const fill = (n: number) =>
    times(n, (each) => alice.post(`${box(boxes['INBOX'])}/messages`, { subject: `m${each}`, unseen: true }));

  test('20 deliveries by SMTP and 20 uploads get consecutive ids in the order of arrival', async () => {
    const [{ address }] = await mail.sql('SELECT address FROM users WHERE id = $1', [alice.id]);
    await Promise.all([
      times(20, (n) => sendBySmtp(port, { from: 'a@far.example', to: [address] }, letter(`s${n}`))),
      fill(20),
    ]);
    expect(await uids(boxes['INBOX'])).toEqual(Array.from({ length: 40 }, (_, n) => n + 1));
  });

  test('concurrent changes of different flags are all kept', async () => {
    await fill(1);
    const message = `${box(boxes['INBOX'])}/messages/1`;
    const responses = await times(30, (n) =>
      alice.put(message, [{ seen: true }, { flagged: true }, { deleted: true }][n % 3]),
    );
    expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 200));
    expect((await alice.get(message)).body).toMatchObject({ seen: true, flagged: true, deleted: true });
    expect((await alice.get(box(boxes['INBOX']))).body).toMatchObject({
      total: 1,
      unseen: 0,
      modifyIndex: 31,
    });
  });

  test('of many moves of one message, exactly one succeeds', async () => {
    await fill(3);
    const targets = ['Trash', 'Junk', 'Drafts', 'Sent Mail'];
    const responses = await times(20, (n) =>
      alice.put(`${box(boxes['INBOX'])}/messages`, { message: '2', moveTo: boxes[targets[n % 4]!] }),
    );
    const won = responses.filter(({ status }) => status === 200);
    expect(won).toHaveLength(1);
    expect(won[0]!.body.id).toEqual([[2, 1]]);
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200, 404]));
    expect(await uids(boxes['INBOX'])).toEqual([1, 3]);
  });

  test('moves in both directions between two mailboxes do not deadlock and lose nothing', async () => {
    await fill(20);
    const moveAll = (from: string, to: string) =>
      alice.put(`${box(boxes[from])}/messages`, { message: '1:*', moveTo: boxes[to] });
    const responses = await times(24, (n) => (n % 2 ? moveAll('INBOX', 'Trash') : moveAll('Trash', 'INBOX')));
    for (const { status } of responses) expect([200, 404]).toContain(status);
    const left = [...(await uids(boxes['INBOX'])), ...(await uids(boxes['Trash']))];
    expect(left).toHaveLength(20);
    expect(deadlocks()).toBe(0);
  });

  test('a draft that is submitted concurrently is sent once', async () => {
    const [{ address }] = await mail.sql('SELECT address FROM users WHERE id = $1', [alice.id]);
    const drafts = `${box(boxes['Drafts'])}/messages`;
    await alice.post(drafts, { draft: true, to: [{ address }], subject: 'once' });
    const responses = await times(10, () => alice.post(`${drafts}/1/submit`, {}));
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(1);
    await until('the message', async () => (await uids(boxes['INBOX'])).length > 0);
    await until('the empty queue', async () => (await mail.sql('SELECT FROM queue')).length === 0);
    expect(await uids(boxes['INBOX'])).toEqual([1]);
  });

  test('concurrent deletes, reads, flags and moves keep the counters correct', async () => {
    await fill(10);
    const messages = `${box(boxes['INBOX'])}/messages`;
    await times(40, (n) => {
      const uid = (n % 10) + 1;
      if (n % 4 === 0) return alice.delete(`${messages}/${uid}`);
      if (n % 4 === 1) return alice.put(messages, { message: `${uid}:*`, seen: n % 8 > 3 });
      if (n % 4 === 2) return alice.put(messages, { message: String(uid), moveTo: boxes['Trash'] });
      return alice.get(`${messages}/${uid}?markAsSeen=true`);
    });
  });

  test('concurrent deletion of all copies of a message deletes its blob', async () => {
    const [{ address }] = await mail.sql('SELECT address FROM users WHERE id = $1', [alice.id]);
    const other = await mail.person(`other${Math.random().toString(36).slice(2, 8)}`);
    const [{ address: second }] = await mail.sql('SELECT address FROM users WHERE id = $1', [other.id]);
    for (let n = 1; n <= 5; n += 1)
      await sendBySmtp(port, { from: 'a@far.example', to: [address, second] }, letter(`copy ${n}`));
    const raws = (await mail.sql('SELECT DISTINCT raw_id FROM messages WHERE user_id = $1', [other.id])).map(
      ({ raw_id: raw }) => raw as string,
    );
    expect(raws).toHaveLength(5);
    const others = await mailboxesOf(other);
    const due = `UPDATE raws SET collect_after = now() - interval '1 second' WHERE collect_after IS NOT NULL`;
    // The other copy keeps the blob.
    await alice.delete(`${box(boxes['INBOX'])}/messages/1`);
    await mail.sql(due);
    await mail.get(RawMessages).collect();
    expect((await other.get(`${box(others['INBOX'])}/messages/1/message.eml`)).status).toBe(200);
    await times(10, (n) =>
      n % 2
        ? alice.delete(`${box(boxes['INBOX'])}/messages/${Math.ceil(n / 2)}`)
        : other.delete(`${box(others['INBOX'])}/messages/${n / 2 + 1}`),
    );
    await mail.sql(due);
    await mail.get(RawMessages).collect();
    expect(await mail.sql('SELECT id FROM raws WHERE id = ANY ($1)', [raws])).toEqual([]);
    await expect(mail.get(RawMessages).open(raws[0]!)).rejects.toThrow(/has no/);
  });

  test('random concurrent operations keep ids unique and counters correct', async () => {
    const [{ address }] = await mail.sql('SELECT address FROM users WHERE id = $1', [alice.id]);
    const names = ['INBOX', 'Drafts', 'Trash', 'Sent Mail'];
    /** The ids that each mailbox has assigned. */
    const given = new Map(names.map((name) => [boxes[name]!, [] as number[]]));
    const gave = (mailbox: string, ...ids: number[]) => given.get(mailbox)!.push(...ids);
    let seed = 20_261_121;
    const random = (below: number): number => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
      return Math.floor((seed / 2 ** 31) * below);
    };
    const anyBox = (): string => boxes[names[random(names.length)]!]!;
    const step = async (n: number): Promise<number> => {
      const [from, to, uid] = [anyBox(), anyBox(), String(random(25) + 1)];
      const messages = `${box(from)}/messages`;
      const works = [
        async () => {
          const replacePrevious = { mailbox: from, id: Number(uid) };
          const response = await alice.post(messages, {
            draft: true,
            to: [{ address }],
            subject: `r${n}`,
            unseen: random(2) === 0,
            ...(random(2) === 0 && { replacePrevious }),
          });
          gave(from, response.body.message.id);
          return response.status;
        },
        async () => {
          const response = await alice.put(messages, {
            message: `${uid}:*`,
            moveTo: to,
            seen: random(2) === 0,
          });
          if (response.status === 200) gave(to, ...response.body.id.map(([, id]: [number, number]) => id));
          return response.status;
        },
        async () =>
          (await alice.put(messages, { message: `${uid},${random(25) + 1}`, seen: random(2) === 0 })).status,
        async () => (await alice.delete(`${messages}/${uid}`)).status,
        async () => {
          const response = await alice.post(`${messages}/${uid}/submit`, {});
          if (response.body.message) gave(response.body.message.mailbox, response.body.message.id);
          return response.status;
        },
        async () => {
          await sendBySmtp(port, { from: 'a@far.example', to: [address] }, letter(`s${n}`));
          return 200;
        },
      ];
      return works[random(works.length)]!();
    };
    for (let turn = 0; turn < 12; turn += 1)
      for (const status of await times(25, (n) => step(turn * 25 + n)))
        expect([200, 400, 403, 404]).toContain(status);
    await until('the empty queue', async () => (await mail.sql('SELECT FROM queue')).length === 0);
    expect(deadlocks()).toBe(0);
    for (const [mailbox, ids] of given) {
      expect(new Set(ids).size).toBe(ids.length);
      const left = await uids(mailbox);
      const { body } = await alice.get(box(mailbox));
      expect(Math.max(0, ...ids, ...left)).toBeLessThan(body.uidNext ?? Infinity);
      expect(left.length).toBe(body.total);
    }
  });

  test('a draft that is saved and sent concurrently is sent once, and no version is lost', async () => {
    const [{ address }] = await mail.sql('SELECT address FROM users WHERE id = $1', [alice.id]);
    const drafts = `${box(boxes['Drafts'])}/messages`;
    const fields = { draft: true, to: [{ address }] };
    for (let round = 0; round < 5; round += 1) {
      const { body: first } = await alice.post(drafts, { ...fields, subject: `r${round}` });
      const { id } = first.message;
      const responses = await times(8, (n) =>
        n % 2
          ? alice.post(`${drafts}/${id}/submit`, {})
          : alice.post(drafts, { ...fields, subject: `r${round}-${n}`, replacePrevious: { id } }),
      );
      const sent = responses.filter(({ body }) => body.queueId).length;
      const replaced = responses.filter(({ body }) => body.previousDeleted).length;
      expect([round, sent + replaced]).toEqual([round, 1]);
      expect(responses.filter((_, n) => n % 2 === 0).map(({ status }) => status)).toEqual([
        200, 200, 200, 200,
      ]);
      await until('the empty queue', async () => (await mail.sql('SELECT FROM queue')).length === 0);
      const { body: list } = await alice.get(`${box(boxes['INBOX'])}/messages?limit=250`);
      const came = list.results.filter(({ subject }: { subject: string }) => subject === `r${round}`);
      expect(came).toHaveLength(sent);
    }
    expect(await uids(boxes['Drafts'])).toHaveLength(20);
  });

  test('one of several concurrent accounts with one name is created', async () => {
    const account = { username: 'same', password: 'Pa55-same-word', address: 'same@example.com' };
    const responses = await times(10, () => mail.root.post('/users', account));
    expect(responses.filter(({ body }) => body.success)).toHaveLength(1);
    expect(responses.filter(({ body }) => body.code === 'UserExistsError')).toHaveLength(9);
  });
});

describe('a quota', () => {
  let mail: TestMailService;

  beforeAll(async () => {
    mail = await TestMailService.start({ MAIL_QUOTA_MB: '1' });
  });
  afterAll(() => mail?.stop());

  test('holds against concurrent uploads, SMTP and local deliveries', async () => {
    const port = await mail.get(SmtpReceiver).listen(0);
    const [alice, bob] = [await mail.person('alice'), await mail.person('bob')];
    const [boxes, bobs] = [await mailboxesOf(alice), await mailboxesOf(bob)];
    const text = 'x'.repeat(99_000);
    const drafts = `${box(bobs['Drafts'])}/messages`;
    const outcomes = await times(30, async (n) => {
      if (n % 3 === 0)
        return (
          (await alice.post(`${box(boxes['INBOX'])}/messages`, { subject: `u${n}`, text })).status === 200
        );
      if (n % 3 === 1) {
        const envelope = { from: 'a@far.example', to: ['alice@example.com'] };
        return sendBySmtp(port, envelope, `Subject: s${n}\r\n\r\n${text}`).then(
          () => true,
          (error: Error) => (expect(error.message).toMatch(/452/), false),
        );
      }
      const { body } = await bob.post(drafts, {
        draft: true,
        to: [{ address: 'alice@example.com' }],
        text: 'x',
      });
      return (await bob.post(`${drafts}/${body.message.id}/submit`, {})).status === 200;
    });
    await until('the empty queue', async () => (await mail.sql('SELECT FROM queue')).length === 0);
    const [{ used }] = await mail.sql('SELECT storage_used::int AS used FROM users WHERE id = $1', [
      alice.id,
    ]);
    expect(used).toBeLessThanOrEqual(1024 * 1024);
    const large = outcomes.filter((done, n) => done && n % 3 !== 2).length;
    expect([9, 10]).toContain(large);
    await expectCounted((sql) => mail.sql(sql));
    // A message of the colleague has either arrived or bounced.
    const [{ came }] = await mail.sql(
      `SELECT count(*)::int AS came FROM messages m JOIN mailboxes b ON b.user_id = m.user_id AND b.id = m.mailbox_id
       WHERE b.special_use = '\\Inbox' AND (m.summary->'envelope'->>'from' = 'bob@example.com' OR m.user_id = $1)`,
      [bob.id],
    );
    expect(came).toBe(10);
  });
});

describe('a process that is killed', () => {
  const MAIN = path.resolve(import.meta.dirname, '..', '..', 'dist', 'mail-service', 'main.js');
  const TOKEN = 'a'.repeat(64);
  const children = new Set<ChildProcess>();
  let database: Awaited<ReturnType<typeof emptyDatabase>>;
  let dataDir: string;

  beforeAll(async () => {
    database = await emptyDatabase();
    dataDir = mkdtempSync(path.join(tmpdir(), 'mail-service-killed-'));
  });
  afterAll(async () => {
    for (const child of children) child.kill('SIGKILL');
    await database.drop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  async function start(
    smtpPort: number,
    settings: Record<string, string> = {},
  ): Promise<{ child: ChildProcess; url: string }> {
    const child = fork(MAIN, {
      env: {
        ...childEnv(),
        DATA_DIR: dataDir,
        LOG_LEVEL: 'silent',
        MAIL_SMTP_PORT: String(smtpPort),
        ...settings,
      },
      execArgv: [],
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    children.add(child);
    child.send({ start: { databaseUrl: database.url, token: TOKEN, port: 0 } });
    const [event] = (await once(child, 'message')) as [{ port?: number; failure?: string }];
    if (event.port === undefined) throw new Error(event.failure);
    return { child, url: `http://127.0.0.1:${event.port}` };
  }

  const sql = async (text: string): Promise<any[]> => {
    const client = new pg.Client({ connectionString: database.url, options: '-c search_path=mail_service' });
    await client.connect();
    try {
      return (await client.query(text)).rows;
    } finally {
      await client.end();
    }
  };

  test('loses no acknowledged message and delivers each once', async () => {
    const smtpPort = await freePort();
    const first = await start(smtpPort);
    const root = new MailClient(first.url, TOKEN);
    const account = { username: 'alice', password: 'Pa55-alice-word', address: 'alice@example.com' };
    await root.post('/users', account);
    const { body: login } = await root.post('/authenticate', { ...pick(account), token: true });
    const alice = new MailClient(first.url, login.token, login.id);
    const boxes = await mailboxesOf(alice);
    const acknowledged = new Set<string>();
    const uploaded = new Set<string>();
    const drafts = `${box(boxes['Drafts'])}/messages`;

    const worker = async (n: number): Promise<void> => {
      for (let turn = 0; ; turn += 1) {
        const subject = `w${n}-${turn}`;
        if (n % 2 === 0)
          await sendBySmtp(smtpPort, { from: 'a@far.example', to: ['alice@example.com'] }, letter(subject));
        else {
          const { body } = await alice.post(drafts, {
            draft: true,
            to: [{ address: 'alice@example.com' }],
            subject,
          });
          uploaded.add(subject);
          const response = await alice.post(`${drafts}/${body.message.id}/submit`, {});
          if (response.status !== 200) throw new Error(JSON.stringify(response.body));
          uploaded.delete(subject);
        }
        acknowledged.add(subject);
        if (acknowledged.size === 25) first.child.kill('SIGKILL');
      }
    };
    await Promise.all(Array.from({ length: 6 }, (_, n) => worker(n).catch(() => undefined)));
    expect(acknowledged.size).toBeGreaterThanOrEqual(25);
    const second = await start(smtpPort);
    const again = new MailClient(second.url, login.token, login.id);
    await until('the empty queue', async () => (await sql('SELECT FROM queue')).length === 0);
    const { body: list } = await again.get(`${box(boxes['INBOX'])}/messages?limit=250&order=asc`);
    const subjects: string[] = list.results.map(({ subject }: { subject: string }) => subject);
    expect(subjects.length).toBe(new Set(subjects).size);
    expect([...acknowledged].filter((subject) => !subjects.includes(subject))).toEqual([]);
    expect(list.results.map(({ id }: { id: number }) => id)).toEqual(subjects.map((_, n) => n + 1));
    for (const { id } of list.results) {
      const source = await again.get(`${box(boxes['INBOX'])}/messages/${id}/message.eml`);
      expect(source.status).toBe(200);
    }
    // Unsubmitted drafts remain.
    for (const subject of uploaded) {
      const { body } = await again.get(`${box(boxes['Drafts'])}/messages?limit=250`);
      const drafted = body.results.some((row: { subject: string }) => row.subject === subject);
      expect([subject, drafted || subjects.includes(subject)]).toEqual([subject, true]);
    }
    await expectCounted(sql);
    second.child.kill('SIGTERM');
    const [code] = await once(second.child, 'exit');
    expect(code).toBe(0);
  });

  test('leaves its claimed entries to the next process at once', async () => {
    const relay = await OtherServer.start();
    relay.hangs = true;
    try {
      const settings = { SMTP_URL: relay.url };
      const first = await start(0, settings);
      const root = new MailClient(first.url, TOKEN);
      const account = { username: 'carol', password: 'Pa55-carol-word', address: 'carol@example.com' };
      await root.post('/users', account);
      const { body: login } = await root.post('/authenticate', { ...pick(account), token: true });
      const carol = new MailClient(first.url, login.token, login.id);
      const drafts = `${box((await mailboxesOf(carol))['Drafts'])}/messages`;
      const to = [{ address: 'x@far.example' }];
      const { body: draft } = await carol.post(drafts, { draft: true, to, subject: 'claimed' });
      await carol.post(`${drafts}/${draft.message.id}/submit`, {});
      await until('the claim', () => relay.hanging === 1);
      first.child.kill('SIGKILL');
      await once(first.child, 'exit');
      relay.resume();
      const second = await start(0, settings);
      // The lease of the first process lasts longer than this test may take.
      await until('the delivery', () => relay.received.some(({ raw }) => raw.includes('Subject: claimed')));
      second.child.kill('SIGTERM');
      await once(second.child, 'exit');
    } finally {
      await relay.stop();
    }
  });
});

const pick = ({ username, password }: { username: string; password: string }) => ({ username, password });
