import { decodeJwt } from 'jose';
import { Config } from '../../../src/config/config.js';
import type { TestApp } from '../../support/app.ts';
import { Browser, RelyingParty, type Shown } from '../../support/sign-in/relying-party.ts';
import { clientFile, PASSWORD, secondFactorOf, newUser, startSignIn } from '../../support/sign-in/sign-in.ts';
import { type Deviation, SoftPasskey } from '../../support/sign-in/webauthn.ts';

const SECURITY = '/settings/security/passkeys';
const unescape = (text: string) =>
  text.replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&amp;', '&');

describe('signing in with a passkey', () => {
  let app: TestApp;
  let ours: RelyingParty;
  let n = 0;

  beforeAll(async () => {
    app = await startSignIn({ OIDC_CLIENTS: clientFile() }, 'localhost');
    ours = await RelyingParty.discover(app, 'ours', { base: app.get<Config>(Config).publicUrl });
  });
  afterAll(() => app?.stop());

  const browser = () => new Browser(ours.base, { 'accept-language': 'en' });
  const optionsOf = ({ html }: Shown) => JSON.parse(unescape(/data-options="([^"]*)"/.exec(html)![1]!));
  const alertOf = ({ html }: Shown) => /role="alert" id="alert">([^<]*)/.exec(html)?.[1];
  /** A user with a passkey, registered in a session that signed in by password. */
  const owner = async () => {
    const person = await newUser(app, `key${(n += 1)}`, 'acme');
    const { access_token: token } = await ours.signIn(browser(), person.email, PASSWORD);
    const api = app.as(token);
    const { body } = await api.post(`${SECURITY}/options`, { password: PASSWORD });
    const key = new SoftPasskey(ours.base);
    const added = await api.post(SECURITY, { name: 'Laptop', credential: key.create(body.public_key) });
    if (added.status !== 201) throw new Error(added.text);
    return {
      ...person,
      api,
      key,
      id: person.id,
      passkey: added.body.passkey,
      codes: added.body.recovery_codes,
    };
  };
  const start = async (on = browser(), extra = {}) => {
    const begun = await ours.begin(extra);
    return { on, begun, page: await on.open(begun.url) };
  };
  const use = (on: Browser, page: Shown, key: SoftPasskey, deviation: Deviation = {}) =>
    on.submit(page, { step: 'credential', credential: JSON.stringify(key.get(optionsOf(page), deviation)) });
  const afterPassword = async (email: string) => {
    const { on, begun, page } = await start();
    return { on, begun, page: await on.submit(page, { email, password: PASSWORD, step: 'password' }) };
  };

  test('as the only factor, without a password', async () => {
    const alice = await owner();
    const { on, begun, page } = await start();
    expect(optionsOf(page)).toMatchObject({
      rpId: 'localhost',
      userVerification: 'required',
      allowCredentials: [],
    });
    const after = await use(on, page, alice.key);
    const tokens = await ours.finish(after.url, begun);
    expect(tokens.claims()).toMatchObject({ sub: alice.id, amr: ['pop', 'user', 'mfa'] });
    const { body } = await app.as(tokens.access_token).get('/settings/security');
    expect(body.sessions.find(({ current }: any) => current).second_factor).toBe(true);
    expect(decodeJwt(tokens.access_token)['tid']).toBe(alice.tenantIds[0]);
    expect((await app.as(tokens.access_token).get('/notes')).status).toBe(200);
    const [{ last_used_at: used }] = (await alice.api.get(SECURITY)).body.passkeys;
    expect(used).toEqual(expect.any(String));
  });

  test('as the second factor, after the password', async () => {
    const alice = await owner();
    const { on, begun, page } = await afterPassword(alice.email);
    expect(page.html).toContain('Confirm with your passkey');
    expect(page.html).not.toContain('authenticator app');
    expect(optionsOf(page).allowCredentials.map(({ id }: any) => id)).toEqual([alice.key.id]);
    const after = await use(on, page, alice.key, { isUserVerified: false });
    const tokens = await ours.finish(after.url, begun);
    expect(tokens.claims()!['amr']).toEqual(['pwd', 'pop', 'mfa']);
    expect((await app.as(tokens.access_token).get('/notes')).status).toBe(200);
  });

  test('or with a code of the authenticator or a recovery code instead', async () => {
    const alice = await owner();
    const lost = await afterPassword(alice.email);
    const recovery = await lost.on.submit(lost.page, { step: 'recovery' });
    const after = await lost.on.submit(recovery, { step: 'code', recovery_code: alice.codes[0] });
    expect((await ours.finish(after.url, lost.begun)).claims()!['amr']).toEqual(['pwd', 'mca', 'mfa']);

    const bob = await owner();
    await app.sql('DELETE FROM recovery_codes WHERE account_id = $1', [bob.id]);
    const { authenticator } = await secondFactorOf(app, bob.id);
    const both = await afterPassword(bob.email);
    const code = await both.on.submit(both.page, { step: 'totp' });
    expect(code.html).toContain('Use a passkey instead');
    const passkey = await both.on.submit(code, { step: 'passkey' });
    expect(optionsOf(passkey).allowCredentials).toHaveLength(1);
    const again = await both.on.submit(passkey, { step: 'totp' });
    const done = await both.on.submit(again, { step: 'code', code: authenticator.code() });
    expect((await ours.finish(done.url, both.begun)).claims()!['amr']).toEqual(['pwd', 'otp', 'mfa']);
  });

  test.each<[string, Deviation]>([
    ['of another origin', { origin: 'https://evil.example' }],
    ['of another host', { rpId: 'evil.example' }],
    ['without verification of the user', { isUserVerified: false }],
    ['with a counter that goes back', { counter: 1 }],
    ['with another challenge', { challenge: Buffer.alloc(32).toString('base64url') }],
    ['with another user handle', { userHandle: Buffer.alloc(16).toString('base64url') }],
    ['with an unknown credential', { credentialId: Buffer.alloc(32) }],
    ['with an invalid signature', { signature: Buffer.from('3006020101020101', 'hex') }],
  ])('is rejected for a response %s', async (_, deviation) => {
    const alice = await owner();
    const { on, page } = await start();
    const rejected = await use(on, page, alice.key, deviation);
    expect([rejected.status, alertOf(rejected)]).toEqual([
      422,
      'The passkey was not accepted. Try again, or sign in another way.',
    ]);
    // The challenge of the first page is used.
    const replayed = await on.submit(rejected, {
      step: 'credential',
      credential: JSON.stringify(alice.key.get(optionsOf(page))),
    });
    expect(replayed.status).toBe(422);
    expect((await use(on, replayed, alice.key)).status).toBe(0);
  });

  test('is rejected for a replayed response in another sign-in, and for malformed ones', async () => {
    const alice = await owner();
    const first = await start();
    const credential = JSON.stringify(alice.key.get(optionsOf(first.page)));
    const second = await start();
    expect((await second.on.submit(second.page, { step: 'credential', credential })).status).toBe(422);
    expect((await first.on.submit(first.page, { step: 'credential', credential })).status).toBe(0);
    let { page } = second;
    for (const text of ['', 'x', '7', 'null', '[]', '{"id":"AQ"}', '{"id":{"x":1},"response":[]}']) {
      page = await second.on.submit(page, { step: 'credential', credential: text });
      expect(page.status).toBe(422);
    }
  });

  test('of another account does not prove the second factor', async () => {
    const [alice, mallory] = [await owner(), await owner()];
    const { on, page } = await afterPassword(alice.email);
    const rejected = await use(on, page, mallory.key);
    expect([rejected.status, rejected.html.includes('Confirm with your passkey')]).toEqual([422, true]);
    expect(
      await app.sql(
        `SELECT data->>'factor' AS factor FROM audit_log WHERE action = 'identity.sign_in.failed' AND object_id = $1`,
        [mallory.id],
      ),
    ).toEqual([]);
  });

  test('is recorded when it fails', async () => {
    const alice = await owner();
    const { on, page } = await start();
    await use(on, page, alice.key, { counter: 0 });
    const [row] = await app.sql(
      `SELECT tenant_id, data FROM audit_log WHERE action = 'identity.sign_in.failed' AND object_id = $1`,
      [alice.id],
    );
    expect([row.tenant_id, row.data]).toEqual([alice.tenantIds[0], { factor: 'passkey' }]);
  });

  test('ends with the removal of the passkey', async () => {
    const alice = await owner();
    expect((await alice.api.delete(`${SECURITY}/${alice.passkey.id}`)).status).toBe(200);
    const { on, page } = await start();
    expect((await use(on, page, alice.key)).status).toBe(422);
    expect((await ours.signIn(browser(), alice.email, PASSWORD)).access_token).toEqual(expect.any(String));
  });

  test('continues with the choice of a workspace', async () => {
    const alice = await owner();
    const [beta] = await app.tenant('beta', 'b');
    await app.member('beta', alice.email);
    const { on, begun, page } = await start();
    const choice = await use(on, page, alice.key);
    expect(choice.html).toContain('Choose a workspace');
    const after = await on.submit(choice, { step: 'consent', workspace: beta.tenantId! });
    expect(decodeJwt((await ours.finish(after.url, begun)).access_token)['tid']).toBe(beta.tenantId);
  });

  test('loads one script, which the policy of the page names', async () => {
    const { page, on } = await start();
    const policy = page.headers.get('content-security-policy')!;
    expect(policy).toContain(`script-src ${ours.base}/apis/v1/oidc/passkey.js;`);
    expect(page.html.match(/<script/g)).toHaveLength(1);
    expect(page.html).not.toMatch(/ on[a-z]+="/);
    const script = await on.open('/apis/v1/oidc/passkey.js');
    expect([
      script.status,
      script.headers.get('content-type'),
      script.headers.get('x-content-type-options'),
    ]).toEqual([200, 'text/javascript; charset=utf-8', 'nosniff']);
  });

  test.each(['de', 'pt', 'vi'])('has texts in %s', async (language) => {
    const texts: Record<string, string> = {
      de: 'Mit einem Passkey anmelden',
      pt: 'Entrar com uma chave de acesso',
      vi: 'Đăng nhập bằng khóa truy cập',
    };
    const { page } = await start(new Browser(ours.base, { 'accept-language': language }));
    expect(page.html).toContain(texts[language]);
  });

  test('is not offered where browsers have no WebAuthn', async () => {
    const address = await startSignIn({ OIDC_CLIENTS: clientFile() });
    try {
      const party = await RelyingParty.discover(address, 'ours');
      const page = await new Browser(address.base).open((await party.begin()).url);
      expect([page.status, page.html.includes('passkey')]).toEqual([200, false]);
      expect(page.headers.get('content-security-policy')).not.toContain('script-src');
    } finally {
      await address.stop();
    }
  });
});
