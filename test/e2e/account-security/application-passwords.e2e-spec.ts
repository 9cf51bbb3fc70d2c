import type { Client } from 'pg';
import {
  AccountRecovery,
  type ApplicationPasswordProvider,
  ApplicationPasswordProviders,
  ApplicationPasswordSignIn,
  type NewApplicationPassword,
} from '../../../src/modules/account-security/index.js';
import { OutboxWorker } from '../../../src/platform/events/outbox.worker.js';
import { PeriodicJobs } from '../../../src/platform/jobs/periodic-jobs.js';
import { acceptApplicationPasswords } from '../../support/sign-in/application-passwords.ts';
import { afterChange } from '../../support/database/locks.ts';
import { type TestUser, TestApp } from '../../support/app.ts';
import type { ApiResponse } from '../../support/network/client.ts';

const errorOf = ({ status, body }: ApiResponse) => [status, body?.error];
const PATH = '/settings/application-passwords';

/** A mail service that stores application passwords, reduced to its interface here. */
class MailService implements ApplicationPasswordProvider {
  readonly protocols = ['imap', 'pop3', 'smtp', 'caldav'] as const;
  readonly known = new Map<string, NewApplicationPassword>();
  readonly forgotten: { id: string; providerId: string | null }[] = [];
  trouble: 'none' | 'down' | 'response lost' = 'none';
  /** Waits in each creation. */
  gate: () => Promise<void> = async () => undefined;

  concerns(_: object, scopes: readonly string[]): boolean {
    return scopes.some((scope) => scope !== 'caldav' && scope !== 'carddav');
  }

  async create(password: NewApplicationPassword): Promise<string> {
    if (this.trouble === 'down') throw new Error('connection rejected');
    await this.gate();
    this.known.set(password.id, password);
    if (this.trouble === 'response lost') throw new Error('timeout');
    return `mail-${password.id}`;
  }

  async remove({ id, providerId }: { id: string; providerId: string | null }): Promise<void> {
    if (this.trouble === 'down') throw new Error('connection rejected');
    this.known.delete(id);
    this.forgotten.push({ id, providerId });
  }
}

