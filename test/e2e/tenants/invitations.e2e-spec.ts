import fc from 'fast-check';
import type { Client } from 'pg';
import { PersonalErasureWorker } from '../../../src/modules/personal-data/erasure/personal-erasures.js';
import { TenantDomains } from '../../../src/modules/tenants/index.js';
import { provision, ProvisionFile } from '../../../src/provision/provision.js';
import type { TestUser } from '../../support/app.ts';
import { afterChange } from '../../support/database/locks.ts';
import { PASSWORD } from '../../support/sign-in/account.ts';
import { NameServer } from '../../support/network/dns.ts';
import { MailedApp } from '../../support/mail/mailed-app.ts';
import { secondFactorOf } from '../../support/sign-in/sign-in.ts';
import { runs } from '../../support/property-runs.ts';

const NEW_PASSWORD = 'seven purple teapots dance';

describe('invitations to a workspace', () => {
  let at: MailedApp;
  let dns: NameServer;
  let owner: TestUser;
  let admin: TestUser;
  let member: TestUser;
  let n = 0;

  beforeAll(async () => {
    dns = await NameServer.start();
    at = await MailedApp.start({ DNS_SERVERS: dns.address });
    [owner, admin, member] = await at.app.tenant('acme', 'owner', 'admin', 'member');
    await provision(at.app.served.nest, {
      tenants: [{ slug: 'acme', users: [{ email: admin.email, name: 'Admin', role: 'admin' }] }],
    });
    await at.app.readAccessChanges();
  });
  afterAll(async () => {
    await at?.stop();
    await dns?.stop();
  });

  const address = () => `new${(n += 1)}@far.example`;
  const invite = async (by: TestUser, input: object = {}) => {
    const email = address();
    const { status, body, headers } = await by.api.post('/tenant/invitations', { email, ...input });
    return { status, body, headers, email, id: body.invitation?.id as string };
  };
  const memberOf = async (email: string) =>
    (await owner.api.get('/tenant/members?limit=200')).body.members.find((row: any) => row.email === email);
  const stateOf = async (id: string) =>
    (await owner.api.get(`/tenant/invitations/${id}`)).body.invitation.state;
  const expectEnded = async (id: string) => {
    for (const [method, path] of [
      ['POST', '/resend'],
      ['DELETE', ''],
    ] as const)
      expect((await owner.api.request(method, `/tenant/invitations/${id}${path}`)).body.error).toBe(
        'invitation_ended',
      );
  };

  test('a new account joins with its role and groups, once', async () => {
    const group = (await owner.api.post('/rbac/groups', { name: 'Editors' })).body.group;
    const { status, body, headers, email, id } = await invite(owner, {
      role: 'admin',
      groups: [group.id],
      message: 'Welcome <b>',
      language: 'de',
    });
    expect(status).toBe(201);
    expect(headers.get('location')).toBe(`/apis/v1/tenant/invitations/${id}`);
    expect(body.invitation).toMatchObject({
      email,
      role: 'admin',
      groups: [group.id],
      state: 'pending',
      sent: 1,
    });
    const [mail] = await at.mailsTo(email);
    expect(mail!.subject).toContain('lädt Sie zu');
    expect(mail!.text).toContain('Welcome <b>');
    expect((await owner.api.get(`/tenant/invitations/${id}`)).body.mail).toEqual({
      state: 'sent',
      error: null,
    });

    const link = await at.linkTo(email);
    const page = await at.browser('de').open(link);
    expect(page.status).toBe(200);
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(page.headers.get('referrer-policy')).toBe('no-referrer');
    expect(page.headers.get('cache-control')).toBe('no-store');
    expect(page.html).toContain('Owner lädt Sie ein.');
    // Reading the page changes nothing.
    expect(await stateOf(id)).toBe('pending');

    const short = await at.submit(link, { name: 'Newton', new_password: 'short' });
    expect([short.status, short.html.includes('at least 12 characters')]).toEqual([422, true]);
    const unnamed = await at.submit(link, { name: ' ', new_password: NEW_PASSWORD });
    expect(unnamed.status).toBe(422);
    const joined = await at.submit(link, { name: 'Newton <i>', new_password: NEW_PASSWORD }, 'de');
    expect([joined.status, joined.html.includes('Sie sind jetzt Mitglied.')]).toEqual([200, true]);
    // Later mails are in the language of the page.
    const { user_id } = await memberOf(email);
    expect(await at.app.sql('SELECT locale FROM user_profiles WHERE user_id = $1', [user_id])).toEqual([
      { locale: 'de' },
    ]);
    expect(await memberOf(email)).toMatchObject({
      display_name: 'Newton <i>',
      role: 'admin',
      status: 'active',
    });
    expect(await stateOf(id)).toBe('accepted');
    const members = (await owner.api.get(`/rbac/groups/${group.id}/members`)).body.members;
    expect(members.map((row: any) => row.email)).toEqual([email]);
    expect((await at.browser().open(link)).status).toBe(404);
    const actions = (await owner.api.get(`/tenant/audit?object_id=${(await memberOf(email)).user_id}`)).body
      .events;
    expect(actions.map((event: any) => event.action)).toContain('user.joined');
  });

  test('parallel acceptances make one member', async () => {
    const { email, id } = await invite(owner);
    const link = await at.linkTo(email);
    const fields = { name: 'Twin', new_password: NEW_PASSWORD };
    const pages = await at.submitAtOnce(link, [fields, fields, fields, fields]);
    const statuses = pages.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    // 422: another request has created the account, so the page asks for its password.
    for (const status of statuses) expect([200, 404, 422]).toContain(status);
    expect(await stateOf(id)).toBe('accepted');
    const joins = (await owner.api.get('/tenant/audit?action=user.joined&limit=200')).body.events;
    expect(joins.filter((event: any) => event.data.invitation === id)).toHaveLength(1);
  });

  test('a member who was added meanwhile accepts without joining again', async () => {
    const { email, id } = await invite(owner, { role: 'admin' });
    const link = await at.linkTo(email);
    const users = [{ email, name: 'Vera', password: PASSWORD }];
    await provision(at.app.served.nest, { tenants: [{ slug: 'acme', users }] });
    expect((await at.submit(link, { password: PASSWORD })).status).toBe(200);
    expect([await stateOf(id), (await memberOf(email)).role]).toEqual(['accepted', 'member']);
    const { events } = (await owner.api.get('/tenant/audit?action=user.joined&limit=200')).body;
    expect(events.filter((event: any) => event.data.invitation === id)).toEqual([]);
  });

  test('an account that is opened while the invitation is accepted keeps its name and needs its own proof', async () => {
    const { email, id } = await invite(owner);
    const link = await at.linkTo(email);
    const open = (other: Client) =>
      other.query(
        `INSERT INTO accounts (id, email, email_key, display_name) VALUES (gen_random_uuid(), $1, $1, 'Other')`,
        [email],
      );
    const page = await afterChange(at.app.databaseUrl, open, () =>
      at.submit(link, { name: 'Newton', new_password: NEW_PASSWORD }),
    );
    expect([page.status, await stateOf(id)]).toEqual([422, 'pending']);
    const rows = await at.app.sql('SELECT display_name, password_hash FROM accounts WHERE email = $1', [
      email,
    ]);
    expect(rows).toEqual([{ display_name: 'Other', password_hash: null }]);
  });

  test('an existing account signs in with password and second factor', async () => {
    const email = address();
    const file = { accounts: [{ email, name: 'Vera', password: PASSWORD }] };
    const { users } = await provision(at.app.served.nest, file);
    const { recoveryCode } = await secondFactorOf(at.app, users[0]!.id);
    await owner.api.post('/tenant/invitations', { email });
    const link = await at.linkTo(email);
    const page = await at.browser().open(link);
    expect([...page.html.matchAll(/ name="(\w+)"/g)].map(([, name]) => name)).toEqual([
      'viewport',
      'robots',
      'password',
      'code',
    ]);
    const wrong = await at.submit(link, { password: 'incorrect', code: '000000' });
    expect([wrong.status, wrong.html.includes('The password is incorrect.')]).toEqual([422, true]);
    const noCode = await at.submit(link, { password: PASSWORD, code: '000000' });
    expect([noCode.status, noCode.html.includes('The code is incorrect')]).toEqual([422, true]);
    expect(await memberOf(email)).toBeUndefined();
    expect((await at.submit(link, { password: PASSWORD, code: recoveryCode })).status).toBe(200);
    expect(await memberOf(email)).toMatchObject({ display_name: 'Vera', role: 'member' });
  });

  test('an account whose second factor is a passkey proves it by a recovery code', async () => {
    const email = address();
    const file = { accounts: [{ email, name: 'Vera', password: PASSWORD }] };
    const { users } = await provision(at.app.served.nest, file);
    const { recoveryCode } = await secondFactorOf(at.app, users[0]!.id);
    await at.app.sql('DELETE FROM second_factors WHERE account_id = $1', [users[0]!.id]);
    await owner.api.post('/tenant/invitations', { email });
    const link = await at.linkTo(email);
    const guessed = await at.submit(link, { password: PASSWORD, code: '000000' });
    expect([guessed.status, guessed.html.includes('The code is incorrect')]).toEqual([422, true]);
    expect(await memberOf(email)).toBeUndefined();
    expect((await at.submit(link, { password: PASSWORD, code: recoveryCode })).status).toBe(200);
  });

  test('an account without a password sets one, with a security event', async () => {
    const email = address();
    const { users } = await provision(at.app.served.nest, { accounts: [{ email, name: 'Lea' }] });
    expect((await owner.api.post('/tenant/invitations', { email })).status).toBe(201);
    expect((await at.submit(await at.linkTo(email), { new_password: NEW_PASSWORD })).status).toBe(200);
    const events = await at.app.sql(
      `SELECT data FROM audit_log WHERE object_id = $1 AND action = 'security.password_changed'`,
      [users[0]!.id],
    );
    expect(events).toEqual([{ data: { by: 'invitation' } }]);
  });

  test('the mailbox of a look-alike address opens no account', async () => {
    const email = address();
    const { users } = await provision(at.app.served.nest, { accounts: [{ email, name: 'Lea' }] });
    const lookAlike = email.replace('new', '\uff4eew');
    expect((await owner.api.post('/tenant/invitations', { email: lookAlike })).status).toBe(201);
    const link = await at.linkTo(lookAlike);
    expect((await at.browser().open(link)).status).toBe(404);
    const page = await at.browser().open(link, {
      method: 'POST',
      body: new URLSearchParams({ new_password: NEW_PASSWORD }),
    });
    expect(page.status).toBe(404);
    const [row] = await at.app.sql('SELECT password_hash FROM accounts WHERE id = $1', [users[0]!.id]);
    expect(row.password_hash).toBeNull();
    expect(await memberOf(email)).toBeUndefined();
  });

  test('a new link replaces the earlier one; a revoked link is invalid', async () => {
    const { email, id } = await invite(owner);
    const first = await at.linkTo(email);
    expect((await owner.api.post(`/tenant/invitations/${id}/resend`)).body.invitation.sent).toBe(2);
    const second = await at.linkTo(email);
    expect((await at.browser().open(first)).status).toBe(404);
    expect((await at.browser().open(second)).status).toBe(200);
    expect((await owner.api.delete(`/tenant/invitations/${id}`)).body.invitation.state).toBe('revoked');
    expect((await at.browser().open(second)).status).toBe(404);
    await expectEnded(id);
  });

  test('each new link is valid for as many days as the first one', async () => {
    const { id } = await invite(owner, { expires_in_days: 3 });
    const daysLeft = [];
    for (let day = 0; day < 3; day += 1) {
      await at.app.sql(
        `UPDATE tenant_invitations SET created_at = created_at - interval '2 days', resent_at = resent_at - interval '2 days',
                expires_at = expires_at - interval '2 days' WHERE id = $1`,
        [id],
      );
      const { invitation } = (await owner.api.post(`/tenant/invitations/${id}/resend`)).body;
      daysLeft.push(Math.round((Date.parse(invitation.expires_at) - Date.now()) / 86_400_000));
    }
    expect(daysLeft).toEqual([3, 3, 3]);
  });

  test('a former member whose data were erased joins again by an invitation', async () => {
    const email = address();
    for (const slug of ['acme', 'elsewhere'])
      await provision(at.app.served.nest, {
        tenants: [{ slug, users: [{ email, name: 'Ada', password: PASSWORD }] }],
      });
    const { user_id: id } = await memberOf(email);
    expect((await owner.api.post(`/tenant/members/${id}/deactivate`)).status).toBe(200);
    await at.app.sql(
      `INSERT INTO personal_erasures (tenant_id, user_id, state, due_at) VALUES ($1, $2, 'pending', now())`,
      [owner.tenantId, id],
    );
    await at.app.inCells(() => at.app.get<PersonalErasureWorker>(PersonalErasureWorker).runDue());
    expect(await memberOf(email)).toBeUndefined();

    const group = (await owner.api.post('/rbac/groups', { name: 'Returned' })).body.group;
    expect((await owner.api.post('/tenant/invitations', { email, groups: [group.id] })).status).toBe(201);
    expect((await at.submit(await at.linkTo(email), { password: PASSWORD })).status).toBe(200);
    expect(await memberOf(email)).toMatchObject({ user_id: id, status: 'active', role: 'member' });
    const { members } = (await owner.api.get(`/rbac/groups/${group.id}/members`)).body;
    expect(members.map((row: any) => row.user_id)).toEqual([id]);
  });

  test('an expired invitation is invalid and is replaced', async () => {
    const { email, id } = await invite(owner);
    const link = await at.linkTo(email);
    await at.app.sql(`UPDATE tenant_invitations SET expires_at = now() - interval '1 second' WHERE id = $1`, [
      id,
    ]);
    expect((await at.browser().open(link)).status).toBe(404);
    expect(await stateOf(id)).toBe('expired');
    const expired = (await owner.api.get('/tenant/invitations?state=expired')).body.invitations;
    expect(expired.map((row: any) => row.id)).toContain(id);
    await expectEnded(id);
    expect(await stateOf(id)).toBe('expired');
    expect((await owner.api.post('/tenant/invitations', { email })).status).toBe(201);
  });

  test('a mail of a revoked invitation is not sent', async () => {
    at.relay.reject = () => Object.assign(new Error('try again later'), { responseCode: 451 });
    const { email, id } = await invite(owner);
    await at.drain();
    expect((await owner.api.delete(`/tenant/invitations/${id}`)).status).toBe(200);
    at.relay.reject = () => undefined;
    await at.app.sql('UPDATE outbox SET due_at = now() - make_interval(secs => 1)');
    expect(await at.mailsTo(email)).toEqual([]);
  });

  test('a mail whose link was replaced meanwhile is not sent', async () => {
    at.relay.reject = () => Object.assign(new Error('try again later'), { responseCode: 451 });
    const { email, id } = await invite(owner);
    await at.drain();
    at.relay.reject = () => undefined;
    expect((await owner.api.post(`/tenant/invitations/${id}/resend`)).status).toBe(200);
    await at.app.sql('UPDATE outbox SET due_at = now() - make_interval(secs => 1)');
    expect(await at.mailsTo(email)).toHaveLength(1);
    expect((await at.browser().open(await at.linkTo(email))).status).toBe(200);
  });

  test('needs the permission, and gives no permission that the inviter lacks', async () => {
    expect((await invite(member)).body.error).toBe('forbidden');
    expect((await member.api.get('/tenant/invitations')).body.error).toBe('forbidden');
    const unheld = await invite(admin, { role: 'owner' });
    expect([unheld.status, unheld.body.error]).toEqual([403, 'cannot_grant_unheld']);
    expect(unheld.body.permissions).toContain('owners.manage');
    expect((await invite(admin, { role: 'admin' })).status).toBe(201);
  });

  test('ends with the permissions of the inviter', async () => {
    const [, deputy] = await at.app.tenant('fired', 'owner', 'deputy');
    await at.app.member('fired', deputy.email, 'admin');
    await at.app.readAccessChanges();
    const { email } = await invite(deputy, { role: 'admin' });
    const link = await at.linkTo(email);
    const on = at.browser();
    const opened = await on.open(link);
    await at.app.member('fired', deputy.email, 'member');
    expect((await at.browser().open(link)).status).toBe(404);
    const page = await on.submit(opened, { name: 'Late', new_password: NEW_PASSWORD });
    expect(page.status).toBe(404);
    for (const table of ['tenant_members', 'accounts'])
      expect(await at.app.sql(`SELECT FROM ${table} WHERE email = $1`, [email])).toEqual([]);
  });

  test.each([
    [{ email: 'no address' }, 422, 'validation_failed'],
    [{ email: 'OWNER@acme.example' }, 409, 'already_member'],
    [{ email: 'x@far.example', groups: ['0199aaaa-bbbb-7ccc-8ddd-eeeeffff0000'] }, 422, 'unknown_group'],
    [{ email: 'x@far.example', expires_in_days: 61 }, 422, 'validation_failed'],
    [{ email: 'x@far.example', role: 'root' }, 422, 'validation_failed'],
  ])('%j is rejected', async (body, status, error) => {
    const response = await owner.api.post('/tenant/invitations', body);
    expect([response.status, response.body.error]).toEqual([status, error]);
  });

  test('an address has one pending invitation', async () => {
    const email = address();
    const input = { email };
    const responses = await Promise.all([1, 2, 3].map(() => owner.api.post('/tenant/invitations', input)));
    expect(responses.map(({ status }) => status).toSorted()).toEqual([201, 409, 409]);
    const upper = await owner.api.post('/tenant/invitations', { email: email.toUpperCase() });
    expect(upper.body.error).toBe('already_invited');
    expect(await at.mailsTo(email)).toHaveLength(1);
  });

  test('pages accept any text in place of a token and of a form', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ maxLength: 100 }), fc.string({ maxLength: 300 }), async (token, body) => {
        const path = `/account/invitations/${encodeURIComponent(token) || 'x'}`;
        const headers = { 'content-type': 'application/x-www-form-urlencoded' };
        const shown = await at.app.anonymous.get(path);
        const sent = await at.app.anonymous.request('POST', path, { raw: body, headers });
        for (const { status } of [shown, sent]) expect([400, 404]).toContain(status);
      }),
      { numRuns: runs(40) },
    );
  });

  describe('domains', () => {
    test('are verified by a TXT record, by one workspace', async () => {
      const { status, body } = await owner.api.post('/tenant/domains', { domain: ' Corp.Example ' });
      expect(status).toBe(201);
      const { name, value } = body.domain.txt_record;
      expect(body.domain).toMatchObject({ domain: 'corp.example', verified: false });
      const verify = (by = owner) => by.api.post('/tenant/domains/corp.example/verify');
      expect((await verify()).body.error).toBe('domain_not_verified');
      dns.records.set(name, ['other', `${value}x`]);
      expect((await verify()).body.error).toBe('domain_not_verified');
      dns.records.set(name, ['v=spf1 -all', value]);
      expect((await verify()).body.domain).toMatchObject({ verified: true });
      expect((await owner.api.get('/tenant')).body.tenant.domains).toContainEqual({
        domain: 'corp.example',
        verified: true,
      });
      const [rival] = await at.app.tenant('rival', 'rival');
      const theirs = (await rival.api.post('/tenant/domains', { domain: 'corp.example' })).body.domain;
      dns.records.get(name)!.push(theirs.txt_record.value);
      expect((await verify(rival)).body.error).toBe('domain_taken');
      expect((await verify(member)).body.error).toBe('forbidden');
      expect((await owner.api.post('/tenant/domains/unknown.example/verify')).status).toBe(404);
      expect((await owner.api.delete('/tenant/domains/corp.example')).status).toBe(200);
      expect((await verify(rival)).body.domain.verified).toBe(true);
    });

    test('have one spelling, that of DNS', async () => {
      const [boss] = await at.app.tenant('idn', 'boss');
      const add = (domain: string) => boss.api.post('/tenant/domains', { domain });
      const { domain } = (await add('BÜCHER.example')).body;
      expect(domain.domain).toBe('xn--bcher-kva.example');
      expect((await add('xn--bcher-kva.example')).body.domain).toEqual(domain);
      for (const text of ['b\u00fccher.example/x', 'me@b\u00fccher.example', 'b\u00fccher'])
        expect([text, (await add(text)).status]).toEqual([text, 422]);

      dns.records.set(domain.txt_record.name, [domain.txt_record.value]);
      const path = `/tenant/domains/${encodeURIComponent('bücher.example')}`;
      expect((await boss.api.post(`${path}/verify`)).body.domain).toMatchObject({ verified: true });
      await boss.api.put('/tenant/policy', { domain_join: true });
      await at.submit(`${at.app.base}/apis/v1/account/join`, { email: 'jo@bücher.example' });
      expect(await at.mailsTo('jo@bücher.example')).toHaveLength(1);
      expect((await boss.api.delete(path)).status).toBe(200);

      // Earlier versions stored what the caller wrote.
      const insert = `INSERT INTO tenant_domains (tenant_id, domain, challenge) VALUES ($1, 'straße.example', 'x')`;
      await at.app.sql(insert, [boss.tenantId]);
      expect((await boss.api.delete('/tenant/domains/xn--strae-oqa.example')).status).toBe(200);
      expect(JSON.stringify((await boss.api.get('/tenant/domains')).body)).not.toContain('stra');
    });

    test('belong to one workspace in all spellings, also in that of an earlier version', async () => {
      const [boss] = await at.app.tenant('idn-old', 'boss');
      const [rival] = await at.app.tenant('idn-rival', 'rival');
      await at.app.sql(
        `INSERT INTO tenant_domains (tenant_id, domain, verified_at) VALUES ($1, 'müller.example', now())`,
        [boss.tenantId],
      );
      const { domain } = (await rival.api.post('/tenant/domains', { domain: 'müller.example' })).body;
      dns.records.set(domain.txt_record.name, [domain.txt_record.value]);
      const taken = await rival.api.post(`/tenant/domains/${domain.domain}/verify`);
      expect([taken.status, taken.body.error]).toEqual([409, 'domain_taken']);
      const domains = at.app.get(TenantDomains);
      for (const name of ['müller.example', domain.domain])
        expect(await domains.ownerOf(`jo@${name}`)).toBe(boss.tenantId);
    });

    test('links that visitors request for a domain take no place of invitations by administrators', async () => {
      const [boss] = await at.app.tenant('crowded', 'boss');
      await at.app.sql(
        `INSERT INTO tenant_invitations (tenant_id, id, email, email_key, role, language, expires_at)
         SELECT $1, gen_random_uuid(), n || '@crowd.example', n || '@crowd.example', 'member', 'en', now() + interval '1 day'
           FROM generate_series(1, 1000) AS n`,
        [boss.tenantId],
      );
      const { status } = await boss.api.post('/tenant/invitations', { email: address() });
      expect(status).toBe(201);
    });

    test('a link that a visitor requested again is resent for one day', async () => {
      const [boss] = await at.app.tenant('resent', 'boss');
      await provision(at.app.served.nest, { tenants: [{ slug: 'resent', domains: ['resent.example'] }] });
      await boss.api.put('/tenant/policy', { domain_join: true });
      const email = 'jo@resent.example';
      const request = () => at.submit(`${at.app.base}/apis/v1/account/join`, { email });
      await request();
      expect(await at.mailsTo(email)).toHaveLength(1);
      await at.app.sql(
        `UPDATE tenant_invitations SET created_at = created_at - interval '5 days', expires_at = now() + interval '1 hour'
          WHERE tenant_id = $1`,
        [boss.tenantId],
      );
      await request();
      expect(await at.mailsTo(email)).toHaveLength(2);
      const [{ id }] = (await boss.api.get('/tenant/invitations')).body.invitations;
      const { invitation } = (await boss.api.post(`/tenant/invitations/${id}/resend`)).body;
      expect(Math.round((Date.parse(invitation.expires_at) - Date.now()) / 86_400_000)).toBe(1);
    });

    test('that the operator adds are verified, also those that wait for their TXT record', async () => {
      const [boss] = await at.app.tenant('operated', 'boss');
      await boss.api.post('/tenant/domains', { domain: 'operated.example' });
      await provision(at.app.served.nest, { tenants: [{ slug: 'operated', domains: ['operated.example'] }] });
      const { domains } = (await boss.api.get('/tenant/domains')).body;
      expect(domains).toMatchObject([{ domain: 'operated.example', verified: true }]);
    });

    test('that another workspace has verified are not added by the operator', async () => {
      const [boss] = await at.app.tenant('first', 'boss');
      const operate = (slug: string, ...domains: string[]) => {
        const file = ProvisionFile.parse(JSON.stringify({ tenants: [{ slug, users: null, domains }] }));
        return provision(at.app.served.nest, file);
      };
      await operate('first', 'own.example', 'Grüße.example');
      await expect(operate('second', 'free.example', 'own.example')).rejects.toThrow(
        'Another workspace has verified the domain own.example.',
      );
      await expect(operate('second', 'xn--gre-6ka8l.example')).rejects.toThrow('Another workspace');
      expect(await at.app.sql(`SELECT FROM tenants WHERE slug = 'second'`)).toEqual([]);
      // The same file may be applied again. A domain that was removed is free.
      await operate('first', 'own.example', 'grüße.example');
      expect((await boss.api.get('/tenant/domains')).body.domains.map((row: any) => row.domain)).toEqual([
        'own.example',
        'xn--gre-6ka8l.example',
      ]);
      await boss.api.delete('/tenant/domains/own.example');
      await operate('second', 'own.example');
      expect(await at.app.get(TenantDomains).ownerOf('jo@own.example')).not.toBe(boss.tenantId);
      expect(() => operate('second', '\u200d.example')).toThrow('tenants.0.domains');
    });

    test('a name server without a response is a 503', async () => {
      await owner.api.post('/tenant/domains', { domain: 'slow.example' });
      dns.hangs = true;
      const { status, body } = await owner.api.post('/tenant/domains/slow.example/verify');
      dns.hangs = false;
      expect([status, body.error]).toEqual([503, 'dns_unavailable']);
    });

    test('owners of an address in a verified domain join by themselves, if the policy allows it', async () => {
      const [boss] = await at.app.tenant('selfjoin', 'boss');
      const { domain } = (await boss.api.post('/tenant/domains', { domain: 'joiners.example' })).body;
      dns.records.set(domain.txt_record.name, [domain.txt_record.value]);
      await boss.api.post('/tenant/domains/joiners.example/verify');
      const request = (email: string) => at.submit(`${at.app.base}/apis/v1/account/join`, { email });
      const sent = await request('early@joiners.example');
      expect([sent.status, sent.html.includes('Check your mailbox')]).toEqual([200, true]);
      expect(await at.mailsTo('early@joiners.example')).toEqual([]);

      await boss.api.put('/tenant/policy', { domain_join: true });
      const outside = await request('jo@elsewhere.example');
      const inside = await request('jo@joiners.example');
      expect(inside.html.replace('jo@joiners.example', '')).toBe(
        outside.html.replace('jo@elsewhere.example', ''),
      );
      expect(await at.mailsTo('jo@elsewhere.example')).toEqual([]);
      const link = await at.linkTo('jo@joiners.example');
      expect((await at.submit(link, { name: 'Jo', new_password: NEW_PASSWORD })).status).toBe(200);
      const members = (await boss.api.get('/tenant/members')).body.members;
      expect(members).toContainEqual(
        expect.objectContaining({ email: 'jo@joiners.example', role: 'member' }),
      );
      // The link in a mailbox opens an account with the address of this mailbox, not with that of an earlier request.
      await request('new@joiners.example');
      const lookAlike = '\uff4eew@joiners.example';
      await request(lookAlike);
      expect((await at.browser().open(await at.linkTo(lookAlike))).html).toContain(lookAlike);
      // An invitation by an administrator replaces a link that a visitor requested.
      await request('kim@joiners.example');
      const requested = await at.linkTo('kim@joiners.example');
      const invitation = { email: 'kim@joiners.example', role: 'admin' };
      expect((await boss.api.post('/tenant/invitations', invitation)).status).toBe(201);
      expect((await at.browser().open(requested)).status).toBe(404);
      const invited = await at.linkTo('kim@joiners.example');
      expect((await at.submit(invited, { name: 'Kim', new_password: NEW_PASSWORD })).status).toBe(200);
      expect((await boss.api.get('/tenant/members')).body.members).toContainEqual(
        expect.objectContaining({ email: 'kim@joiners.example', role: 'admin' }),
      );
      // A link that was sent before the policy changed is invalid.
      await request('late@joiners.example');
      const late = await at.linkTo('late@joiners.example');
      await boss.api.put('/tenant/policy', { domain_join: false });
      expect((await at.browser().open(late)).status).toBe(404);
    });
  });
});
