import { createClient } from '@workspace-backend/client';
import { MemoryStorage, SignIn } from '@workspace-backend/client/sign-in';
import type { TestApp } from '../support/app.ts';
import { DisturbedNetwork } from '../support/sdk/network.ts';
import { DEVICE, REDIRECT } from '../support/sign-in/relying-party.ts';
import { browser, clientFile, newUser, PASSWORD, startSignIn } from '../support/sign-in/sign-in.ts';
import { until } from '../support/until.ts';

describe('the sign-in of the client library', () => {
  let app: TestApp;
  let email: string;
  let storage: MemoryStorage;
  let network: DisturbedNetwork;
  const tabs: SignIn[] = [];

  beforeAll(async () => {
    app = await startSignIn({ OIDC_CLIENTS: clientFile() });
    ({ email } = await newUser(app, 'alice', 'acme'));
  });
  afterAll(() => app?.stop());
  beforeEach(() => {
    storage = new MemoryStorage();
    network = new DisturbedNetwork();
  });
  afterEach(() => {
    for (const tab of tabs.splice(0)) tab.close();
  });

  const newTab = (clientId = 'ours', own = storage): SignIn => {
    const tab = new SignIn({ url: app.base, clientId, storage: own, fetch: network.fetch });
    tabs.push(tab);
    return tab;
  };
  /** Opens the page of the sign-in. @returns the address to which it redirects */
  const enterPassword = async (url: URL) => {
    const on = browser(app);
    const page = await on.submit(await on.open(url.href), { email, password: PASSWORD, step: 'password' });
    return page.url;
  };
  const signedIn = async () => {
    const tab = newTab();
    await tab.complete(await enterPassword(await tab.start({ redirectUri: REDIRECT })));
    return tab;
  };
  const status = async (tab: SignIn) =>
    (await createClient({ url: app.base, token: tab.token }).GET('/notes')).response.status;
  const refreshes = () => network.named('POST /oidc/token').length;

  test('in a browser, with a code and PKCE', async () => {
    const tab = newTab();
    const url = await tab.start({ redirectUri: REDIRECT, state: { page: '/notes' } });
    expect(url.searchParams.get('code_challenge_method')).toBe('S256');
    const callback = await enterPassword(url);
    // The page was left meanwhile: another object completes the sign-in.
    const later = newTab();
    const states: string[] = [];
    later.onChange((state) => states.push(state));
    expect(await later.complete(callback)).toEqual({ page: '/notes' });
    expect(states).toEqual(['signed-in']);
    expect(await status(later)).toBe(200);
    await expect(later.complete(callback)).rejects.toThrow('already completed');
  });

  test('rejects a callback that it did not start, and reports a cancelled sign-in', async () => {
    const tab = newTab();
    await expect(tab.complete(`${REDIRECT}?code=x&state=forged`)).rejects.toThrow('not started here');
    const url = await tab.start({ redirectUri: REDIRECT });
    const state = url.searchParams.get('state')!;
    const callback = `${REDIRECT}?error=access_denied&state=${state}&iss=${encodeURIComponent(`${app.base}/apis/v1/oidc`)}`;
    await expect(tab.complete(callback)).rejects.toMatchObject({ error: 'access_denied' });
    expect(await tab.token()).toBeUndefined();
  });

  test('tells the other tabs the access token', async () => {
    const other = newTab();
    const states: string[] = [];
    other.onChange((state) => states.push(state));
    await signedIn();
    await until('the message of the other tab', () => states.includes('signed-in'));
    const before = refreshes();
    expect(await status(other)).toBe(200);
    expect(refreshes()).toBe(before);
  });

  test('is not shared with a tab that has another storage', async () => {
    const [other, same] = [newTab('ours', new MemoryStorage()), newTab()];
    const heard: string[] = [];
    same.onChange((state) => heard.push(state));
    await signedIn();
    await until('the tab with the same storage to hear of it', () => heard.includes('signed-in'));
    expect([await other.isSignedIn(), await other.token()]).toEqual([false, undefined]);
  });

  test('renews a token in one tab for all', async () => {
    const two = newTab();
    const heard: string[] = [];
    two.onChange((state) => heard.push(state));
    const one = await signedIn();
    await until('the other tab to have the token', () => heard.includes('signed-in'));
    const old = (await one.token())!;
    expect(await two.token()).toBe(old);
    const before = refreshes();
    const renewed = await Promise.all([one.token(old), two.token(old), one.token(old), two.token(old)]);
    expect(renewed).not.toContain(undefined);
    expect(renewed).not.toContain(old);
    expect([new Set(renewed).size, refreshes() - before]).toEqual([1, 1]);
    expect([await status(one), await status(two)]).toEqual([200, 200]);
  });

  test('renews a token once for all callers, also where there are no Web Locks', async () => {
    const navigator = Object.getOwnPropertyDescriptor(globalThis, 'navigator')!;
    const renewals = async () => {
      const tab = await signedIn();
      const token = (await tab.token())!;
      const before = refreshes();
      const renewed = await Promise.all([tab.token(token), tab.token(token), tab.token(token)]);
      expect([new Set(renewed).size, renewed[0] === token]).toEqual([1, false]);
      return refreshes() - before;
    };
    expect(await renewals()).toBe(1);
    Object.defineProperty(globalThis, 'navigator', { value: undefined, configurable: true });
    try {
      expect(await renewals()).toBe(1);
    } finally {
      Object.defineProperty(globalThis, 'navigator', navigator);
    }
  });

  test('continues after the page was closed, with the stored refresh token', async () => {
    (await signedIn()).close();
    const reopened = newTab();
    expect(await reopened.isSignedIn()).toBe(true);
    expect(await status(reopened)).toBe(200);
  });

  test('stays when the provider cannot be reached', async () => {
    const tab = await signedIn();
    const token = (await tab.token())!;
    network.loseRequest('POST /oidc/token');
    await expect(tab.token(token)).rejects.toThrow('the connection is lost');
    expect(await tab.isSignedIn()).toBe(true);
    expect(await tab.token(token)).toEqual(expect.any(String));
  });

  test('ends in all tabs with the sign-out', async () => {
    const [one, two] = [await signedIn(), newTab()];
    await until('the other tab to be signed in', async () => (await two.token()) !== undefined);
    const old = (await one.token())!;
    const ended: string[] = [];
    two.onChange((state) => ended.push(state));
    await one.signOut();
    await until('the message to the other tab', () => ended.includes('signed-out'));
    expect([await one.token(), await two.token()]).toEqual([undefined, undefined]);
    await app.readAccessChanges();
    await until('the grant to end', async () => (await app.as(old).get('/notes')).status === 401);
    const url = await one.endSessionUrl();
    expect(url.pathname).toBe('/apis/v1/oidc/session/end');
  });

  test('ends when the service has ended the grant', async () => {
    const tab = await signedIn();
    const token = (await tab.token())!;
    expect((await app.as(token).post('/auth/sign-out')).status).toBeLessThan(300);
    expect(await tab.token(token)).toBeUndefined();
    expect(await tab.isSignedIn()).toBe(false);
  });

  test('in a terminal, with a device code', async () => {
    const tab = newTab(DEVICE);
    await tab.device({
      onCode: async ({ verificationUriComplete, userCode }) => {
        expect(userCode).toMatch(/^\w{4}-\w{4}$/);
        const on = browser(app);
        const shown = await on.submit(await on.open(verificationUriComplete!), {});
        const page = await on.submit(shown, { confirm: 'yes' });
        await on.submit(page, { email, password: PASSWORD, step: 'password' });
      },
    });
    expect(await status(tab)).toBe(200);
  });

  test('of a device ends when its user cancels', async () => {
    const tab = newTab(DEVICE);
    const cancelled = tab.device({
      onCode: async ({ verificationUriComplete }) => {
        const on = browser(app);
        await on.submit(await on.submit(await on.open(verificationUriComplete!), {}), { abort: 'yes' });
      },
    });
    await expect(cancelled).rejects.toMatchObject({ error: 'access_denied' });
  });
});
