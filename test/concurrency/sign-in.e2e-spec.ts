import { decodeJwt, decodeProtectedHeader } from 'jose';
import { IdentityApi } from '../../src/modules/identity/index.js';
import type { TestApp } from '../support/app.ts';
import { Browser, RelyingParty, REDIRECT } from '../support/sign-in/relying-party.ts';
import {
  browser,
  clientFile,
  PASSWORD,
  newUser,
  startBeside,
  startSignIn,
} from '../support/sign-in/sign-in.ts';
import { until } from '../support/until.ts';

/** Two applications on one database. */
describe('sign-in across two processes', () => {
  let one: TestApp;
  let two: TestApp;
  let ours: RelyingParty;
  let n = 0;

  beforeAll(async () => {
    const settings = { OIDC_CLIENTS: clientFile() };
    one = await startSignIn(settings);
    two = await startBeside(one, settings);
    ours = await RelyingParty.discover(one, 'ours');
  });
  afterAll(async () => {
    await two?.stop();
    await one?.stop();
  });

  const user = () => newUser(one, `person${(n += 1)}`, 'acme');
  const either = (k: number) => (k % 2 === 0 ? one : two);
  const notes = async (app: TestApp, token: string) => (await app.as(token).get('/notes')).status;
  const token = async (app: TestApp, fields: Record<string, string>) => {
    const response = await fetch(`${app.base}/apis/v1/oidc/token`, {
      method: 'POST',
      body: new URLSearchParams({ client_id: 'ours', ...fields }),
    });
    return { status: response.status, body: (await response.json()) as any };
  };
  /** None of the tokens is valid. */
  const allEnd = async (responses: { body: any }[]) => {
    for (const { body } of responses.filter(({ body: { access_token: t } }) => t !== undefined)) {
      await until('the token to end', async () => (await notes(two, body.access_token)) === 401);
      const next = await token(two, { grant_type: 'refresh_token', refresh_token: body.refresh_token });
      expect(next.body.error).toBe('invalid_grant');
    }
  };

  test('a sign-in started in one process continues in the other', async () => {
    const alice = await user();
    const begun = await ours.begin();
    const at = new Browser(one.base);
    const page = await at.open(begun.url);
    // The same cookies in the other process, as behind a load balancer.
    const there = Object.assign(new Browser(two.base), { cookies: (at as any).cookies }) as Browser;
    const back = await there.submit(
      { ...page, url: page.url.replace(one.base, two.base) },
      {
        email: alice.email,
        password: PASSWORD,
        step: 'password',
      },
    );
    // It redirects to the public address, at which the first process listens.
    expect(back.url).toMatch(`${one.base}/apis/v1/oidc/auth/`);
    const callback = await at.open(back.url);
    const code = new URL(callback.url).searchParams.get('code')!;
    const fields = {
      grant_type: 'authorization_code',
      code,
      redirect_uri: REDIRECT,
      code_verifier: begun.verifier,
    };
    const { status, body } = await token(two, fields);
    expect(status).toBe(200);
    expect([await notes(one, body.access_token), await notes(two, body.access_token)]).toEqual([200, 200]);
  });

  test('a refresh token used ten times concurrently is valid at most once, and its grant ends', async () => {
    const alice = await user();
    const { refresh_token: stolen } = await ours.signIn(browser(one), alice.email, PASSWORD);
    const fields = { grant_type: 'refresh_token', refresh_token: stolen! };
    const responses = await Promise.all(Array.from({ length: 10 }, (_, k) => token(either(k), fields)));
    const errors = responses.filter(({ status }) => status !== 200);
    expect(errors.length).toBeGreaterThanOrEqual(9);
    expect(new Set(errors.map(({ status, body }) => `${status} ${body.error}`))).toEqual(
      new Set(['400 invalid_grant']),
    );
    await allEnd(responses);
  });

  test('a code used ten times concurrently is valid at most once, and its grant ends', async () => {
    const alice = await user();
    const begun = await ours.begin();
    const on = browser(one);
    const back = await on.submit(await on.open(begun.url), {
      email: alice.email,
      password: PASSWORD,
      step: 'password',
    });
    const code = new URL(back.url).searchParams.get('code')!;
    const fields = {
      grant_type: 'authorization_code',
      code,
      redirect_uri: REDIRECT,
      code_verifier: begun.verifier,
    };
    const responses = await Promise.all(Array.from({ length: 10 }, (_, k) => token(either(k), fields)));
    expect(responses.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1);
    expect(responses.filter(({ status }) => status >= 500)).toEqual([]);
    await allEnd(responses);
  });

  test('keys rotate without a restart: both sign with the new key and accept tokens of the old one', async () => {
    const alice = await user();
    const before = await ours.signIn(browser(one), alice.email, PASSWORD);
    const kid = await one.get<IdentityApi>(IdentityApi).rotateSigningKey();
    expect(decodeProtectedHeader(before.access_token).kid).not.toBe(kid);
    let refresh = before.refresh_token!;
    const keysOf = async (app: TestApp) =>
      ((await (await fetch(`${app.base}/apis/v1/oidc/jwks`)).json()) as { keys: Record<string, unknown>[] })
        .keys;
    for (const app of [one, two]) {
      // A process reloads keys once a second.
      await until('the new key', async () => (await keysOf(app)).some((key) => key['kid'] === kid));
      const { body } = await token(app, { grant_type: 'refresh_token', refresh_token: refresh });
      expect([
        decodeProtectedHeader(body.access_token).kid,
        decodeProtectedHeader(body.id_token).kid,
      ]).toEqual([kid, kid]);
      refresh = body.refresh_token;
      const keys = await keysOf(app);
      expect(keys.map((key) => key['kid'])).toEqual(
        expect.arrayContaining([kid, decodeProtectedHeader(before.access_token).kid]),
      );
      expect(keys.filter((key) => 'd' in key)).toEqual([]);
      expect(await notes(app, before.access_token)).toBe(200);
      expect(await notes(app, body.access_token)).toBe(200);
    }
    // A hint signed with the old key is still valid.
    const page = await browser(one).open(`/apis/v1/oidc/session/end?id_token_hint=${before.id_token}`);
    expect(page.status).toBe(200);
  });

  test('a sign-out in one process takes effect in the other', async () => {
    const alice = await user();
    const tokens = await ours.signIn(browser(one), alice.email, PASSWORD);
    expect(await notes(two, tokens.access_token)).toBe(200);
    await token(one, { grant_type: 'refresh_token', refresh_token: tokens.refresh_token! });
    await token(one, { grant_type: 'refresh_token', refresh_token: tokens.refresh_token! });
    await until(
      'the other process to reject the token',
      async () => (await notes(two, tokens.access_token)) === 401,
    );
    expect(decodeJwt(tokens.access_token).exp! * 1000).toBeGreaterThan(Date.now());
  });

  test('expired records are deleted', async () => {
    const alice = await user();
    await ours.signIn(browser(one), alice.email, PASSWORD);
    await one.sql(`UPDATE oidc_records SET expires_at = now() - interval '1 hour'`);
    await one.sql(
      `UPDATE job_runs SET ran_at = now() - interval '1 day' WHERE name = 'sign-in.forget-expired'`,
    );
    const { PeriodicJobs } = await import('../../src/platform/jobs/periodic-jobs.js');
    await one.get<InstanceType<typeof PeriodicJobs>>(PeriodicJobs).runDue();
    expect(await one.sql('SELECT 1 FROM oidc_records')).toEqual([]);
  });
});
