// The page of sdk/README.md, as a reader copies it: list, editor, no connection, a conflict.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { openBrowser } from '../support/browser.mjs';
import { pictureOfFailure } from '../support/pictures.mjs';
import { startServer } from '../support/server.mjs';
import { serveApplication } from './application.mjs';

const ROOT = path.resolve(import.meta.dirname, '../../..');
const README = readFileSync(path.join(ROOT, 'sdk', 'README.md'), 'utf8');
const [, PAGE] = /^```html\n([^]*?)^```$/m.exec(README);
const [, PROGRAM] = /^```ts main\.ts\n([^]*?)^```$/m.exec(README);

let directory;
let application;
let server;
let browser;

const origin = () => `http://localhost:${application.address().port}`;
const service = () => new URL(server.docs).origin;

/** The interface as the signed-in user, without the page. */
async function api(target, method = 'GET', body) {
  const response = await fetch(`${service()}/apis/v1${target}`, {
    method,
    headers: { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  assert.ok(response.ok, `${method} ${target}: ${response.status}`);
  return response.json();
}

const entry = (title) => browser.page.locator('#list').getByText(title, { exact: true });
const isIdle = () =>
  browser.page.waitForFunction(() => document.getElementById('state').textContent.startsWith('idle'));
const noteOf = async (title) => {
  const { notes } = await api('/notes?limit=200');
  const { id } = notes.find((note) => note.title === title);
  return (await api(`/notes/${id}`)).note;
};
async function save(title, content) {
  const { page } = browser;
  await page.locator('[name=title]').fill(title);
  await page.locator('[name=content]').fill(content);
  await page.getByRole('button', { name: 'Save' }).click();
  await entry(title).waitFor();
}

const steps = {
  'guide: the page of sdk/README.md compiles strictly': () => {
    // In the repository, so that the compiler finds the library.
    directory = mkdtempSync(path.join(ROOT, 'sdk', 'dist', 'guide-'));
    const file = path.join(directory, 'main.ts');
    writeFileSync(file, PROGRAM);
    const options = {
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      verbatimModuleSyntax: true,
      skipLibCheck: false,
      target: 'es2022',
      module: 'esnext',
      moduleResolution: 'bundler',
      lib: ['es2023', 'dom', 'dom.iterable'],
      types: [],
      noEmit: true,
    };
    const project = path.join(directory, 'tsconfig.json');
    writeFileSync(project, JSON.stringify({ compilerOptions: options, files: [file] }));
    const compiler = path.join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
    execFileSync(process.execPath, [compiler, '-p', project], { encoding: 'utf8', stdio: 'pipe' });
  },
  'it signs in and lists the notes of the service': async () => {
    const source = () => PROGRAM.replace('http://localhost:3000', service());
    application = await serveApplication({ page: PAGE, script: '/main.ts', source });
    const clients = path.join(directory, 'clients.json');
    const client = { id: 'notes-page', kind: 'public', name: 'Notes', first_party: true };
    writeFileSync(clients, JSON.stringify([{ ...client, redirect_uris: [`${origin()}/`] }]));
    server = await startServer({ OIDC_CLIENTS: clients, CORS_ORIGINS: origin() });
    browser = await openBrowser(origin());
    const { page } = browser;
    await page.goto(origin());
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByLabel('Email address').fill(server.emails[0]);
    await page.getByLabel('Password').fill(server.password);
    await page.keyboard.press('Enter');
    await isIdle();
    const { notes } = await api('/notes?limit=100');
    for (const { title } of notes) await entry(title).waitFor();
  },
  'it makes and changes a note': async () => {
    await browser.page.getByRole('button', { name: 'New note' }).click();
    await browser.page.locator('#editor').waitFor();
    await save('Offsite', '<p>Monday</p>');
    await isIdle();
    assert.equal((await noteOf('Offsite')).content, '<p>Monday</p>');
  },
  'without a connection it opens, shows the notes and keeps a change': async () => {
    const { page } = browser;
    await page.route(`${service()}/**`, (route) => route.abort());
    await page.reload();
    await entry('Offsite').click();
    await save('Offsite here', '<p>Monday</p><p>Bring boots</p>');
    const note = await noteOf('Offsite');
    const theirs = { title: 'Offsite there', labels: ['travel'], base_revision: note.revision };
    await api(`/notes/${note.id}`, 'PATCH', theirs);
    await page.reload();
    await entry('Offsite here').waitFor();
  },
  'with a connection again both changes are merged, and what collides is shown': async () => {
    const { page } = browser;
    await page.unroute(`${service()}/**`);
    await page.evaluate(() => globalThis.dispatchEvent(new Event('online')));
    await page.getByText('title: here Offsite here, there Offsite there').waitFor();
    await isIdle();
    const { content, labels } = await noteOf('Offsite here');
    assert.deepEqual([content, labels], ['<p>Monday</p><p>Bring boots</p>', ['travel']]);
  },
};

/** Runs on a server of its own. */
export const guide = {
  steps,
  failed: () => pictureOfFailure(browser),
  async end() {
    await browser?.close();
    application?.closeAllConnections();
    application?.close();
    await server?.stop();
    if (directory) rmSync(directory, { recursive: true, force: true });
  },
};
