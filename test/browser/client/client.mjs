// The client library in a browser: what it does there in another way than in Node, and between tabs.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openBrowser } from '../support/browser.mjs';
import { pictureOfFailure } from '../support/pictures.mjs';
import { startServer } from '../support/server.mjs';
import { serveApplication } from './application.mjs';
import { offlineSteps } from './offline.mjs';

const SIZE = 3_000_000;

const directory = mkdtempSync(path.join(tmpdir(), 'workspace-client-'));
let application;
let server;
let browser;
let second;
let renewals = 0;

const origin = () => `http://127.0.0.1:${application.address().port}`;
/** Origin of the service. */
const service = () => new URL(server.docs).origin;

/** Creates what the page of a signed-in user has: `signIn`, `client` and the states that it reported. */
const prepare = (url) => {
  const signIn = new library.SignIn({ url, clientId: 'page', storage: localStorage });
  const states = [];
  signIn.onChange((state) => states.push(state));
  globalThis.app = { signIn, states, client: library.createClient({ url, token: signIn.token }) };
};
const loaded = (tab) => tab.waitForFunction('globalThis.library !== undefined');

/** Opens a further tab of the signed-in user. */
const newTab = async () => {
  const tab = await browser.page.context().newPage();
  await tab.goto(origin());
  await loaded(tab);
  await tab.evaluate(prepare, service());
  return tab;
};

const steps = {
  'client: a page signs in with a code': async () => {
    application = await serveApplication();
    const clients = path.join(directory, 'clients.json');
    const redirectUri = `${origin()}/callback`;
    const client = {
      id: 'page',
      kind: 'public',
      name: 'Page',
      first_party: true,
      redirect_uris: [redirectUri],
    };
    writeFileSync(clients, JSON.stringify([client]));
    server = await startServer({ OIDC_CLIENTS: clients, CORS_ORIGINS: origin() });
    browser = await openBrowser(origin());
    const { page } = browser;
    page.context().on('request', (request) => {
      if (request.url().endsWith('/oidc/token') && request.method() === 'POST') renewals += 1;
    });
    await page.goto(origin());
    await loaded(page);
    await page.evaluate(prepare, service());
    await page.evaluate(async (uri) => {
      location.assign(await app.signIn.start({ redirectUri: uri, state: 'started' }));
    }, redirectUri);
    await page.getByLabel('Email address').fill(server.emails[0]);
    await page.getByLabel('Password').fill(server.password);
    await page.keyboard.press('Enter');
    await page.waitForURL(`${redirectUri}?**`);
    await loaded(page);
    await page.evaluate(prepare, service());
    const result = await page.evaluate(async () => {
      const state = await app.signIn.complete(location.href);
      return [state, app.states, (await app.client.GET('/notes')).response.status];
    });
    assert.deepEqual(result, ['started', ['signed-in'], 200]);
  },
  'it changes the revision that it has read': async () => {
    const result = await browser.page.evaluate(async () => {
      const { client } = app;
      const { note } = library.unwrap(await client.POST('/notes', { body: { title: 'First' } }));
      const params = { path: { id: note.id } };
      const read = library.unwrap(await client.GET('/notes/{id}', { params })).note;
      const change = (title) =>
        client.PATCH('/notes/{id}', { params, headers: library.ifMatch(read), body: { title } });
      return [(await change('Second')).response.status, (await change('Third')).error.error];
    });
    assert.deepEqual(result, [200, 'conflict']);
  },
  'it sends a file with its progress, and reads it': async () => {
    const result = await browser.page.evaluate(async (size) => {
      const { client } = app;
      const { task } = library.unwrap(await client.POST('/tasks', { body: { title: 'With a file' } }));
      const sent = [];
      const upload = (init) =>
        client.upload('/tasks/{task_id}/attachments', {
          params: { path: { task_id: task.id } },
          file: new File([new Uint8Array(size)], 'Übersicht.bin'),
          ...init,
        });
      const done = await upload({ onProgress: (progress) => sent.push(progress) });
      const { attachment } = library.unwrap(done);
      const abort = new AbortController();
      const aborted = await upload({ onProgress: () => abort.abort(), signal: abort.signal }).catch(
        ({ name }) => name,
      );
      const read = [];
      const { data } = await client.download('/tasks/{task_id}/attachments/{id}', {
        params: { path: { task_id: task.id, id: attachment.id } },
        onProgress: (progress) => read.push(progress),
      });
      const bytes = (await new Response(data).arrayBuffer()).byteLength;
      return { name: attachment.name, aborted, bytes, sent: sent.at(-1), read: read.at(-1).loaded };
    }, SIZE);
    const sent = { loaded: SIZE, total: SIZE };
    assert.deepEqual(result, { name: 'Übersicht.bin', aborted: 'AbortError', bytes: SIZE, sent, read: SIZE });
  },
  'its socket reports a change': async () => {
    const collection = await browser.page.evaluate(async () => {
      const socket = new library.WorkspaceSocket(app.client);
      const changed = new Promise((resolve) => {
        socket.on('changed', (change) => resolve(change.collection));
      });
      await new Promise((resolve) => {
        socket.on('state', (state) => state === 'connected' && resolve());
        socket.open();
      });
      library.unwrap(await app.client.POST('/notes', { body: { title: 'Travel' } }));
      return changed.finally(() => socket.close());
    });
    assert.equal(collection, 'notes');
  },
  'another tab continues the sign-in, and one tab renews the token for both': async () => {
    const first = browser.page;
    second = await newTab();
    assert.equal(await second.evaluate(async () => (await app.client.GET('/notes')).response.status), 200);
    const token = await second.evaluate(() => app.signIn.token());
    await first.waitForFunction(async (other) => (await app.signIn.token()) === other, token);
    const before = renewals;
    const renewed = await Promise.all(
      [first, second, first].map((tab) => tab.evaluate((old) => app.signIn.token(old), token)),
    );
    assert.equal(new Set([...renewed, token]).size, 2);
    assert.equal(renewals, before + 1);
  },
  ...offlineSteps({ tab: () => second, newTab }),
  'a sign-out ends it in both': async () => {
    await second.evaluate(() => app.signIn.signOut());
    await browser.page.waitForFunction(() => app.states.includes('signed-out'));
    const result = await browser.page.evaluate(async () => [await app.signIn.token(), localStorage.length]);
    assert.deepEqual(result, [undefined, 0]);
  },
};

/** Runs on a server of its own. */
export const client = {
  steps,
  failed: () => pictureOfFailure(browser),
  async end() {
    await browser?.close();
    application?.closeAllConnections();
    application?.close();
    await server?.stop();
    rmSync(directory, { recursive: true, force: true });
  },
};
