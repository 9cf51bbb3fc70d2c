import { connect, type Socket } from 'node:net';
import fc from 'fast-check';
import { mailTarget, REJECTED } from '../../../src/modules/mail/gate/mail-gate.js';
import { type TestUser, TestApp } from '../../support/app.ts';
import { rawExchange } from '../../support/network/raw.ts';
import { INBOX, WildDuck } from '../../support/mail/wild-duck.ts';
import { runs } from '../../support/property-runs.ts';

const BASE = '/apis/v1/mail';
const BOXES = `${BASE}/users/me/mailboxes`;
const METHODS = [
  'GET',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'HEAD',
  'OPTIONS',
  'TRACE',
  'PROPFIND',
  'MKCOL',
  'SEARCH',
  'PURGE',
];

/** The contract's table, independent of the implementation. */
const ALLOWED: [string, RegExp][] = [
  ['POST', /^\/draft$/],
  ['POST', /^\/draft\/submit$/],
  ['GET', /^\/attachment$/],
  ['GET', /^\/users\/me\/mailboxes$/],
  ['POST', /^\/users\/me\/mailboxes$/],
  ...['GET', 'PUT', 'DELETE'].map((method): [string, RegExp] => [
    method,
    /^\/users\/me\/mailboxes\/[0-9a-fA-F]{24}$/,
  ]),
  ...['GET', 'POST', 'PUT'].map((method): [string, RegExp] => [
    method,
    /^\/users\/me\/mailboxes\/[0-9a-fA-F]{24}\/messages$/,
  ]),
  ...['GET', 'PUT', 'DELETE'].map((method): [string, RegExp] => [
    method,
    /^\/users\/me\/mailboxes\/[0-9a-fA-F]{24}\/messages\/[1-9][0-9]*$/,
  ]),
  ['POST', /^\/users\/me\/mailboxes\/[0-9a-fA-F]{24}\/messages\/[1-9][0-9]*\/submit$/],
];

function isAllowed(method: string, target: string): boolean {
  const path = target.split('?', 1)[0]!;
  const number = /\/messages\/(\d+)/.exec(path)?.[1];
  if (number !== undefined && BigInt(number) > BigInt(Number.MAX_SAFE_INTEGER)) return false;
  return (
    path.startsWith(BASE) &&
    ALLOWED.some(([verb, shape]) => verb === method && shape.test(path.slice(BASE.length)))
  );
}

/** Spellings of a path character that some implementations treat alike. */
const disguise = (text: string, seed: number): string =>
  [...text]
    .map((letter, n) => {
      const code = letter.charCodeAt(0).toString(16).padStart(2, '0');
      switch ((seed * 31 + n * 17) % 23) {
        case 0:
          return `%${code}`;
        case 1:
          return `%25${code}`;
        case 2:
          return letter.toUpperCase();
        case 3:
          return letter === '/' ? '//' : letter;
        case 4:
          return letter === '/' ? '/./' : letter;
        case 5:
          return letter === '/' ? '/x/../' : letter;
        case 6:
          return letter === '/' ? '\\' : letter;
        case 7:
          return letter === '/' ? ';a=b/' : letter;
        case 8:
          return letter === '/' ? '%2f' : letter;
        case 9:
          return letter === '/' ? '%5C' : letter;
        default:
          return letter;
      }
    })
    .join('');

const tails = [
  '',
  '/',
  '?',
  '?x=1',
  '#',
  ';',
  ';jsessionid=1',
  '%00',
  '%20',
  '%0d%0a',
  '.',
  '/.',
  '/..',
  '/../',
  '.json',
  '%2f',
  '%252f',
  '\\',
  '*',
  '%',
  '%zz',
  '/messages',
  '/messages/',
  '/messages/1',
  '/messages/0',
  '/messages/01',
  '/messages/+1',
  '/messages/-1',
  '/messages/1.0',
  '/messages/1e0',
  '/messages/1,2',
  '/messages/1:*',
  '/messages/*',
  '/messages/%31',
  '/messages/1%20',
  '/messages/9007199254740991',
  '/messages/9007199254740992',
  '/messages/99999999999999999999',
  '/messages/١',
  '/messages/1/',
  '/messages/1/submit',
  '/messages/1/submit/',
  '/messages/1/attachments/ATT00001',
  '/messages/1/message.eml',
  '/messages/1/forward',
  '/messages/1/events',
  '/archive',
  '/resolve?path=INBOX',
];
const roots = [
  '',
  '/draft',
  '/draft/submit',
  '/attachment',
  '/users',
  '/users/me',
  '/users/me/',
  '/users/me/mailboxes',
  `/users/me/mailboxes/${INBOX}`,
  `/users/me/mailboxes/${INBOX.toUpperCase()}`,
  `/users/me/mailboxes/${INBOX}0`,
  `/users/me/mailboxes/${INBOX.slice(1)}`,
  '/users/me/mailboxes/resolve',
  '/users/me/mailboxes/INBOX',
  '/users/me/mailboxes/:mailbox',
  `/users/me/mailboxes/${INBOX}/messages/:message`,
  '/users/me/mailboxes/:mailbox/messages/:message/submit',
  '/users/me/mailboxes/:mailbox/messages',
  '/constructor',
  '/__proto__',
  `/users/${INBOX}/mailboxes`,
  '/users/ME/mailboxes',
  '/users/me;x/mailboxes',
  '/users/me/../me/mailboxes',
  '/users/me/addressregister',
  '/users/me/storage',
  '/users/me/filters',
  '/users/me/autoreply',
  '/users/me/asps',
  '/users/me/2fa',
  '/users/me/search',
  '/users/me/outbound',
  '/users/me/updates',
  '/users/me/quota',
  '/authenticate',
  '/domainaliases',
  '/health',
  '/settings',
  '/webhooks',
  '/data/export',
];

