import { Config } from '../../../src/config/config.js';
import { AccountRecovery } from '../../../src/modules/account-security/index.js';
import { TenantPolicies } from '../../../src/modules/tenants/index.js';
import { provision } from '../../../src/provision/provision.js';
import type { TestApp } from '../../support/app.ts';
import { session } from '../../support/sign-in/account.ts';
import { Browser, RelyingParty, type Shown } from '../../support/sign-in/relying-party.ts';
import { clientFile, PASSWORD, secondFactorOf, startSignIn } from '../../support/sign-in/sign-in.ts';
import { Authenticator } from '../../support/sign-in/totp.ts';
import { SoftPasskey } from '../../support/sign-in/webauthn.ts';

const unescape = (text: string) =>
  text.replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&amp;', '&');

describe('a second factor that the workspace requires, at sign-in', () => {
  let app: TestApp;
  let ours: RelyingParty;
  let n = 0;

  beforeAll(async () => {
    app = await startSignIn({ OIDC_CLIENTS: clientFile() }, 'localhost');
    ours = await RelyingParty.discover(app, 'ours', { base: app.get<Config>(Config).publicUrl });
  });
  afterAll(() => app?.stop());

  const browser = (language = 'en') => new Browser(ours.base, { 'accept-language': language });
  const headingOf = ({ html }: Shown) => /<h1>([^<]*)</.exec(html)?.[1];
  const alertOf = ({ html }: Shown) => /role="alert" id="alert">([^<]*)/.exec(html)?.[1];
  const secretOf = ({ html }: Shown) => /<code id="secret">([^<]*)</.exec(html)?.[1]?.replaceAll(' ', '');
  const codesOf = ({ html }: Shown) => [...html.matchAll(/<li><code>([^<]*)</g)].map(([, code]) => code!);
  const optionsOf = ({ html }: Shown) => JSON.parse(unescape(/data-options="([^"]*)"/.exec(html)![1]!));
  const stepsOf = ({ html }: Shown) => [...html.matchAll(/name="step"\s+value="(\w+)"/g)].map(([, s]) => s);

  /** A member of new workspaces. */
  const member = async (workspaces = 1) => {
    n += 1;
    const user = { email: `enrol${n}@people.example`, name: 'Enrol', password: PASSWORD };
    const slugs = Array.from({ length: workspaces }, (_, k) => `enrol-${n}-${k}`);
    const tenants = slugs.map((slug) => ({ slug, name: `Work ${slug}`, users: [user] }));
    const { users } = await provision(app.served.nest, { tenants });
    return { email: user.email, id: users[0]!.id, slugs, tenantIds: users.map((each) => each.tenant_id!) };
  };
  const require = async (tenantId: string, graceDays = 0) => {
    await app.sql(
      `INSERT INTO tenant_policies (tenant_id, second_factor_required, second_factor_grace_days, second_factor_since)
       VALUES ($1, true, $2, now())`,
      [tenantId, graceDays],
    );
    app.get<TenantPolicies>(TenantPolicies).forget(tenantId);
  };
  /** A member of a workspace that requires a second factor. */
  const closed = async () => {
    const user = await member();
    await require(user.tenantIds[0]!);
    return user;
  };
  const afterPassword = async (email: string, on = browser()) => {
    const begun = await ours.begin();
    const page = await on.submit(await on.open(begun.url), { email, password: PASSWORD, step: 'password' });
    return { on, begun, page };
  };
  const enable = (on: Browser, page: Shown, code: string) => on.submit(page, { step: 'enrol_code', code });

  test('is enabled with an authenticator application, and is in force afterwards', async () => {
    const user = await closed();
    const { on, begun, page } = await afterPassword(user.email);
    expect([page.status, headingOf(page)]).toEqual([200, 'Set up two-step sign-in']);
    expect(page.html).toContain(`Work ${user.slugs[0]} requires a second step`);
    expect(page.html).toContain('<svg');
    expect(page.html).toContain(`otpauth://totp/Workspace:${encodeURIComponent(user.email)}?`);
    const authenticator = new Authenticator(secretOf(page)!);

    const wrong = await enable(on, page, authenticator.wrong());
    expect([wrong.status, alertOf(wrong)]).toEqual([422, expect.stringContaining('code is incorrect')]);
    expect(secretOf(wrong)).toBe(secretOf(page));
    const missing = await enable(on, wrong, ' ');
    expect([missing.status, alertOf(missing)]).toEqual([422, 'Enter the code.']);
    const reloaded = await on.open(missing.url);
    expect(secretOf(reloaded)).toBe(secretOf(page));

    const shown = await enable(on, reloaded, authenticator.code());
    expect([shown.status, headingOf(shown)]).toEqual([200, 'Save your recovery codes']);
    const codes = codesOf(shown);
    expect(codes).toHaveLength(10);
    // The page shows them once.
    const again = await on.open(shown.url);
    expect([headingOf(again), codesOf(again)]).toEqual(['Two-step sign-in is on', []]);
    expect(codesOf(await enable(on, again, authenticator.code()))).toEqual([]);

    const after = await on.submit(again, { step: 'enrol_done' });
    const tokens = await ours.finish(after.url, begun);
    expect(tokens.claims()).toMatchObject({ sub: user.id, amr: ['pwd', 'otp', 'mfa'] });
    const api = app.as(tokens.access_token);
    expect((await api.get('/notes')).status).toBe(200);
    const { body } = await api.get('/settings/security');
    expect(body.sessions.find(({ current }: any) => current).second_factor).toBe(true);
    const logged = await app.sql(
      `SELECT action FROM audit_log WHERE object_id = $1 AND action LIKE 'security.second_factor%'`,
      [user.id],
    );
    expect(logged.map(({ action }) => action)).toContain('security.second_factor_enabled');

    const next = await afterPassword(user.email);
    expect(headingOf(next.page)).toBe('Enter your code');
    const recovery = await next.on.submit(next.page, { step: 'recovery' });
    const done = await next.on.submit(recovery, { step: 'code', recovery_code: codes[3]! });
    expect((await ours.finish(done.url, next.begun)).claims()!['amr']).toEqual(['pwd', 'mca', 'mfa']);
  });

  test('is enabled with a passkey', async () => {
    const user = await closed();
    const { on, begun, page } = await afterPassword(user.email);
    const none = await on.submit(page, { step: 'enrol_passkey', credential: '' });
    expect([none.status, alertOf(none)]).toEqual([422, expect.stringContaining('No passkey was used')]);
    for (const credential of ['{', '{}', '"x"']) {
      const invalid = await on.submit(none, { step: 'enrol_passkey', credential });
      expect([invalid.status, alertOf(invalid)]).toEqual([422, expect.stringContaining('was not accepted')]);
    }
    const key = new SoftPasskey(ours.base);
    const credential = JSON.stringify(key.create(optionsOf(await on.open(page.url))));
    const shown = await on.submit(page, { step: 'enrol_passkey', credential });
    expect(codesOf(shown)).toHaveLength(10);
    const after = await on.submit(shown, { step: 'enrol_done' });
    const tokens = await ours.finish(after.url, begun);
    expect(tokens.claims()!['amr']).toEqual(['pwd', 'pop', 'mfa']);
    expect((await app.as(tokens.access_token).get('/notes')).status).toBe(200);
  });

  test.each<[string, (page: Shown, key: SoftPasskey) => Record<string, string>]>([
    [
      'an authenticator application',
      (page) => ({ step: 'enrol_code', code: new Authenticator(secretOf(page)!).code() }),
    ],
    [
      'a passkey',
      (page, key) => ({ step: 'enrol_passkey', credential: JSON.stringify(key.create(optionsOf(page))) }),
    ],
  ])('does not add %s once the account has a second factor', async (_, fields) => {
    const user = await closed();
    const { on, page } = await afterPassword(user.email);
    const owner = await session(app, {
      ...user,
      tenantId: user.tenantIds[0]!,
      token: '',
      api: app.anonymous,
    });
    const path = '/settings/security/passkeys';
    const { public_key: options } = (await owner.api.post(`${path}/options`, { password: PASSWORD })).body;
    const credential = new SoftPasskey(ours.base).create(options);
    expect((await owner.api.post(path, { name: 'Phone', credential })).status).toBe(201);
    const after = await on.submit(page, fields(page, new SoftPasskey(ours.base)));
    expect([codesOf(after), after.html.includes('name="password"')]).toEqual([[], true]);
    expect((await owner.api.get(path)).body.passkeys).toHaveLength(1);
    expect(
      await app.sql(`SELECT FROM second_factors WHERE account_id = $1 AND state = 'active'`, [user.id]),
    ).toEqual([]);
    const again = await on.submit(after, { email: user.email, password: PASSWORD, step: 'password' });
    expect(headingOf(again)).toBe('Confirm with your passkey');
  });

  test.each([true, false])(
    'ends with a change of the password (second factor enabled: %s)',
    async (isEnabled) => {
      const user = await closed();
      const factor = isEnabled ? await secondFactorOf(app, user.id) : null;
      const { on, page } = await afterPassword(user.email);
      await app.get<AccountRecovery>(AccountRecovery).setPassword(user.id, 'seven purple teapots dance');
      const authenticator = factor?.authenticator ?? new Authenticator(secretOf(page)!);
      const after = await on.submit(page, {
        step: isEnabled ? 'code' : 'enrol_code',
        code: authenticator.code(),
      });
      expect([after.status, codesOf(after), after.html.includes('name="password"')]).toEqual([200, [], true]);
      expect((await on.open(page.url)).html).toContain('name="password"');
    },
  );

  test.each([
    ['en', 'Set up two-step sign-in', 'I have saved the codes'],
    ['de', 'Zwei-Schritt-Anmeldung einrichten', 'Ich habe die Codes gespeichert'],
    ['pt', 'Configure a verificação em duas etapas', 'Guardei os códigos'],
    ['vi', 'Thiết lập đăng nhập hai bước', 'Tôi đã lưu các mã'],
  ])('has pages in the language %s', async (language, heading, button) => {
    const user = await closed();
    const { on, page } = await afterPassword(user.email, browser(language));
    expect([headingOf(page), /<html lang="(\w+)"/.exec(page.html)![1]]).toEqual([heading, language]);
    const shown = await enable(on, page, new Authenticator(secretOf(page)!).code());
    expect(shown.html).toContain(button);
    for (const { html } of [page, shown])
      expect(
        html.replace(/<(style|script)[^]*?<\/\1>/g, '').replaceAll(/data-options="[^"]*"/g, ''),
      ).not.toMatch(/\{\w+\}/);
  });

  test.each<{ step: string } & Record<string, string>>([
    { step: 'credential', credential: '{}' },
    { step: 'code', code: '' },
    { step: 'totp' },
  ])('shows its page again after a step of another tab: $step', async (fields) => {
    const user = await closed();
    const { on, page } = await afterPassword(user.email);
    const after = await on.submit(page, fields);
    expect([headingOf(after), secretOf(after)]).toEqual(['Set up two-step sign-in', secretOf(page)]);
  });

  test('is not offered before the end of the grace, nor without such a rule', async () => {
    const free = await member();
    const graced = await member();
    await require(graced.tenantIds[0]!, 3);
    for (const { email } of [free, graced]) {
      const { begun, page } = await afterPassword(email);
      expect((await ours.finish(page.url, begun)).claims()!['amr']).toEqual(['pwd']);
    }
  });

  test('can be skipped for the other workspaces of the user only', async () => {
    const user = await member(2);
    await require(user.tenantIds[0]!);
    const { on, begun, page } = await afterPassword(user.email);
    expect(stepsOf(page)).toContain('enrol_skip');
    const choice = await on.submit(page, { step: 'enrol_skip' });
    expect(headingOf(choice)).toBe('Choose a workspace');
    const after = await on.submit(choice, { step: 'consent', workspace: user.tenantIds[1]! });
    const { access_token: token } = await ours.finish(after.url, begun);
    expect((await app.as(token).get('/notes')).status).toBe(200);
    // The workspace that requires it stays closed.
    const other = await afterPassword(user.email);
    const chosen = await other.on.submit(await other.on.submit(other.page, { step: 'enrol_skip' }), {
      step: 'consent',
      workspace: user.tenantIds[0]!,
    });
    const shut = await ours.finish(chosen.url, other.begun);
    expect((await app.as(shut.access_token).get('/notes')).body.error).toBe(
      'second_factor_enrolment_required',
    );
  });

  test('cannot be passed by forged steps', async () => {
    const user = await closed();
    const { on, page } = await afterPassword(user.email);
    expect(stepsOf(page)).not.toContain('enrol_skip');
    for (const step of ['enrol_skip', 'enrol_done', 'consent', 'code', 'totp', 'recovery', 'passkey', 'x']) {
      const forged = await on.submit(page, { step });
      expect([step, forged.status === 0 || /[?&]code=/.test(forged.url)]).toEqual([step, false]);
    }
    const [account] = await app.sql('SELECT second_factor_since FROM accounts WHERE id = $1', [user.id]);
    expect(account.second_factor_since).toBeNull();
  });

  test('does not show the secret of another sign-in of the account', async () => {
    const user = await closed();
    const first = await afterPassword(user.email);
    const second = await afterPassword(user.email);
    const reloaded = await first.on.open(first.page.url);
    expect([headingOf(reloaded), secretOf(reloaded)]).toEqual(['Sign in', undefined]);
    expect(reloaded.html).not.toContain(secretOf(second.page)!);
    // The first user can start again, with a secret of its own.
    const restarted = await first.on.submit(reloaded, {
      email: user.email,
      password: PASSWORD,
      step: 'password',
    });
    expect(new Set([first.page, second.page, restarted].map(secretOf)).size).toBe(3);
  });

  test('is enabled once by parallel submissions', async () => {
    const user = await closed();
    const { on, page } = await afterPassword(user.email);
    const code = new Authenticator(secretOf(page)!).code();
    const shown = await Promise.all([1, 2, 3, 4].map(() => enable(on, page, code)));
    expect(shown.filter((each) => codesOf(each).length === 10)).toHaveLength(1);
    expect(shown.map(({ status }) => status)).not.toContain(500);
    const [{ count }] = await app.sql('SELECT count(*)::int FROM recovery_codes WHERE account_id = $1', [
      user.id,
    ]);
    expect(count).toBe(10);
  });

  test('locks after five wrong codes', async () => {
    const user = await closed();
    const { on, page } = await afterPassword(user.email);
    const authenticator = new Authenticator(secretOf(page)!);
    for (let k = 0; k < 5; k += 1) expect((await enable(on, page, authenticator.wrong(k))).status).toBe(422);
    const locked = await enable(on, page, authenticator.code());
    expect([locked.status, headingOf(locked)]).toEqual([429, 'Too many attempts']);
  });

  test('is offered to a browser that is signed in already', async () => {
    const user = await member();
    const { on, begun, page } = await afterPassword(user.email);
    await ours.finish(page.url, begun);
    expect((await on.open((await ours.begin()).url)).status).toBe(0);
    await require(user.tenantIds[0]!);
    const silent = await on.open((await ours.begin({ prompt: 'none' })).url);
    expect(new URL(silent.url).searchParams.get('error')).toBe('login_required');
    const again = await ours.begin();
    const password = await on.open(again.url);
    expect(headingOf(password)).toBe('Sign in');
    const enrol = await on.submit(password, { email: user.email, password: PASSWORD, step: 'password' });
    const shown = await enable(on, enrol, new Authenticator(secretOf(enrol)!).code());
    const after = await on.submit(shown, { step: 'enrol_done' });
    expect((await ours.finish(after.url, again)).claims()!['amr']).toEqual(['pwd', 'otp', 'mfa']);
    // This browser stays signed in.
    const silently = await ours.begin({ prompt: 'none' });
    const tokens = await ours.finish((await on.open(silently.url)).url, silently);
    expect((await app.as(tokens.access_token).get('/notes')).status).toBe(200);
  });
});
