import { connect, type Socket } from 'node:net';
import {
  MAX_PER_USER,
  MAX_TOTAL,
  MAX_WAITING_PER_USER,
} from '../../src/modules/mail/upstream/request-limits.js';
import { type TestUser, TestApp } from '../support/app.ts';
import { until } from '../support/until.ts';
import { WildDuck } from '../support/mail/wild-duck.ts';

const BOXES = '/mail/users/me/mailboxes';

describe('mail, at the same time', () => {
  let duck: WildDuck;
  let apps: [TestApp, TestApp];
  let users: TestUser[];

  beforeAll(async () => {
    duck = await WildDuck.start();
    const first = await TestApp.start(duck.settings);
    apps = [first, await TestApp.start(duck.settings, first.databaseUrl)];
    users = await first.tenant('acme', ...Array.from({ length: 24 }, (_, n) => `p${n}`));
  });
  beforeEach(() => duck.clear());
  afterAll(async () => {
    for (const app of apps?.toReversed() ?? []) await app.stop();
    await duck?.stop();
  });

  const count = (url: string) => duck.requests.filter((request) => request.url === url).length;
  /** Sends a request several times to two processes concurrently. */
  const sendTimes = ({ token }: TestUser, times: number) =>
    Promise.all(Array.from({ length: times }, (_, n) => apps[n % 2]!.as(token).get(BOXES)));

  test('first use creates one account and one token in all processes', async () => {
    const responses = await sendTimes(users[0]!, 24);
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
    expect([count('/users'), count('/authenticate')]).toEqual([1, 1]);
    expect(new Set(duck.mail.map(({ headers }) => headers['x-access-token'])).size).toBe(1);
  });

  test('an expired token is renewed once for all concurrent requests', async () => {
    const [user] = users as [TestUser];
    await sendTimes(user, 4);
    for (let round = 0; round < 3; round += 1) {
      duck.clear();
      duck.killTokens();
      const responses = await sendTimes(user, 24);
      expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
      expect([count('/users'), count('/authenticate')]).toEqual([0, 1]);
    }
  });

  test('the lease of a crashed process expires', async () => {
    const user = users[1]!;
    await sendTimes(user, 1);
    await apps[0].sql(
      `UPDATE mail_accounts SET lease_id = gen_random_uuid(), lease_until = now() + interval '1 second' WHERE user_id = $1`,
      [user.id],
    );
    duck.killTokens();
    const responses = await sendTimes(user, 6);
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
    expect(count('/authenticate')).toBe(2);
  });

  /** The mail service does not respond until `release` is called. */
  function hold(): { waitingCount: () => number; release: () => void } {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    let waitingCount = 0;
    duck.script = async ({ url }) => {
      if (!url.startsWith('/users/me/')) return undefined;
      waitingCount += 1;
      return promise;
    };
    return { waitingCount: () => waitingCount, release: () => resolve(undefined) };
  }

  test('fifty hanging mail requests do not block notes, nor the mail of other users', async () => {
    const [app] = apps;
    const [busy, ...others] = users as [TestUser, ...TestUser[]];
    for (const { token } of users) await app.as(token).get(BOXES);
    const { waitingCount, release } = hold();
    const crowd = others.slice(0, 17);
    const waiting = crowd.flatMap(({ token }) => Array.from({ length: 2 }, () => app.as(token).get(BOXES)));
    const own = Array.from({ length: MAX_PER_USER + MAX_WAITING_PER_USER }, () =>
      app.as(busy.token).get(BOXES),
    );
    await until('all requests to wait', () => waitingCount() === 34 + MAX_PER_USER);

    const notes = await Promise.all(users.map(({ token }) => app.as(token).post('/notes', { title: 'x' })));
    expect(new Set(notes.map(({ status }) => status))).toEqual(new Set([201]));
    const tooMany = await app.as(busy.token).get(BOXES);
    expect([tooMany.status, tooMany.body.error, tooMany.headers.get('retry-after')]).toEqual([
      429,
      'too_many_mail_requests',
      '1',
    ]);
    expect((await app.as(busy.token).get('/notes')).status).toBe(200);

    release();
    for (const { status } of await Promise.all([...waiting, ...own])) expect(status).toBe(200);
    duck.script = undefined;
    expect((await app.as(busy.token).get(BOXES)).status).toBe(200);
  });

  test('limits the mail requests of a process', async () => {
    const [app] = apps;
    for (const { token } of users) await app.as(token).get(BOXES);
    const { waitingCount, release } = hold();
    const waiting = Array.from({ length: MAX_TOTAL }, (_, n) =>
      app.as(users[n % users.length]!.token).get(BOXES),
    );
    await until('all requests to wait', () => waitingCount() === MAX_TOTAL);
    const beyond = await app.as(users[0]!.token).get(BOXES);
    expect([beyond.status, beyond.body.error, beyond.headers.get('retry-after')]).toEqual([
      503,
      'mail_service_busy',
      '1',
    ]);
    expect((await app.as(users[0]!.token).get('/notes')).status).toBe(200);
    release();
    for (const { status } of await Promise.all(waiting)) expect(status).toBe(200);
  });

  test('a disconnect frees its place in the limit', async () => {
    const [app] = apps;
    const user = users[2]!;
    await app.as(user.token).get(BOXES);
    const { waitingCount, release } = hold();
    const leave = new AbortController();
    const waiting = Array.from({ length: MAX_PER_USER + MAX_WAITING_PER_USER }, () =>
      fetch(`${app.base}/apis/v1${BOXES}`, {
        headers: { authorization: `Bearer ${user.token}` },
        signal: leave.signal,
      }).catch(() => undefined),
    );
    await until('all requests to wait', () => waitingCount() === MAX_PER_USER);
    expect((await app.as(user.token).get(BOXES)).status).toBe(429);
    leave.abort();
    await Promise.all(waiting);
    release();
    await until(
      'a free place in the limit',
      async () => (await app.as(user.token).get(BOXES)).status === 200,
    );
  });

  test('30 parallel image downloads of one user are served; slow downloads do not block the mailbox', async () => {
    const [app] = apps;
    const user = users[4]!;
    await app.as(user.token).get(BOXES);
    let running = 0;
    let most = 0;
    const { promise: held, resolve: release } = Promise.withResolvers<undefined>();
    duck.script = async ({ url }, response) => {
      if (!url.includes('/attachments/')) return undefined;
      running += 1;
      most = Math.max(most, running);
      await held;
      running -= 1;
      response.writeHead(200, { 'Content-Type': 'image/png' }).end('image');
      return true;
    };
    const path = `/mail/attachment?mailbox_id=${'a'.repeat(24)}&message_id=1&attachment_id=ATT00001&filename=x.png`;
    const download = async () => {
      const headers = { authorization: `Bearer ${user.token}` };
      const response = await fetch(`${app.base}/apis/v1${path}`, { headers });
      return [response.status, await response.text()];
    };
    const downloads = Array.from({ length: 30 }, download);
    await until('the first downloads', () => running === MAX_PER_USER);
    expect((await app.as(user.token).get(BOXES)).status).toBe(200);
    release(undefined);
    expect(await Promise.all(downloads)).toEqual(Array.from({ length: 30 }, () => [200, 'image']));
    expect(most).toBe(MAX_PER_USER);
    duck.script = undefined;
  });

  test('limits large messages to two per user and eight in total', async () => {
    const [app] = apps;
    duck.script = ({ url }) =>
      url.startsWith('/users/me/') ? { status: 200, json: { success: true } } : undefined;
    const box = `${BOXES}/${'a'.repeat(24)}/messages`;
    const { hostname, port } = new URL(app.base);
    const sockets: Socket[] = [];
    /** Announces 30 MB. @returns a function for the response received so far */
    const announce = async ({ token }: TestUser): Promise<() => string> => {
      const socket = connect(Number(port), hostname);
      sockets.push(socket);
      let text = '';
      socket.on('data', (chunk) => (text += chunk.toString())).on('error', () => undefined);
      const head = `POST /apis/v1${box} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\n`;
      await new Promise<void>((resolve) =>
        socket.write(`${head}Content-Length: 30000000\r\n\r\n{"text":"`, () => resolve()),
      );
      return () => text;
    };
    const small = ({ token }: TestUser) => app.as(token).post(box, { text: 'small' });
    const [one, ...others] = users.slice(4) as [TestUser, ...TestUser[]];
    for (const user of [one, ...others]) await app.as(user.token).get(BOXES);
    // Accepted requests are counted: the next one is rejected.
    const first = [await announce(one), await announce(one)];
    await until('both to be counted', async () => /overloaded/.test(await settled(await announce(one))));
    expect((await small(one)).status).toBe(200);
    for (const user of others.slice(0, 3)) for (let n = 0; n < 2; n += 1) await announce(user);
    const beyond = others[4]!;
    await until('all messages to count', async () =>
      /overloaded/.test(await settled(await announce(beyond))),
    );
    expect((await small(beyond)).status).toBe(200);
    expect(first.map((answer) => answer())).toEqual(['', '']);
    for (const socket of sockets) socket.destroy();
    const large = { text: 'x'.repeat(9 * 1024 * 1024) };
    await until(
      'a free place in the limit',
      async () => (await app.as(one.token).post(box, large)).status === 200,
    );

    async function settled(answer: () => string): Promise<string> {
      await app.as(one.token).get('/notes?limit=1');
      return answer();
    }
  });

  test('concurrent messages to one recipient are all counted', async () => {
    const user = users[3]!;
    let id = 0;
    duck.script = ({ method, url }) =>
      method === 'POST' && url.startsWith('/users/me/')
        ? {
            status: 200,
            json: { success: true, message: { id: (id += 1), mailbox: 'a'.repeat(24), size: 1 } },
          }
        : undefined;
    const addresses = ['b@x.example', 'a@x.example', 'c@x.example'].map((address) => ({ address }));
    const responses = await Promise.all(
      Array.from({ length: 12 }, (_, n) =>
        apps[n % 2]!.as(user.token).post('/mail/draft', {
          mailbox: 'a'.repeat(24),
          to: n % 3 === 0 ? addresses.toReversed() : addresses,
        }),
      ),
    );
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
    expect(await apps[0].sql('SELECT uses FROM mail_recipients WHERE user_id = $1', [user.id])).toEqual([
      { uses: 12 },
      { uses: 12 },
      { uses: 12 },
    ]);
  });
});
