import { writeFileSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestApp } from '../../support/app.ts';
import { RelyingParty } from '../../support/relying-party.ts';
import { browser, CLIENTS, PASSWORD, somebody, startSignIn } from '../../support/sign-in.ts';

describe('signing in with a browser', () => {
  let app: TestApp;
  let alice: Awaited<ReturnType<typeof somebody>>;
  let ours: RelyingParty;

  beforeAll(async () => {
    const file = path.join(mkdtempSync(path.join(tmpdir(), 'clients-')), 'clients.json');
    writeFileSync(file, JSON.stringify(CLIENTS));
    app = await startSignIn({ OIDC_CLIENTS: file });
    alice = await somebody(app, 'alice', 'acme');
    ours = await RelyingParty.discover(app, 'ours');
  });
  afterAll(() => app?.stop());

  test('a password opens the API', async () => {
    const tokens = await ours.signIn(browser(app), alice.email, PASSWORD);
    expect(tokens.claims()).toMatchObject({ sub: alice.id, name: 'Alice', email: alice.email });
    const { status } = await app.as(tokens.access_token).get('/notes');
    expect(status).toBe(200);
  });
});
