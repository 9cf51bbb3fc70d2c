import fc from 'fast-check';
import { enrolled, PASSWORD, personWithPassword, session } from '../../support/sign-in/account.ts';
import { type TestUser, TestApp } from '../../support/app.ts';
import { stopClock } from '../../support/sign-in/totp.ts';
import { runs } from '../../support/property-runs.ts';

const ROUTES = [
  ['POST', '/auth/initiate-2fa'],
  ['POST', '/auth/enable-2fa'],
  ['POST', '/auth/verify-2fa'],
  ['POST', '/auth/disable-2fa'],
  ['POST', '/auth/recovery-codes'],
  ['PUT', '/settings/password'],
  ['POST', '/settings/application-passwords'],
  ['POST', '/auth/sign-out'],
] as const;

const KEYS = [
  'password',
  'code',
  'recovery_code',
  'current_password',
  'new_password',
  'description',
  'scopes',
  'ttl',
];

const value = fc.oneof(
  fc.jsonValue(),
  fc.string({ unit: 'binary' }),
  fc.constantFrom(
    PASSWORD,
    '000000',
    'aaaaa-bbbbb',
    '',
    '\0',
    '\ud800',
    'x'.repeat(2_000),
    1e308,
    -1,
    2 ** 53,
  ),
  fc.constantFrom(['imap'], [null], [['imap']], { length: 5 }, { toString: 1 }, ['__proto__']),
);
const body = fc.oneof(
  { weight: 5, arbitrary: fc.dictionary(fc.constantFrom(...KEYS, '__proto__', 'x'), value) },
  { weight: 1, arbitrary: fc.jsonValue() },
);

describe('hostile input', () => {
  let app: TestApp;
  let people: TestUser[];

  beforeAll(async () => {
    stopClock();
    app = await TestApp.start();
    people = [await personWithPassword(app, 'plain'), (await enrolled(app, 'enrolled')).person];
  });
  afterAll(() => app?.stop());

  test.each(ROUTES)('%s %s never causes a 500 and reveals no secret', async (method, path) => {
    await fc.assert(
      fc.asyncProperty(body, fc.nat({ max: 1 }), async (sent, n) => {
        const client = path === '/auth/sign-out' ? (await session(app, people[n]!)).api : people[n]!.api;
        const { status, text } = await client.request(method, path, { body: sent });
        expect([status < 500, status]).toEqual([true, status]);
        expect(text).not.toContain('argon2');
        // Locked and limited routes return the same for any input.
        await app.sql('TRUNCATE rate_limits, guess_locks');
      }),
      { numRuns: runs(40) },
    );
  });

  test('ids in paths', async () => {
    for (const id of ['x', '%00', '..%2f', '0'.repeat(2_000), '0199aaaa-bbbb-7ccc-8ddd-eeeeffff000g'])
      for (const path of ['/settings/application-passwords/', '/settings/security/sessions/']) {
        const { status, body: response } = await people[0]!.api.delete(path + id);
        expect([id, status, response.error]).toEqual([id, 422, 'invalid_id']);
      }
  });
});