describe('application passwords', () => {
  let app: TestApp;
  let n = 0;

  beforeAll(async () => {
    app = await TestApp.start();
    acceptApplicationPasswords(app);
  });
  afterAll(() => app?.stop());

  const newUser = async (on = app): Promise<TestUser> => {
    n += 1;
    return (await on.tenant(`t${n}`, 'alice'))[0];
  };
  const make = ({ api }: TestUser, more: object = {}) =>
    api.post(PATH, { description: 'Thunderbird', scopes: ['imap', 'smtp'], ...more });
  const signIn = async (
    person: TestUser,
    password: string,
    scope = 'imap',
    ip: string | null = '192.0.2.5',
    on = app,
  ) => {
    const result = await on.get(ApplicationPasswordSignIn).signIn(person.email, password, ip);
    if (result.outcome !== 'ok') return null;
    const { program } = result;
    return program.tenantId === person.tenantId && program.scopes.includes(scope as never)
      ? program.passwordId
      : null;
  };

  describe('for their owner', () => {
    test('are created, returned once, listed, read and ended', async () => {
      const alice = await newUser();
      const { status, body } = await make(alice, { ttl: 3600 });
      expect(status).toBe(201);
      expect(body).toEqual({
        application_password: {
          id: expect.any(String),
          description: 'Thunderbird',
          scopes: ['imap', 'smtp'],
          created_at: expect.any(String),
          expires_at: expect.any(String),
          last_used_at: null,
          last_used_ip: null,
        },
        password: expect.stringMatching(/^[a-z]{16}$/),
      });
      const { id, created_at: from, expires_at: to } = body.application_password;
      expect(Date.parse(to) - Date.parse(from)).toBe(3_600_000);
      const [list, one] = [await alice.api.get(PATH), await alice.api.get(`${PATH}/${id}`)];
      expect(list.body).toEqual({ application_passwords: [body.application_password], next: null });
      expect(one.body).toEqual({ application_password: body.application_password });
      for (const { text } of [list, one]) expect(text).not.toContain(body.password);
      expect((await alice.api.get('/settings/security')).body.application_passwords).toBe(1);
      expect((await alice.api.delete(`${PATH}/${id}`)).body).toEqual({ deleted: true });
      for (const method of ['GET', 'DELETE'])
        expect(errorOf(await alice.api.request(method, `${PATH}/${id}`))).toEqual([404, 'not_found']);
      expect((await alice.api.get(PATH)).body.application_passwords).toEqual([]);
      await app.get<OutboxWorker>(OutboxWorker).drain();
      expect(await app.sql('SELECT id FROM application_passwords WHERE id = $1', [id])).toEqual([]);
    });

    test('are listed newest first, in pages', async () => {
      const alice = await newUser();
      const ids = [];
      for (let k = 0; k < 5; k += 1) ids.unshift((await make(alice)).body.application_password.id);
      const seen = [];
      let cursor = '';
      for (let page = 0; page < 3; page += 1) {
        const { body } = await alice.api.get(`${PATH}?limit=2${cursor}`);
        seen.push(...body.application_passwords.map(({ id }: any) => id));
        expect(body.next === null).toBe(page === 2);
        cursor = `&cursor=${body.next}`;
      }
      expect(seen).toEqual(ids);
      const bob = await newUser();
      const { next } = (await alice.api.get(`${PATH}?limit=1`)).body;
      expect(errorOf(await bob.api.get(`${PATH}?cursor=${next}`))).toEqual([422, 'invalid_cursor']);
    });

    test('are 50 at most; ended and expired ones free a slot', async () => {
      const alice = await newUser();
      for (let k = 0; k < 49; k += 1) await make(alice);
      const { body } = await make(alice, { ttl: 60 });
      expect(errorOf(await make(alice))).toEqual([422, 'too_many_application_passwords']);
      await app.sql(
        `UPDATE application_passwords SET expires_at = now() - make_interval(secs => 1) WHERE id = $1`,
        [body.application_password.id],
      );
      const next = await make(alice);
      expect(next.status).toBe(201);
      expect(errorOf(await make(alice))).toEqual([422, 'too_many_application_passwords']);
      await alice.api.delete(`${PATH}/${next.body.application_password.id}`);
      expect((await make(alice)).status).toBe(201);
    });

    test.each([
      [{ description: '' }],
      [{ description: ' ' }],
      [{ description: '\u200b' }],
      [{ description: 'x'.repeat(256) }],
      [{ description: 5 }],
      [{ description: '\0' }],
      [{ scopes: [] }],
      [{ scopes: 'imap' }],
      [{ scopes: ['imap', '*'] }],
      [{ scopes: [['imap']] }],
      [{ scopes: null }],
      [{ ttl: 59 }],
      [{ ttl: 1e12 }],
      [{ ttl: '3600' }],
      [{ ttl: 60.5 }],
    ])('%j is rejected', async (more) => {
      const alice = await shared();
      expect(errorOf(await make(alice, more))).toEqual([422, 'validation_failed']);
    });

    let one: Promise<TestUser> | undefined;
    const shared = () => (one ??= newUser());

    test('need a server that accepts one of their protocols', async () => {
      const without = await TestApp.start({}, app.databaseUrl);
      try {
        const alice = await newUser();
        const api = without.as(alice.token);
        expect((await api.get('/settings/security')).body.application_password_protocols).toEqual([
          'caldav',
          'carddav',
        ]);
        const response = await make({ ...alice, api });
        expect(errorOf(response)).toEqual([409, 'no_mail_protocol']);
        expect(response.text).not.toContain('"password"');
        expect(errorOf(await make({ ...alice, api }, { scopes: ['*'] }))).toEqual([422, 'validation_failed']);
        expect((await api.get(PATH)).body.application_passwords).toEqual([]);
        const audited = `SELECT FROM audit_log WHERE object_id = $1 AND action LIKE 'security.application%'`;
        expect(await app.sql(audited, [alice.id])).toEqual([]);
      } finally {
        await without.stop();
      }
    });

    test('are not created by an ended session, before its process knows', async () => {
      const alice = await newUser();
      expect((await alice.api.get(PATH)).status).toBe(200);
      await app.sql('UPDATE sessions SET revoked_at = now() WHERE account_id = $1', [alice.id]);
      expect(errorOf(await make(alice))).toEqual([401, 'unauthorized']);
      expect(await app.sql('SELECT FROM application_passwords WHERE user_id = $1', [alice.id])).toEqual([]);
    });

    test('are not created while a change of the password ends their session', async () => {
      const alice = await newUser();
      const end = (other: Client) =>
        other.query('UPDATE sessions SET revoked_at = now() WHERE account_id = $1', [alice.id]);
      const made = await afterChange(app.databaseUrl, end, () => make(alice));
      expect(errorOf(made)).toEqual([401, 'unauthorized']);
    });

    test('belong to one workspace', async () => {
      const alice = await newUser();
      const id = (await make(alice)).body.application_password.id;
      await app.tenant('elsewhere', 'x');
      const there = await app.member('elsewhere', alice.email);
      expect((await there.api.get(PATH)).body.application_passwords).toEqual([]);
      expect(errorOf(await there.api.delete(`${PATH}/${id}`))).toEqual([404, 'not_found']);
    });
  });

  describe('for mail and calendar programs', () => {
    test('are valid for their protocols in any typed form, and report their last use', async () => {
      const alice = await newUser();
      const { application_password: made, password } = (await make(alice)).body;
      expect(await signIn(alice, password)).toBe(made.id);
      expect(await signIn(alice, ` ${password.toUpperCase().replace(/(.{4})/g, '$1 ')}`, 'smtp')).toBe(
        made.id,
      );
      for (const scope of ['pop3', 'caldav', 'carddav'])
        expect(await signIn(alice, password, scope)).toBeNull();
      const { body } = await alice.api.get(`${PATH}/${made.id}`);
      expect(body.application_password).toMatchObject({
        last_used_at: expect.any(String),
        last_used_ip: '192.0.2.5',
      });
      for (const wrong of ['', 'x', `${password}a`, 'a'.repeat(16), `${password.slice(0, 15)}1`, '\0'])
        expect(await signIn(alice, wrong)).toBeNull();
      const bob = await newUser();
      expect(await signIn(bob, password)).toBeNull();
      expect(await signIn({ ...alice, tenantId: bob.tenantId }, password)).toBeNull();
    });

    test('end with their time, with the membership, and with the account', async () => {
      const make1 = async () => {
        const person = await newUser();
        const { application_password: made, password } = (await make(person, { ttl: 600 })).body;
        expect(await signIn(person, password)).toBe(made.id);
        return { person, password, id: made.id };
      };
      const [expired, left, closed] = [await make1(), await make1(), await make1()];
      await app.sql(
        'UPDATE application_passwords SET expires_at = now() - make_interval(secs => 1) WHERE id = $1',
        [expired.id],
      );
      await app.sql(`UPDATE tenant_members SET status = 'deactivated' WHERE user_id = $1`, [left.person.id]);
      await app.sql(`UPDATE accounts SET status = 'deactivated' WHERE id = $1`, [closed.person.id]);
      for (const { person, password } of [expired, left, closed])
        expect(await signIn(person, password)).toBeNull();
    });

    test('are not bearer tokens', async () => {
      const alice = await newUser();
      const { password } = (await make(alice)).body;
      expect(errorOf(await app.as(password).get('/notes'))).toEqual([401, 'unauthorized']);
      const basic = `Basic ${Buffer.from(`${alice.email}:${password}`).toString('base64')}`;
      expect(errorOf(await app.anonymous.get('/notes', { headers: { authorization: basic } }))).toEqual([
        401,
        'unauthorized',
      ]);
    });

    test('are stored irreversibly', async () => {
      const alice = await newUser();
      const { password } = (await make(alice)).body;
      const rows = await app.sql(
        `SELECT p::text AS t FROM application_passwords p UNION ALL SELECT o::text FROM outbox o
         UNION ALL SELECT a::text FROM audit_log a`,
      );
      for (const { t } of rows) expect(t).not.toContain(password);
      const [{ selector }] = (await app.sql('SELECT selector FROM application_passwords WHERE user_id = $1', [
        alice.id,
      ])) as [{ selector: string }];
      expect(selector).toMatch(/^own\.[\w-]{4}$/);
    });

    test('of another key stay valid while the key is configured', async () => {
      const [first, second] = ['a'.repeat(40), 'b'.repeat(40)];
      const with1 = await TestApp.start({ SECRET_KEYS: first }, app.databaseUrl);
      const with21 = await TestApp.start({ SECRET_KEYS: `${second}, ${first}` }, app.databaseUrl);
      acceptApplicationPasswords(with1, with21);
      try {
        const alice = await newUser();
        const old = (await make(alice)).body.password;
        const { password } = (await make({ ...alice, api: with1.as(alice.token) })).body;
        for (const [on, text, good] of [
          [with1, old, true],
          [with1, password, true],
          [with21, password, true],
          [app, password, false],
        ] as const)
          expect((await signIn(alice, text, 'imap', null, on)) !== null).toBe(good);
      } finally {
        await with21.stop();
        await with1.stop();
      }
    });
  });

  describe('stored by the mail service', () => {
    let mailed: TestApp;
    const mail = new MailService();

    beforeAll(async () => {
      mailed = await TestApp.start();
      mailed.get(ApplicationPasswordProviders).register(mail);
    });
    afterAll(() => mailed?.stop());
    beforeEach(() => {
      mail.trouble = 'none';
    });

    const drain = () => mailed.get<OutboxWorker>(OutboxWorker).drain();
    const rowsOf = ({ id }: TestUser) =>
      mailed.sql('SELECT id, state, provider_id FROM application_passwords WHERE user_id = $1', [id]);
    const retryNow = () => mailed.sql('UPDATE outbox SET due_at = now() - make_interval(secs => 1)');

    test('receives the clear text once, and deletes the password first', async () => {
      const alice = await newUser(mailed);
      const { application_password: made, password } = (await make(alice)).body;
      expect(mail.known.get(made.id)).toMatchObject({
        password,
        userId: alice.id,
        tenantId: alice.tenantId,
        scopes: ['imap', 'smtp'],
        expiresAt: null,
      });
      expect(await rowsOf(alice)).toEqual([{ id: made.id, state: 'active', provider_id: `mail-${made.id}` }]);
      mail.trouble = 'down';
      expect((await alice.api.delete(`${PATH}/${made.id}`)).status).toBe(200);
      await drain();
      expect(await signIn(alice, password, 'imap', null, mailed)).toBeNull();
      expect(await rowsOf(alice)).toMatchObject([{ state: 'removing' }]);
      expect((await alice.api.get(PATH)).body.application_passwords).toEqual([]);
      mail.trouble = 'none';
      await retryNow();
      await drain();
      expect(mail.known.has(made.id)).toBe(false);
      expect(mail.forgotten).toContainEqual({ id: made.id, providerId: `mail-${made.id}` });
      expect(await rowsOf(alice)).toEqual([]);
    });

    test('does not receive passwords of other protocols', async () => {
      const alice = await newUser(mailed);
      const { body } = await make(alice, { scopes: ['caldav'] });
      expect(mail.known.has(body.application_password.id)).toBe(false);
      expect(await signIn(alice, body.password, 'caldav', null, mailed)).toBe(body.application_password.id);
    });

    test.each(['down', 'response lost'] as const)(
      '%s: none is made, and none stays there',
      async (trouble) => {
        const alice = await newUser(mailed);
        mail.trouble = trouble;
        const response = await make(alice);
        expect(errorOf(response)).toEqual([503, 'mail_service_unavailable']);
        expect(response.headers.get('retry-after')).toBe('5');
        expect((await alice.api.get(PATH)).body.application_passwords).toEqual([]);
        mail.trouble = 'none';
        await retryNow();
        await drain();
        expect([...mail.known.values()].filter(({ userId }) => userId === alice.id)).toEqual([]);
        expect(await rowsOf(alice)).toEqual([]);
      },
    );

    test.each(['none', 'response lost'] as const)(
      'a reset of the password ends a creation that is in flight (%s)',
      async (trouble) => {
        const alice = await newUser(mailed);
        const begun = Promise.withResolvers<void>();
        const end = Promise.withResolvers<void>();
        mail.gate = async () => {
          begun.resolve();
          await end.promise;
        };
        const making = make(alice);
        await begun.promise;
        await mailed
          .get<AccountRecovery>(AccountRecovery)
          .setPassword(alice.id, 'seven purple teapots dance');
        // The mail service has nothing to delete yet.
        await drain();
        mail.trouble = trouble;
        mail.gate = async () => undefined;
        end.resolve();
        expect(errorOf(await making)).toEqual([503, 'mail_service_unavailable']);
        mail.trouble = 'none';
        await drain();
        expect([...mail.known.values()].filter(({ userId }) => userId === alice.id)).toEqual([]);
        expect(await rowsOf(alice)).toEqual([]);
      },
    );

    test('incomplete creations of a killed process and expired passwords are removed', async () => {
      const alice = await newUser(mailed);
      const [half, old] = [(await make(alice)).body, (await make(alice, { ttl: 60 })).body];
      await mailed.sql(
        `UPDATE application_passwords SET state = 'creating', provider_id = NULL, created_at = now() - interval '1 hour'
          WHERE id = $1`,
        [half.application_password.id],
      );
      await mailed.sql(
        `UPDATE application_passwords SET expires_at = now() - make_interval(secs => 1) WHERE id = $1`,
        [old.application_password.id],
      );
      await mailed.sql('DELETE FROM job_runs');
      await mailed.get<PeriodicJobs>(PeriodicJobs).runDue();
      await drain();
      expect(await rowsOf(alice)).toEqual([]);
      expect(mail.forgotten).toContainEqual({ id: half.application_password.id, providerId: null });
    });
  });
});
