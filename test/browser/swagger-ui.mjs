// Swagger UI as a newcomer uses it: start, authorise with the printed token, create a note, find it in the list.
import assert from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Secret, TOTP } from 'otpauth';
import { openBrowser } from './support/browser.mjs';
import { look, pictureOfFailure } from './support/pictures.mjs';
import { SwaggerPage } from './support/swagger-page.mjs';
import { startServer } from './support/server.mjs';
import { until } from './support/until.mjs';

const openapi = JSON.parse(readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8'));
const title = `Seen in a browser ${randomUUID()}`;
let server;
let browser;
let swagger;

let tokens;

/** The interface, without a browser. */
async function api(path, { method = 'GET', token, body }) {
  const response = await fetch(`${new URL(server.docs).origin}/apis/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: await response.json().catch(() => null) };
}

const listNotes = async (token) => (await api('/notes', { token })).status;

async function refresh(token) {
  const response = await fetch(`${new URL(server.docs).origin}/apis/v1/oidc/token`, {
    method: 'POST',
    body: new URLSearchParams({ grant_type: 'refresh_token', client_id: 'swagger-ui', refresh_token: token }),
  });
  return { status: response.status, body: await response.json() };
}

async function authorizationUrl() {
  const { origin } = new URL(server.docs);
  const challenge = createHash('sha256').update(randomUUID()).digest('base64url');
  const query = new URLSearchParams({
    client_id: 'swagger-ui',
    response_type: 'code',
    scope: 'workspace',
    redirect_uri: `${origin}/apis/v1/docs/oauth2-redirect.html`,
    code_challenge: challenge,
    code_challenge_method: 'S256',
  });
  return `${origin}/apis/v1/oidc/auth?${query}`;
}

async function withPassword(popup) {
  await popup.getByLabel('Email address').fill(server.emails[0]);
  await popup.getByLabel('Password').fill(server.password);
  await popup.keyboard.press('Enter');
}

const steps = {
  'the server starts and prints the address and a token': async () => {
    server = await startServer();
    browser = await openBrowser(new URL(server.docs).origin);
    swagger = new SwaggerPage(browser.page);
  },
  'the page lists every operation': async () => {
    const response = await browser.page.goto(server.docs);
    assert.equal(response?.status(), 200);
    // The page shows what the installation sends to webhooks as operations, too.
    const wanted = [openapi.paths, openapi.webhooks]
      .flatMap((section) => Object.values(section))
      .flatMap((operations) => Object.values(operations))
      .map((operation) => operation.operationId)
      .sort();
    assert.deepEqual((await swagger.operationIds(wanted.length)).sort(), wanted);
  },
  'the printed token authorises': async () => {
    assert.equal(await swagger.isAuthorised(), false);
    await swagger.authorise(server.token);
    assert.equal(await swagger.isAuthorised(), true);
  },
  'POST /notes, with the example of the page, returns 201': async () => {
    const { status, body } = await swagger.execute('notes', 'createNote', (example) => ({
      ...example,
      title,
    }));
    assert.equal(status, '201');
    assert.match(body, new RegExp(title));
  },
  'GET /notes, with the parameters of the page, returns 200 with that note': async () => {
    const { status, body } = await swagger.execute('notes', 'listNotes');
    assert.equal(status, '200');
    assert.match(body, new RegExp(title));
  },
  'the page, opened again, is still authorised': async () => {
    // Not by a reload: the URL of the open operation (#/notes/listNotes) would unfold it during the clicks.
    await browser.page.goto(server.docs);
    assert.equal(await swagger.isAuthorised(), true);
    assert.equal((await swagger.execute('notes', 'listNotes')).status, '200');
  },
  'signing in by the page authorises, and the operations take its token': async () => {
    await swagger.unauthorise();
    assert.equal(await swagger.isAuthorised(), false);
    tokens = await swagger.signIn(async (popup) => {
      await look(popup, 'sign-in');
      await popup.getByLabel('Email address').fill(server.emails[0]);
      await popup.getByLabel('Password').fill('not the password');
      await popup.keyboard.press('Enter');
      await popup.getByRole('alert').waitFor();
      assert.match(await popup.title(), /^Error: Sign in/);
      await look(popup, 'wrong password');
      // The form keeps the e-mail address, and its password field has the focus.
      await popup.keyboard.type(server.password);
      await popup.keyboard.press('Enter');
    });
    assert.equal(await swagger.isAuthorised(), true);
    await browser.page.goto(server.docs);
    assert.equal((await swagger.execute('notes', 'listNotes')).status, '200');
  },
  'a refresh token rotates, and ends its family when it is used again': async () => {
    const next = await refresh(tokens.refresh_token);
    assert.equal(next.status, 200);
    assert.equal(await listNotes(next.body.access_token), 200);
    const reused = await refresh(tokens.refresh_token);
    assert.deepEqual([reused.status, reused.body.error], [400, 'invalid_grant']);
    assert.equal((await refresh(next.body.refresh_token)).status, 400);
    await until(async () => (await listNotes(next.body.access_token)) === 401);
  },
  'with two-step sign-in on, the page asks for the code': async () => {
    await swagger.unauthorise();
    const { access_token: token } = await swagger.signIn((popup) => withPassword(popup));
    const call = (path, body) => api(path, { method: 'POST', token, body });
    const { secret } = (await call('/auth/initiate-2fa', { password: server.password })).body;
    const totp = new TOTP({ secret: Secret.fromBase32(secret) });
    assert.equal((await call('/auth/enable-2fa', { code: totp.generate() })).status, 200);
    await swagger.unauthorise();
    tokens = await swagger.signIn(async (popup) => {
      await withPassword(popup);
      await popup.getByLabel('Code from your authenticator app').waitFor();
      await look(popup, 'code');
      await popup.getByLabel('Code from your authenticator app').fill('000000');
      await popup.keyboard.press('Enter');
      await popup.getByRole('alert').waitFor();
      // The code that enabled the second factor is used up, so this is the code of the next step.
      await popup.keyboard.type(totp.generate({ timestamp: Date.now() + 30_000 }));
      await popup.getByRole('button', { name: 'Verify' }).click();
    });
    await browser.page.goto(server.docs);
    assert.equal((await swagger.execute('notes', 'listNotes')).status, '200');
  },
  'signing out everywhere ends it, in the browser too': async () => {
    const response = await api('/auth/sign-out', {
      method: 'POST',
      token: tokens.access_token,
      body: { everywhere: true },
    });
    assert.ok(response.status < 300, `${response.status}`);
    await until(async () => (await listNotes(tokens.access_token)) === 401);
    assert.equal((await refresh(tokens.refresh_token)).body.error, 'invalid_grant');
    const page = await browser.page.context().newPage();
    await page.goto(await authorizationUrl());
    await page.getByLabel('Password').waitFor();
    await page.close();
  },
  'the page called no other origin, violated no policy and logged no error': async () => {
    // The sign-in page with an error has the status 422, which the console reports.
    const expected = /console: Failed to load resource: the server responded with a status of 422/;
    assert.deepEqual(
      browser.complaints.filter((complaint) => !expected.test(complaint)),
      [],
    );
  },
  'the server stops cleanly': async () => {
    await browser.close();
    browser = undefined;
    const { stop } = server;
    server = undefined;
    assert.equal(await stop(), 0);
  },
};

/** A server of its own: it ends with two-step sign-in on. */
export const page = {
  steps,
  failed: () => pictureOfFailure(browser),
  async end() {
    await browser?.close();
    await server?.stop();
  },
};