const legal = ['', `/${INBOX}`, `/${INBOX}/messages`, `/${INBOX}/messages/7`, `/${INBOX}/messages/7/submit`];

const path = fc.oneof(
  { weight: 2, arbitrary: fc.constantFrom(...legal).map((rest) => `${BOXES}${rest}`) },
  {
    weight: 4,
    arbitrary: fc
      .tuple(fc.constantFrom(...roots), fc.constantFrom(...tails))
      .map(([root, tail]) => `${BASE}${root}${tail}`),
  },
  {
    weight: 4,
    arbitrary: fc
      .tuple(fc.constantFrom(...roots), fc.constantFrom(...tails), fc.nat(100_000))
      .map(([root, tail, seed]) => `${BASE}/${disguise(`${root}${tail}`.replace(/^\//, ''), seed)}`),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.constantFrom(...roots), fc.nat(100_000))
      .map(([root, seed]) => disguise(`${BASE}${root}`, seed)),
  },
  {
    weight: 1,
    arbitrary: fc.string({ maxLength: 40 }).map((text) => `${BOXES}/${text.replace(/[^\x21-\x7e]/g, '~')}`),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(
        fc.constantFrom(
          'http://127.0.0.1',
          'https://evil.example',
          'http://x:y@z',
          '//evil.example',
          'HTTP://a',
        ),
        fc.constantFrom(...roots),
      )
      .map(([origin, root]) => `${origin}${BASE}${root}`),
  },
);

