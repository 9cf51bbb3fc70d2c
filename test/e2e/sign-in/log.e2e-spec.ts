import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { TestApp } from '../../support/app.ts';
import { freePort } from '../../support/network/ports.ts';
import { Browser, DEVICE, RelyingParty } from '../../support/sign-in/relying-party.ts';
import { clientFile, PASSWORD, secondFactorOf, newUser } from '../../support/sign-in/sign-in.ts';
import { until } from '../../support/until.ts';
import { childEnv } from '../../support/installation/child-env.ts';

const ROOT = path.resolve(import.meta.dirname, '..', '..', '..');

/** A separate server with a readable log. */
async function serve(databaseUrl: string) {
  const port = String(await freePort());
  const base = `http://127.0.0.1:${port}`;
  const child = spawn(process.execPath, [path.join(ROOT, 'dist', 'main.js')], {
    cwd: ROOT,
    env: {
      ...childEnv(),
      DATABASE_URL: databaseUrl,
      PORT: port,
      PUBLIC_URL: base,
      LOG_LEVEL: 'trace',
      OIDC_CLIENTS: clientFile(),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const log = { text: '' };
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (log.text += text));
  const closed = once(child, 'close');
  const stop = async () => {
    child.kill('SIGTERM');
    await closed;
  };
  try {
    await until('the server', () =>
      fetch(`${base}/apis/v1/health/ready`).then(
        ({ ok }) => ok,
        () => false,
      ),
    );
  } catch (error) {
    await stop();
    throw error;
  }
  return { base, log, stop };
}

describe('the log of a sign-in', () => {
  let app: TestApp;
  let server: Awaited<ReturnType<typeof serve>>;

  beforeAll(async () => {
    app = await TestApp.start();
    server = await serve(app.databaseUrl);
  });
  afterAll(async () => {
    await server?.stop();
    await app?.stop();
  });

  test('contains the requests at the lowest level, and no credentials', async () => {
    const alice = await newUser(app, 'alice', 'acme');
    const { authenticator } = await secondFactorOf(app, alice.id);
    const party = await RelyingParty.discover(server as never, 'ours');
    const on = new Browser(server.base);
    const begun = await party.begin();
    let page = await on.open(begun.url);
    page = await on.submit(page, { email: alice.email, password: 'a wrong password', step: 'password' });
    page = await on.submit(page, { email: alice.email, password: PASSWORD, step: 'password' });
    const csrf = page.form!.fields['csrf']!;
    const code = authenticator.code();
    page = await on.submit(page, { code, step: 'code' });
    const tokens = await party.finish(page.url, begun);
    const next = await party.refresh(tokens.refresh_token!);
    await party.refresh(tokens.refresh_token!).catch(() => undefined);
    const device: any = await (
      await fetch(`${server.base}/apis/v1/oidc/device/auth`, {
        method: 'POST',
        body: new URLSearchParams({ client_id: DEVICE, scope: 'workspace' }),
      })
    ).json();
    await on.open(device.verification_uri_complete);
    await fetch(`${server.base}/apis/v1/notes`, {
      headers: { authorization: `Bearer ${next.access_token}` },
    });
    const secrets = {
      password: PASSWORD,
      wrong: 'a wrong password',
      code: new URL(page.url).searchParams.get('code'),
      verifier: begun.verifier,
      access: tokens.access_token,
      refresh: tokens.refresh_token,
      next: next.refresh_token,
      id: tokens.id_token,
      device: device.device_code,
      user: device.user_code,
      csrf,
      cookie: /workspace_session=([^;]+)/.exec(
        (on as any).cookieFor(new URL(`${server.base}/apis/v1/oidc/auth`)),
      )![1],
    };
    await until('the log', () => server.log.text.includes('/apis/v1/oidc/device'));
    await server.stop();
    const { text } = server.log;
    expect(text).toContain('/apis/v1/oidc/interaction/:uid');
    expect(text).toContain('/apis/v1/oidc/token');
    const leaked = Object.entries(secrets).filter(([, secret]) => text.includes(secret as string));
    expect(leaked).toEqual([]);
  });
});
