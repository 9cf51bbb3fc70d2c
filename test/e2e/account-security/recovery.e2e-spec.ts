import type { Client } from 'pg';
import { AccountRecovery, PasswordSignIn } from '../../../src/modules/account-security/index.js';
import { provision } from '../../../src/provision/provision.js';
import { PASSWORD, session } from '../../support/sign-in/account.ts';
import type { TestUser } from '../../support/app.ts';
import { afterChange } from '../../support/database/locks.ts';
import { acceptApplicationPasswords } from '../../support/sign-in/application-passwords.ts';
import { MailedApp } from '../../support/mail/mailed-app.ts';
import { secondFactorOf } from '../../support/sign-in/sign-in.ts';

const NEW_PASSWORD = 'seven purple teapots dance';

describe('recovery of accounts by mail', () => {
  let at: MailedApp;
  let n = 0;

  beforeAll(async () => {
    at = await MailedApp.start();
    acceptApplicationPasswords(at.app);
  });
  afterAll(() => at?.stop());

  const user = async (slugs?: string[]): Promise<TestUser> => {
    n += 1;
    const email = `ann${n}@far.example`;
    const spec = { email, name: 'Ann', role: 'owner' as const, password: PASSWORD };
    const { users } = await provision(
      at.app.served.nest,
      { tenants: (slugs ?? [`w${n}`]).map((slug) => ({ slug, users: [spec] })) },
      true,
    );
    const { id, tenant_id: tenantId, token = '' } = users[0]!;
    return { id, email, tenantId, token, api: at.app.as(token) };
  };
  const forgot = (email: string, language = 'en') =>
    at.submit(`${at.app.base}/apis/v1/account/password`, { email }, language);

  describe('a forgotten password', () => {
    test('is replaced by a link, which ends all sessions and keeps the second factor', async () => {
      const ann = await user();
      const other = await session(at.app, ann);
      await secondFactorOf(at.app, ann.id);
      const sent = await forgot(ann.email, 'pt-BR');
      expect(sent.status).toBe(200);
      const [mail] = await at.mailsTo(ann.email);
      expect(mail!.subject).toBe('Definir uma nova senha');
      const link = await at.linkTo(ann.email);
      expect((await at.submit(link, { new_password: 'password1234' })).status).toBe(422);
      const set = await at.submit(link, { new_password: NEW_PASSWORD });
      expect([set.status, set.html.includes('The password is set')]).toEqual([200, true]);
      await at.app.readAccessChanges();
      for (const { api } of [ann, other]) expect((await api.get('/settings/profile')).status).toBe(401);
      // The link worked once.
      expect((await at.browser().open(link)).status).toBe(404);
      expect((await at.submit(`${at.app.base}/apis/v1/account/password`, { email: ann.email })).status).toBe(
        200,
      );
      const [row] = await at.app.sql('SELECT second_factor_since FROM accounts WHERE id = $1', [ann.id]);
      expect(row.second_factor_since).not.toBeNull();
      const audit = await at.app.sql(`SELECT action FROM audit_log WHERE actor_id = $1`, [ann.id]);
      expect(audit.map(({ action }) => action)).toContain('security.password_changed');
    });

    test('ends the locks of failed sign-ins, also that of a known browser', async () => {
      const ann = await user();
      const attempt = async (password: string, knownBrowser: string | null) =>
        (
          await at.app
            .get<PasswordSignIn>(PasswordSignIn)
            .verify({ email: ann.email, password, ip: '192.0.2.1', knownBrowser })
        ).outcome;
      for (const browser of [null, 'known']) {
        for (let failures = 0; failures < 10; failures += 1) await attempt('incorrect', browser);
        expect(await attempt(PASSWORD, browser)).toBe('limited');
      }
      await forgot(ann.email);
      expect((await at.submit(await at.linkTo(ann.email), { new_password: NEW_PASSWORD })).status).toBe(200);
      for (const browser of [null, 'known']) expect(await attempt(NEW_PASSWORD, browser)).toBe('ok');
    });

    test('the page of a reset names the secret addresses of calendars, which stay until the user deletes them', async () => {
      const ann = await user();
      const [{ id: calendar }] = (await ann.api.get('/calendar')).body.calendars;
      const { feed } = (await ann.api.post(`/calendar/${calendar}/feeds`, {})).body;
      const readFeed = async () =>
        (await at.app.anonymous.get(feed.url.slice(feed.url.indexOf('/calendar/feeds')))).status;
      await forgot(ann.email);
      const done = await at.submit(await at.linkTo(ann.email), { new_password: NEW_PASSWORD });
      expect(done.html).toContain('Secret addresses of your calendars stay');
      expect(await readFeed()).toBe(200);
      const { api } = await session(at.app, ann);
      const { feeds } = (await api.get(`/calendar/${calendar}/feeds`)).body;
      expect(feeds.map(({ id }: any) => id)).toEqual([feed.id]);
      expect((await api.delete(`/calendar/${calendar}/feeds/${feed.id}`)).status).toBe(200);
      expect(await readFeed()).toBe(404);
    });

    test.each([
      ['the link', async (ann: TestUser, link: string) => at.submit(link, { new_password: NEW_PASSWORD })],
      [
        'the operator',
        async (ann: TestUser) => at.app.get(AccountRecovery).setPassword(ann.id, NEW_PASSWORD),
      ],
    ])('a reset by %s ends the application passwords in all workspaces', async (_, reset) => {
      const ann = await user(['reset-one', 'reset-two'].map((slug) => `${slug}-${n}`));
      const memberships = await at.app.sql('SELECT tenant_id FROM tenant_members WHERE user_id = $1', [
        ann.id,
      ]);
      const elsewhere = memberships.find(({ tenant_id }) => tenant_id !== ann.tenantId)!;
      const twin = await session(at.app, ann, { tenantId: elsewhere.tenant_id });
      for (const { api } of [ann, twin])
        expect(
          (await api.post('/settings/application-passwords', { description: 'x', scopes: ['imap'] })).status,
        ).toBe(201);
      await forgot(ann.email);
      const link = await at.linkTo(ann.email);
      expect((await at.browser().open(link)).html).toContain('application passwords');
      await reset(ann, link);
      const rows = await at.app.sql(
        `SELECT state FROM application_passwords WHERE user_id = $1 AND state = 'active'`,
        [ann.id],
      );
      expect(rows).toEqual([]);
      const [event] = await at.app.sql(
        `SELECT data FROM audit_log WHERE object_id = $1 AND action = 'security.password_changed'`,
        [ann.id],
      );
      expect(event.data).toMatchObject({ applications_ended: 2 });
    });

    test('the response does not disclose whether an address has an account', async () => {
      const ann = await user();
      await at.app.sql(`UPDATE accounts SET status = 'deactivated' WHERE id = $1`, [(await user()).id]);
      const addresses = [ann.email, `ann${n}@far.example`, 'nobody@far.example'];
      const pages = [];
      for (const email of addresses) pages.push((await forgot(email)).html.replaceAll(email, ''));
      expect(new Set(pages).size).toBe(1);
      // Every request queues a mail; only the first address receives one.
      for (const [m, email] of addresses.entries())
        expect(await at.mailsTo(email)).toHaveLength(m === 0 ? 1 : 0);
      const states = await at.app.sql(`SELECT state FROM system_mails WHERE recipient = ANY ($1)`, [
        addresses,
      ]);
      expect(states.map(({ state }) => state).toSorted()).toEqual(['cancelled', 'cancelled', 'sent']);
    });

    test('requests for an unknown address run the statements of a known one', async () => {
      const ann = await user();
      const statements = async (email: string) => {
        const before = await at.app.sql(`SELECT count(*)::int AS n FROM system_mails`);
        await forgot(email);
        const after = await at.app.sql(`SELECT count(*)::int AS n FROM system_mails`);
        return after[0].n - before[0].n;
      };
      // The token is created later, with the mail.
      expect([await statements(ann.email), await statements('unknown@far.example')]).toEqual([1, 1]);
    });

    test('an address gets at most five mails an hour', async () => {
      const ann = await user();
      for (let request = 0; request < 7; request += 1) expect((await forgot(ann.email)).status).toBe(200);
      expect(await at.mailsTo(ann.email)).toHaveLength(5);
    });

    test('a newer link and a change of the password make a link invalid', async () => {
      const ann = await user();
      await forgot(ann.email);
      const first = await at.linkTo(ann.email);
      await forgot(ann.email);
      const second = await at.linkTo(ann.email);
      expect((await at.browser().open(first)).status).toBe(404);
      await ann.api.put('/settings/password', { current_password: PASSWORD, new_password: NEW_PASSWORD });
      expect((await at.browser().open(second)).status).toBe(404);
    });

    test('parallel uses of a link set one password', async () => {
      const ann = await user();
      await forgot(ann.email);
      const link = await at.linkTo(ann.email);
      const passwords = ['nine yellow rivers sing', 'ten silver mountains run', 'two orange clouds swim'];
      const pages = await at.submitAtOnce(
        link,
        passwords.map((text) => ({ new_password: text })),
      );
      expect(pages.map(({ status }) => status).toSorted()).toEqual([200, 404, 404]);
    });

    test('the token is stored as a hash', async () => {
      const ann = await user();
      await forgot(ann.email);
      const token = (await at.linkTo(ann.email)).split('/').at(-1)!;
      const dump = JSON.stringify(await at.app.sql('SELECT account_tokens::text FROM account_tokens'));
      const mails = JSON.stringify(await at.app.sql('SELECT system_mails::text FROM system_mails'));
      expect(dump + mails).not.toContain(token);
    });
  });

  describe('a change of the address', () => {
    test('takes effect after the confirmation, in all workspaces, with a notice to the old address', async () => {
      const ann = await user(['w-email-1', 'w-email-2']);
      const email = `new-${ann.email}`;
      const change = (input: object) => ann.api.put('/settings/email', { email, ...input });
      expect((await change({ password: 'incorrect' })).body.error).toBe('invalid_password');
      const requested = await change({ password: PASSWORD });
      expect(requested.status).toBe(202);
      expect(requested.body).toMatchObject({ email: ann.email, pending: { email } });
      const link = await at.linkTo(email);
      expect((await at.browser().open(link)).html).toContain(ann.email);
      expect((await ann.api.get('/settings/email')).body.email).toBe(ann.email);
      expect((await at.submit(link, {})).status).toBe(200);
      expect((await at.submit(link, {}).catch(() => ({ status: 404 }))).status).toBe(404);
      const [notice] = await at.mailsTo(ann.email);
      expect(notice!.subject).toBe('Your email address was changed');
      expect((await ann.api.get('/settings/email')).body).toEqual({ email, pending: null });
      const rows = await at.app.sql('SELECT email FROM tenant_members WHERE user_id = $1', [ann.id]);
      expect(rows).toEqual([{ email }, { email }]);
    });

    test('keeps a name that changes at the same moment in the search of the directory', async () => {
      const ann = await user();
      const email = `found-${ann.email}`;
      await ann.api.put('/settings/email', { email, password: PASSWORD });
      const link = await at.linkTo(email);
      const rename = (other: Client) =>
        other.query(
          `UPDATE tenant_members SET display_name = 'Zacharias', folded = ' zacharias' WHERE user_id = $1`,
          [ann.id],
        );
      await afterChange(await at.app.databaseOf(ann.tenantId!), rename, async () => {
        await at.submit(link, {});
        await at.drain();
      });
      const { text } = await ann.api.get('/directory/search?q=zacharias');
      expect(text).toContain(email);
    });

    test('an address of another account gets no mail, with the same response', async () => {
      const [ann, bob] = [await user(), await user()];
      const { status, body } = await ann.api.put('/settings/email', { email: bob.email, password: PASSWORD });
      expect([status, body.pending.email]).toEqual([202, bob.email]);
      expect(await at.mailsTo(bob.email)).toEqual([]);
    });

    test('an address that another account took meanwhile is not confirmed', async () => {
      const ann = await user();
      const email = `taken-${ann.email}`;
      await ann.api.put('/settings/email', { email, password: PASSWORD });
      const link = await at.linkTo(email);
      await provision(at.app.served.nest, { accounts: [{ email, name: 'Fast' }] });
      expect((await at.submit(link, {})).status).toBe(404);
      expect((await ann.api.get('/settings/email')).body.email).toBe(ann.email);
    });

    test('an address that another account takes at the same moment is not confirmed', async () => {
      const [ann, bob] = [await user(), await user()];
      const email = `raced-${ann.email}`;
      await ann.api.put('/settings/email', { email, password: PASSWORD });
      const link = await at.linkTo(email);
      const { status } = await afterChange(
        at.app.databaseUrl,
        (other) =>
          other.query('UPDATE accounts SET email = $2, email_key = $2 WHERE id = $1', [bob.id, email]),
        () => at.submit(link, {}),
      );
      expect(status).toBe(404);
      expect((await ann.api.get('/settings/email')).body.email).toBe(ann.email);
    });

    // An intruder who knew the old password may have sent the request, and would get the account by the link.
    test.each<[string, (ann: TestUser) => Promise<{ status: number }>]>([
      [
        'its user',
        ({ api }) =>
          api.put('/settings/password', { current_password: PASSWORD, new_password: NEW_PASSWORD }),
      ],
      [
        'the link of a forgotten password',
        async ({ email }) => {
          await forgot(email);
          return at.submit(await at.linkTo(email), { new_password: NEW_PASSWORD });
        },
      ],
      [
        'the operator',
        async ({ id }) => {
          await at.app.get(AccountRecovery).setPassword(id, NEW_PASSWORD);
          return { status: 200 };
        },
      ],
    ])('ends with a change of the password by %s', async (_, changePassword) => {
      const ann = await user();
      const email = `intruder-${ann.email}`;
      await ann.api.put('/settings/email', { email, password: PASSWORD });
      const link = await at.linkTo(email);
      expect((await changePassword(ann)).status).toBe(200);
      expect((await at.submit(link, {}).catch(() => ({ status: 404 }))).status).toBe(404);
      const rows = await at.app.sql('SELECT email FROM accounts WHERE id = $1', [ann.id]);
      expect(rows).toEqual([{ email: ann.email }]);
    });

    test('needs a password or a second factor: a stolen token must not move the account', async () => {
      const [bare] = await at.app.tenant('bare', 'bare');
      const input = { email: 'thief@far.example', password: 'any' };
      const { status, body } = await bare.api.put('/settings/email', input);
      expect([status, body.error]).toEqual([403, 'invalid_password']);
      expect(body.message).toContain('no password');
      expect((await bare.api.get('/settings/email')).body.pending).toBeNull();
    });

    test('is not requested with a password that changes meanwhile', async () => {
      const ann = await user();
      const change = async (other: Client) => {
        await other.query('LOCK TABLE account_tokens IN SHARE ROW EXCLUSIVE MODE');
        await other.query('UPDATE accounts SET password_changed_at = now() WHERE id = $1', [ann.id]);
      };
      const input = { email: `late-${ann.email}`, password: PASSWORD };
      const { status, body } = await afterChange(at.app.databaseUrl, change, () =>
        ann.api.put('/settings/email', input),
      );
      expect([status, body.error]).toEqual([403, 'invalid_password']);
      expect((await ann.api.get('/settings/email')).body.pending).toBeNull();
    });

    test('a cancelled change makes the link invalid', async () => {
      const ann = await user();
      const email = `cancel-${ann.email}`;
      await ann.api.put('/settings/email', { email, password: PASSWORD });
      const link = await at.linkTo(email);
      expect((await ann.api.delete('/settings/email')).body.pending).toBeNull();
      expect((await at.browser().open(link)).status).toBe(404);
    });
  });
});