describe('the gate of the mail API', () => {
  let duck: WildDuck;
  let app: TestApp;
  let alice: TestUser;

  beforeAll(async () => {
    duck = await WildDuck.start();
    app = await TestApp.start(duck.settings);
    [alice] = await app.tenant('acme', 'alice');
  });
  afterAll(async () => {
    await app?.stop();
    await duck?.stop();
  });

  test('matches the contract’s table', () => {
    let let_in = 0;
    fc.assert(
      fc.property(fc.constantFrom(...METHODS), path, (method, target) => {
        const decided = mailTarget(method, target);
        const allowed = isAllowed(method, target);
        if (allowed) let_in += 1;
        return (typeof decided === 'object' && decided !== null) === allowed;
      }),
      { numRuns: runs(30_000) },
    );
    expect(let_in).toBeGreaterThan(runs(30_000) / 300);
  });

  test.each([
    ['/apis/v1/mail', REJECTED],
    ['/apis/v1/mail/', REJECTED],
    ['/apis/v1/mail?x', REJECTED],
    ['/apis/v1/MAIL/users/me/mailboxes', REJECTED],
    ['/apis/v1/mail%2Fusers/me/mailboxes', REJECTED],
    ['/apis/v1/%256dail/users/me/mailboxes', REJECTED],
    ['/apis/v1//mail/users/me/mailboxes', REJECTED],
    ['/apis/v1/notes/../mail/users/me/mailboxes', REJECTED],
    ['/apis/v1/mail;x/users/me/mailboxes', REJECTED],
    ['/apis/v1/mail/../notes', REJECTED],
    ['\\apis\\v1\\mail\\users', REJECTED],
    ['http://evil.example/apis/v1/mail/users/me/mailboxes', REJECTED],
    ['/apis/v1/mailbox', null],
    ['/apis/v1/notes', null],
    ['/apis/v1/notes?mail=/apis/v1/mail/', null],
    ['/apis/v1/search/mail', null],
    ['/apis/v1/notes/%6dail', null],
  ])('%s', (target, expected) => {
    expect(mailTarget('GET', target)).toBe(expected);
  });

  test('ids come from the path, the mailbox in lower case', () => {
    expect(mailTarget('PUT', `${BOXES}/${INBOX.toUpperCase()}/messages/12?a=b?c`)).toEqual({
      operation: 'updateMessage',
      mailbox: INBOX,
      message: 12,
      query: 'a=b?c',
    });
  });

  const head = (method: string, target: string, token: string | null, more = '') =>
    `${method} ${target} HTTP/1.1\r\nHost: x\r\n${token === null ? '' : `Authorization: Bearer ${token}\r\n`}${more}Connection: close\r\n\r\n`;
  const ended = () => false;

  test('rejected targets cause no upstream request; 401 comes before 404', async () => {
    const silent = await WildDuck.start();
    const second = await TestApp.start(silent.settings, app.databaseUrl);
    const samples = fc.sample(
      fc
        .tuple(fc.constantFrom(...METHODS), path, fc.constantFrom('', '{"path":"x"}', 'a=b'))
        .filter(([m, t]) => !isAllowed(m, t)),
      runs(1_500),
    );
    const seen: Record<string, number> = {};
    const work = async (): Promise<void> => {
      for (let next = samples.pop(); next; next = samples.pop()) {
        const [method, target, body] = next;
        const more = `${body && `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`}X-HTTP-Method-Override: GET\r\nX-HTTP-Method: POST\r\nX-Original-URL: ${BOXES}\r\n`;
        for (const token of [null, alice.token]) {
          const bytes = Buffer.from(`${head(method, target, token, more)}${body}`, 'latin1');
          const text = await rawExchange(second, bytes, ended);
          const status = Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1]);
          const code = /"error":"([^"]+)"/.exec(text)?.[1] ?? (method === 'HEAD' ? 'head' : '');
          seen[`${token === null} ${status} ${code}`] =
            (seen[`${token === null} ${status} ${code}`] ?? 0) + 1;
          const concerned = mailTarget(method, target) === REJECTED;
          if (status === 400)
            expect(code).toBe(method === 'HEAD' && code === 'head' ? 'head' : 'bad_request');
          else if (concerned) {
            expect([target, token === null, status]).toEqual([
              target,
              token === null,
              token === null ? 401 : 404,
            ]);
            if (method !== 'HEAD')
              expect(code).toBe(token === null ? 'unauthorized' : 'mail_endpoint_not_available');
          } else expect([target, status]).toEqual([target, 404]);
        }
      }
    };
    await Promise.all(Array.from({ length: 8 }, work));
    expect(seen['false 404 mail_endpoint_not_available']).toBeGreaterThan(runs(1_500) / 3);
    expect(seen['true 401 unauthorized']).toBeGreaterThan(runs(1_500) / 3);
    expect([silent.connections, silent.bytes]).toEqual([0, 0]);
    expect(await second.sql('SELECT 1 FROM mail_accounts')).toEqual([]);
    await second.stop();
    await silent.stop();
  });

  test.each([
    ['HEAD', BOXES],
    ['OPTIONS', BOXES],
    ['PATCH', `${BOXES}/${INBOX}`],
    ['DELETE', `${BOXES}/${INBOX}/messages`],
    ['GET', `${BOXES}/${INBOX}/messages/1/message.eml`],
    ['GET', `${BASE}/users/me/addressregister?query=e`],
  ])('%s %s is no operation', async (method, target) => {
    const text = await rawExchange(app, head(method, target, alice.token), ended);
    expect(text).toMatch(/^HTTP\/1\.1 404 /);
    if (method !== 'HEAD') expect(text).toContain('"error":"mail_endpoint_not_available"');
    expect(duck.mail).toEqual([]);
  });

  test('headers with another method or path have no effect', async () => {
    const overrides = `X-HTTP-Method-Override: DELETE\r\nX-Method-Override: PUT\r\nX-Original-URL: /apis/v1/mail/users/me\r\nX-Rewrite-URL: /\r\n`;
    const text = await rawExchange(app, head('GET', `${BOXES}/${INBOX}`, alice.token, overrides), ended);
    expect(text).toMatch(/^HTTP\/1\.1 200 /);
    expect(duck.mail.map(({ method, url }) => [method, url])).toEqual([
      ['GET', `/users/me/mailboxes/${INBOX}`],
    ]);
  });

  test('a pipelined request is checked on its own', async () => {
    duck.requests.length = 0;
    const smuggled = `GET ${BASE}/users/me HTTP/1.1\r\nHost: x\r\n\r\n`;
    const bytes = `POST ${BOXES} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${alice.token}\r\nContent-Type: application/json\r\nContent-Length: 14\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`;
    expect(await rawExchange(app, bytes)).toMatch(/^HTTP\/1\.1 400 /);
    expect(duck.mail).toEqual([]);
  });

  test('a disconnect cancels the upstream request', async () => {
    const { promise: asked, resolve: onAsked } = Promise.withResolvers<void>();
    const { promise: gone, resolve: onGone } = Promise.withResolvers<void>();
    duck.script = (_, response) => {
      response.on('close', () => onGone());
      onAsked();
      return true;
    };
    const { hostname, port } = new URL(app.base);
    const socket: Socket = connect(Number(port), hostname);
    socket.on('error', () => undefined);
    socket.write(head('GET', BOXES, alice.token));
    await asked;
    socket.destroy();
    await gone;
    duck.script = undefined;
  });
});
