import { decodeJwt, decodeProtectedHeader } from 'jose';
import * as client from 'openid-client';
import { IdentityApi } from '../../../src/modules/identity/index.js';
import { Db } from '../../../src/platform/database/db.js';
import { TenantsApi } from '../../../src/modules/tenants/index.js';
import type { TestApp } from '../../support/app.ts';
import { REDIRECT, RelyingParty } from '../../support/sign-in/relying-party.ts';
import {
  browser,
  clientFile,
  PASSWORD,
  secondFactorOf,
  newUser,
  startSignIn,
} from '../../support/sign-in/sign-in.ts';
import { until } from '../../support/until.ts';

describe('signing in with a browser', () => {
  let app: TestApp;
  let ours: RelyingParty;
  let theirs: RelyingParty;
  let n = 0;

  beforeAll(async () => {
    app = await startSignIn({ OIDC_CLIENTS: clientFile() });
    ours = await RelyingParty.discover(app, 'ours');
    theirs = await RelyingParty.discover(app, 'theirs');
  });
  afterAll(() => app?.stop());

  const person = (...slugs: string[]) => newUser(app, `person${(n += 1)}`, ...slugs);
  const notes = async (token: string) => (await app.as(token).get('/notes')).status;
  const ended = async (token: string) => {
    await app.readAccessChanges();
    await until('the token to end', async () => (await notes(token)) === 401);
  };
  const rejected = async (attempt: Promise<unknown>) => {
    const error: any = await attempt.then(
      () => null,
      (reason: unknown) => reason,
    );
    return error?.error ?? error;
  };
  /** The page after the password, for a sign-in with further steps. */
  const afterPassword = async (party: RelyingParty, email: string, extra = {}, on = browser(app)) => {
    const begun = await party.begin(extra);
    const page = await on.submit(await on.open(begun.url), { email, password: PASSWORD, step: 'password' });
    return { begun, page, on };
  };

  describe('the tokens', () => {
    test('give access to the API and identify the user', async () => {
      const alice = await person('acme');
      const tokens = await ours.signIn(browser(app), alice.email, PASSWORD);
      expect(tokens.claims()).toMatchObject({ sub: alice.id, email: alice.email, email_verified: true });
      expect(tokens.expires_in).toBe(3600);
      expect(decodeProtectedHeader(tokens.access_token)).toMatchObject({ typ: 'at+jwt', alg: 'ES256' });
      expect(decodeJwt(tokens.access_token)).toMatchObject({
        iss: `${app.base}/apis/v1/oidc`,
        aud: 'workspace',
        sub: alice.id,
        tid: alice.tenantIds[0],
        client_id: 'ours',
        scope: 'workspace',
        sid: expect.any(String),
      });
      expect(await notes(tokens.access_token)).toBe(200);
      expect(await ours.userInfo(tokens.access_token, alice.id)).toMatchObject({
        sub: alice.id,
        email: alice.email,
      });
    });

    test('are not valid for the API without its scope', async () => {
      const alice = await person('acme');
      const tokens = await ours.signIn(browser(app), alice.email, PASSWORD, {
        scope: 'openid email something',
      });
      expect(await notes(tokens.access_token)).toBe(401);
      expect(await ours.userInfo(tokens.access_token, alice.id)).toEqual(
        expect.objectContaining({ sub: alice.id, email: alice.email }),
      );
    });

    test('stay valid after a refresh that is refused', async () => {
      const alice = await person('acme');
      const tokens = await ours.signIn(browser(app), alice.email, PASSWORD);
      const refused: Record<string, string>[] = [
        { scope: 'openid' },
        { scope: 'email' },
        { scope: 'openid', resource: `${app.base}/apis/v1` },
        { resource: 'https://other.example/' },
      ];
      for (const extra of refused)
        expect(await rejected(client.refreshTokenGrant(ours.config, tokens.refresh_token!, extra))).toBe(
          'resource' in extra && !('scope' in extra) ? 'invalid_target' : 'invalid_scope',
        );
      const next = await ours.refresh(tokens.refresh_token!);
      expect(await notes(next.access_token)).toBe(200);
      const narrow = await client.refreshTokenGrant(ours.config, next.refresh_token!, { scope: 'workspace' });
      expect(await notes(narrow.access_token)).toBe(200);
    });

    test('are not requested with scopes for which there are none', async () => {
      for (const scope of ['profile', 'profile email']) {
        // A nonce needs the scope `openid`.
        const back = await browser(app).open((await ours.begin({ scope, nonce: '' })).url);
        expect([back.status, new URL(back.url).searchParams.get('error')]).toEqual([0, 'invalid_scope']);
      }
      const url = new URL((await ours.begin({ nonce: '' })).url);
      url.searchParams.delete('scope');
      const back = await browser(app).open(url.href);
      expect([back.status, new URL(back.url).searchParams.get('error')]).toEqual([0, 'invalid_scope']);
    });

    test('name no workspace for a user without one', async () => {
      const loner = await person();
      const tokens = await ours.signIn(browser(app), loner.email, PASSWORD);
      expect(decodeJwt(tokens.access_token)['tid']).toBeUndefined();
      expect(await notes(tokens.access_token)).toBe(403);
    });

    test('are listed, and logged, as a session of the client', async () => {
      const alice = await person('acme');
      const tokens = await ours.signIn(browser(app, { 'user-agent': 'Test/1' }), alice.email, PASSWORD);
      const sid = decodeJwt(tokens.access_token)['sid'];
      const [session] = await app.sql('SELECT * FROM sessions WHERE id = $1', [sid]);
      expect(session).toMatchObject({
        client_id: 'ours',
        user_agent: 'Test/1',
        ip: '127.0.0.1',
        aal2_at: null,
      });
      const [entry] = await app.sql('SELECT * FROM audit_log WHERE session_id = $1', [sid]);
      expect(entry).toMatchObject({
        action: 'identity.session.opened',
        actor_id: alice.id,
        tenant_id: alice.tenantIds[0],
      });
    });
  });

  describe('the code', () => {
    test('needs its verifier', async () => {
      const alice = await person('acme');
      const { begun, page } = await afterPassword(ours, alice.email);
      const other = await ours.begin();
      expect(await rejected(ours.finish(page.url, { ...begun, verifier: other.verifier }))).toBe(
        'invalid_grant',
      );
    });

    test('cannot be requested without a challenge, nor with a plain one', async () => {
      const extras: Record<string, string>[] = [
        { code_challenge: '', code_challenge_method: '' },
        { code_challenge_method: 'plain' },
      ];
      for (const extra of extras) {
        const { url } = await ours.begin(extra);
        const back = await browser(app).open(url);
        expect([back.status, new URL(back.url).searchParams.get('error')]).toEqual([0, 'invalid_request']);
      }
    });

    test('works once; a second use ends its grant', async () => {
      const alice = await person('acme');
      const { begun, page } = await afterPassword(ours, alice.email);
      const tokens = await ours.finish(page.url, begun);
      expect(await notes(tokens.access_token)).toBe(200);
      expect(await rejected(ours.finish(page.url, begun))).toBe('invalid_grant');
      await ended(tokens.access_token);
      expect(await rejected(ours.refresh(tokens.refresh_token!))).toBe('invalid_grant');
    });

    test('goes to registered addresses of its client only', async () => {
      for (const uri of [
        `${REDIRECT}/`,
        'https://evil.example/callback',
        `${REDIRECT}?x=1`,
        'javascript:alert(1)',
      ]) {
        const page = await browser(app).open((await ours.begin({ redirect_uri: uri })).url);
        expect([uri, page.status, page.form]).toEqual([uri, 400, null]);
        expect(page.html).not.toContain('javascript:');
      }
      const alice = await person('acme');
      const { begun, page } = await afterPassword(ours, alice.email);
      expect(await rejected(theirs.finish(page.url, begun))).toBe('invalid_grant');
    });
  });

  describe('the refresh token', () => {
    test('rotates, and its grant ends when an old one is used again', async () => {
      const alice = await person('acme');
      const first = await ours.signIn(browser(app), alice.email, PASSWORD);
      const second = await ours.refresh(first.refresh_token!);
      expect(second.refresh_token).not.toBe(first.refresh_token);
      const third = await ours.refresh(second.refresh_token!);
      expect(await notes(third.access_token)).toBe(200);
      expect(await rejected(ours.refresh(first.refresh_token!))).toBe('invalid_grant');
      expect(await rejected(ours.refresh(third.refresh_token!))).toBe('invalid_grant');
      await ended(third.access_token);
    });

    test('is stored as a hash', async () => {
      const alice = await person('acme');
      const { refresh_token: token } = await ours.signIn(browser(app), alice.email, PASSWORD);
      const rows = await app.sql<{ row: string }>('SELECT r::text AS row FROM oidc_records r');
      expect(rows.length).toBeGreaterThan(0);
      expect(rows.filter(({ row }) => row.includes(token!))).toEqual([]);
    });

    test('revoked, ends the sign-in', async () => {
      const alice = await person('acme');
      const tokens = await ours.signIn(browser(app), alice.email, PASSWORD);
      await ours.revoke(tokens.refresh_token!);
      await ended(tokens.access_token);
      expect(await rejected(ours.refresh(tokens.refresh_token!))).toBe('invalid_grant');
    });

    test.each([
      ['everything is signed out', (id: string) => app.get<IdentityApi>(IdentityApi).revokeSessions(id)],
      [
        'the account is closed',
        (id: string) => app.get<Db>(Db).tx((tx) => app.get<IdentityApi>(IdentityApi).deactivate(tx, id)),
      ],
      [
        'its owner leaves the workspace',
        (id: string) =>
          app.get<Db>(Db).tx(async (tx) => {
            await app.get<TenantsApi>(TenantsApi).endMemberships(tx, id);
            await app.get<IdentityApi>(IdentityApi).recordAccessChange(tx, id);
          }),
      ],
    ])('is invalid once %s', async (_, end) => {
      const alice = await person('acme');
      const tokens = await ours.signIn(browser(app), alice.email, PASSWORD);
      await end(alice.id);
      expect(await rejected(ours.refresh(tokens.refresh_token!))).toBe('invalid_grant');
      await ended(tokens.access_token);
    });
  });

  describe('the browser', () => {
    test('is signed in for the next client, which asks only for the workspace', async () => {
      const alice = await person('acme');
      const on = browser(app);
      await ours.signIn(on, alice.email, PASSWORD);
      const again = await ours.begin();
      const back = await on.open(again.url);
      expect((await ours.finish(back.url, again)).claims()?.sub).toBe(alice.id);
    });

    test('keeps the time of its sign-in in later sessions, until it signs in again', async () => {
      const alice = await person('acme');
      const on = browser(app);
      const signInOf = async (token: string) => {
        const [row] = await app.sql('SELECT signed_in_at AS at FROM sessions WHERE id = $1', [
          decodeJwt(token)['sid'],
        ]);
        return Number(row.at);
      };
      const first = await signInOf((await ours.signIn(on, alice.email, PASSWORD)).access_token);
      const silent = await ours.begin();
      const second = await ours.finish((await on.open(silent.url)).url, silent);
      expect(await signInOf(second.access_token)).toBe(first);
      const { begun, page } = await afterPassword(ours, alice.email, { prompt: 'login' }, on);
      const third = await ours.finish(page.url, begun);
      expect(await signInOf(third.access_token)).toBeGreaterThan(first);
    });

    test('signs in again after a global sign-out, or after one of its grants was ended', async () => {
      const alice = await person('acme');
      const on = browser(app);
      await ours.signIn(on, alice.email, PASSWORD);
      await app.get<IdentityApi>(IdentityApi).revokeSessions(alice.id);
      expect((await on.open((await ours.begin()).url)).html).toContain('name="password"');
      const tokens = await ours.signIn(on, alice.email, PASSWORD);
      expect((await on.open((await ours.begin()).url)).status).toBe(0);
      await app.sql('UPDATE sessions SET revoked_at = now() WHERE id = $1', [
        decodeJwt(tokens.access_token)['sid'],
      ]);
      expect((await on.open((await ours.begin()).url)).html).toContain('name="password"');
      await ours.signIn(on, alice.email, PASSWORD);
      expect((await on.open((await ours.begin()).url)).status).toBe(0);
    });

    test('signs in again after the user signed out everywhere, also without a session of its own', async () => {
      const alice = await person('acme');
      const { page, on } = await afterPassword(theirs, alice.email);
      expect(page.html).toContain('Allow Their');
      const { access_token: token } = await ours.signIn(browser(app), alice.email, PASSWORD);
      expect((await app.as(token).post('/auth/sign-out', { everywhere: true })).status).toBe(200);
      expect((await on.open((await theirs.begin()).url)).html).toContain('name="password"');
    });

    test('signs in again after a change of password', async () => {
      const alice = await person('acme');
      const on = browser(app);
      await ours.signIn(on, alice.email, PASSWORD);
      await app.sql('UPDATE accounts SET password_changed_at = now() WHERE id = $1', [alice.id]);
      expect((await on.open((await ours.begin()).url)).html).toContain('name="password"');
    });

    test('signs in again after SIGN_IN_DAYS, regardless of use', async () => {
      const alice = await person('acme');
      const on = browser(app);
      await ours.signIn(on, alice.email, PASSWORD);
      await app.sql(
        `UPDATE oidc_records SET payload = jsonb_set(payload::jsonb, '{loginTs}', to_jsonb((payload::jsonb ->> 'loginTs')::float8 - 31 * 86400))::text
          WHERE model = 'Session' AND payload::jsonb ->> 'accountId' = $1`,
        [alice.id],
      );
      expect((await on.open((await ours.begin()).url)).html).toContain('name="password"');
    });

    test('can sign in with another account', async () => {
      const [alice, bob] = [await person('acme'), await person('acme')];
      const on = browser(app);
      const first = await ours.signIn(on, alice.email, PASSWORD);
      const begun = await ours.begin({ prompt: 'login' });
      let page = await on.submit(await on.open(begun.url), {
        email: bob.email,
        password: PASSWORD,
        step: 'password',
      });
      while (page.status === 200) page = await on.submit(page, {});
      expect((await ours.finish(page.url, begun)).claims()?.sub).toBe(bob.id);
      await ended(first.access_token);
    });

    test('signs out, and its grants end', async () => {
      const alice = await person('acme');
      const on = browser(app);
      const tokens = await ours.signIn(on, alice.email, PASSWORD);
      const page = await on.open(`/apis/v1/oidc/session/end?id_token_hint=${tokens.id_token}`);
      expect(page.html).toContain('Sign out?');
      const done = await on.submit(page, { logout: 'yes' });
      expect(done.html).toContain('You are signed out');
      await ended(tokens.access_token);
      expect(await rejected(ours.refresh(tokens.refresh_token!))).toBe('invalid_grant');
      expect((await on.open((await ours.begin()).url)).html).toContain('name="password"');
    });

    test.each([
      ['one workspace', ['acme']],
      ['two workspaces', ['acme', 'beta']],
    ])(
      'with %s: has one grant per client after any prompts, and none after the sign-out',
      async (_, slugs) => {
        const alice = await person(...slugs);
        const on = browser(app);
        const live = () =>
          app.sql('SELECT client_id FROM sessions WHERE account_id = $1 AND revoked_at IS NULL', [alice.id]);
        const sid = (token: string) => decodeJwt(token)['sid'];
        let previous: string | undefined;
        let last: Awaited<ReturnType<typeof ours.signIn>> | undefined;
        for (const prompt of ['login', 'consent', 'login', 'login consent', 'consent']) {
          const begun = await ours.begin({ prompt });
          let page = await on.open(begun.url);
          while (page.status === 200) {
            const password = page.html.includes('name="password"');
            const [, workspace] = /name="workspace"\s+value="([^"]+)"/.exec(page.html) ?? [];
            page = password
              ? await on.submit(page, { email: alice.email, password: PASSWORD, step: 'password' })
              : await on.submit(page, { step: 'consent', ...(workspace && { workspace }) });
          }
          last = await ours.finish(page.url, begun);
          expect([prompt, await live()]).toEqual([prompt, [{ client_id: 'ours' }]]);
          // `prompt=login` alone keeps the grant of a member of several workspaces.
          if (previous !== undefined && sid(previous) !== sid(last.access_token)) await ended(previous);
          previous = last.access_token;
          expect(await notes(previous)).toBe(200);
        }
        const page = await on.open(`/apis/v1/oidc/session/end?id_token_hint=${last!.id_token}`);
        await on.submit(page, { logout: 'yes' });
        expect(await live()).toEqual([]);
        await ended(previous!);
      },
    );

    test('is redirected after the sign-out only to registered addresses', async () => {
      const page = await browser(app).open(
        '/apis/v1/oidc/session/end?client_id=ours&post_logout_redirect_uri=https://evil.example',
      );
      expect([page.status, page.form]).toEqual([400, null]);
    });
  });

  describe('the pages', () => {
    test('let a member of several workspaces choose', async () => {
      const alice = await person('acme', 'beta');
      const { begun, page, on } = await afterPassword(ours, alice.email);
      expect(page.html).toMatch(/acme[\s\S]*beta/);
      const wrong = await on.submit(page, {
        workspace: '0199aaaa-bbbb-7ccc-8ddd-eeeeffff0000',
        step: 'consent',
      });
      expect([wrong.status, wrong.html.includes('role="alert"')]).toEqual([422, true]);
      const back = await on.submit(wrong, { workspace: alice.tenantIds[1]!, step: 'consent' });
      const tokens = await ours.finish(back.url, begun);
      expect(decodeJwt(tokens.access_token)['tid']).toBe(alice.tenantIds[1]);
      // With `prompt=consent` the user chooses another workspace; the replaced grant ends.
      const again = await ours.begin({ prompt: 'consent' });
      const other = await on.submit(await on.open(again.url), {
        workspace: alice.tenantIds[0]!,
        step: 'consent',
      });
      const replaced = await ours.finish(other.url, again);
      expect(decodeJwt(replaced.access_token)['tid']).toBe(alice.tenantIds[0]);
      expect(await rejected(ours.refresh(tokens.refresh_token!))).toBe('invalid_grant');
      expect(await notes(replaced.access_token)).toBe(200);
    });

    test('ask for consent to a third-party client, and list its scopes', async () => {
      const alice = await person('acme');
      const { begun, page, on } = await afterPassword(theirs, alice.email);
      expect(page.html).toContain('Allow Their &lt;App&gt;?');
      expect(page.html).toContain('see your email address');
      expect(page.html).toContain('app.example');
      const back = await on.submit(page, { step: 'consent' });
      const tokens = await theirs.finish(back.url, begun);
      expect(await notes(tokens.access_token)).toBe(200);
      expect(tokens.refresh_token).toBeUndefined();
      const denied = await afterPassword(theirs, alice.email);
      const no = await denied.on.submit(denied.page, { step: 'cancel' });
      expect(new URL(no.url).searchParams.get('error')).toBe('access_denied');
    });

    test('give a third-party client a refresh token with consent', async () => {
      const alice = await person('acme');
      const scope = 'openid workspace offline_access';
      const { begun, page, on } = await afterPassword(theirs, alice.email, { scope, prompt: 'consent' });
      expect(page.html).toContain('stay signed in while you are away');
      const tokens = await theirs.finish((await on.submit(page, { step: 'consent' })).url, begun);
      const out = await on.submit(await on.open('/apis/v1/oidc/session/end'), { logout: 'yes' });
      expect(out.status).toBe(200);
      const next = await theirs.refresh(tokens.refresh_token!);
      expect(await notes(next.access_token)).toBe(200);
    });

    test('do not distinguish an incorrect password from an unknown address', async () => {
      const alice = await person('acme');
      const responses = await Promise.all(
        [alice.email, 'nobody@people.example'].map(async (email) => {
          const on = browser(app);
          const page = await on.open((await ours.begin()).url);
          const response = await on.submit(page, { email, password: 'not it', step: 'password' });
          const masked = response.html
            .replaceAll(email, 'ADDRESS')
            .replaceAll(/interaction\/[\w-]+/g, 'UID')
            .replaceAll(/name="csrf" value="[^"]+"/g, 'CSRF');
          return [response.status, masked];
        }),
      );
      expect(responses[0]).toEqual(responses[1]);
      expect(responses[0]![0]).toBe(422);
    });

    test('have the language that the client or the browser requests', async () => {
      const lang = async (headers: Record<string, string>, extra = {}) =>
        /<html lang="(\w+)"/.exec(
          (await browser(app, headers).open((await ours.begin(extra)).url)).html,
        )?.[1];
      expect(await lang({})).toBe('en');
      expect(await lang({ 'accept-language': 'fr-FR, pt-BR;q=0.8, en;q=0.5' })).toBe('pt');
      expect(await lang({ 'accept-language': 'de' }, { ui_locales: 'xx vi-VN de' })).toBe('vi');
      expect(await lang({ 'accept-language': 'en;q=0, de;q=0.1' })).toBe('de');
    });

    test('run no script, cannot be framed, and redirect only to the client', async () => {
      const page = await browser(app).open((await ours.begin()).url);
      const policy = page.headers.get('content-security-policy');
      expect(policy).toMatch(
        /^default-src 'none'; style-src 'sha256-[^']+'; form-action 'self' https:\/\/app\.example;/,
      );
      expect(policy).toContain("frame-ancestors 'none'");
      expect(page.html).not.toMatch(/<script|javascript:| on\w+=/i);
      expect(page.headers.get('cache-control')).toContain('no-store');
      expect(page.headers.get('x-frame-options')).toBe('DENY');
      expect(page.headers.get('referrer-policy')).toBe('no-referrer');
    });

    test('accept only own forms, from the browser that received them', async () => {
      const alice = await person('acme');
      const typed = { email: alice.email, password: PASSWORD, step: 'password' };
      const on = browser(app);
      const page = await on.open((await ours.begin()).url);
      const expired = [
        await browser(app).submit(page, typed),
        await on.submit(page, { ...typed, csrf: 'AAAAAAAAAAAAAAAAAAAAAA' }),
        await on.open(page.form!.action, {
          method: 'POST',
          body: new URLSearchParams({ ...page.form!.fields, ...typed }),
          headers: { 'sec-fetch-site': 'cross-site' },
        }),
        await on.open(`/apis/v1/oidc/interaction/${'x'.repeat(43)}`),
      ];
      expect(expired.map(({ status, form }) => [status, form])).toEqual(expired.map(() => [400, null]));
      expect((await on.submit(page, typed)).status).toBe(0);
      // The sign-in has ended: form and cookie are invalid.
      expect((await on.submit(page, typed)).status).toBe(400);
    });
  });

  describe('with a second factor', () => {
    test('the password alone does not sign in; the code does, and the session has proven it', async () => {
      const alice = await person('acme');
      const { authenticator } = await secondFactorOf(app, alice.id);
      const { begun, page, on } = await afterPassword(ours, alice.email);
      expect([page.status, page.html.includes('6 digits')]).toEqual([200, true]);
      // A request that skips the page of the code returns to the first page.
      const skipped = await on.open(begun.url);
      expect(skipped.html).toContain('name="password"');
      const retry = await on.submit(
        await on.submit(skipped, { email: alice.email, password: PASSWORD, step: 'password' }),
        {
          code: authenticator.wrong(),
          step: 'code',
        },
      );
      expect([retry.status, retry.html.includes('The code is incorrect')]).toEqual([422, true]);
      const fresh = await afterPassword(ours, alice.email);
      const code = authenticator.code();
      const back = await fresh.on.submit(fresh.page, { code, step: 'code' });
      const tokens = await ours.finish(back.url, fresh.begun);
      expect(await notes(tokens.access_token)).toBe(200);
      expect(tokens.claims()?.['amr']).toEqual(['pwd', 'otp', 'mfa']);
      const replay = await afterPassword(ours, alice.email);
      const second = await replay.on.submit(replay.page, { code, step: 'code' });
      expect(second.status).toBe(422);
    });

    test('a recovery code works once', async () => {
      const alice = await person('acme');
      const { recoveryCode } = await secondFactorOf(app, alice.id);
      const { begun, page, on } = await afterPassword(ours, alice.email);
      const other = await on.submit(page, { step: 'recovery' });
      expect(other.html).toContain('name="recovery_code"');
      const back = await on.submit(other, { recovery_code: ` ${recoveryCode.toUpperCase()} `, step: 'code' });
      expect(await notes((await ours.finish(back.url, begun)).access_token)).toBe(200);
      const again = await afterPassword(ours, alice.email);
      const used = await again.on.submit(again.page, { recovery_code: recoveryCode, step: 'code' });
      expect(used.status).toBe(422);
    });

    test('five failures lock, with a page that shows the time', async () => {
      const alice = await person('acme');
      const { authenticator } = await secondFactorOf(app, alice.id);
      let { page, on } = await afterPassword(ours, alice.email);
      for (let k = 0; k < 5; k += 1)
        page = await on.submit(page, { code: authenticator.wrong(k), step: 'code' });
      ({ page, on } = await afterPassword(ours, alice.email));
      const locked = await on.submit(page, { code: authenticator.code(), step: 'code' });
      expect([locked.status, locked.html.includes('Too many attempts')]).toEqual([429, true]);
      expect(Number(locked.headers.get('retry-after'))).toBeGreaterThan(600);
    });

    test('enabled later, it is required from a browser that signed in before', async () => {
      const alice = await person('acme');
      const on = browser(app);
      await ours.signIn(on, alice.email, PASSWORD);
      const { authenticator } = await secondFactorOf(app, alice.id);
      const begun = await ours.begin();
      let page = await on.open(begun.url);
      page = await on.submit(page, { email: alice.email, password: PASSWORD, step: 'password' });
      page = await on.submit(page, { code: authenticator.code(), step: 'code' });
      expect(await notes((await ours.finish(page.url, begun)).access_token)).toBe(200);
    });
  });
});
