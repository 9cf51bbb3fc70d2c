// Swagger UI as a newcomer uses it: start, authorise with the printed token, create a note, find it in the list.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openBrowser } from './support/browser.mjs';
import { runSteps } from './support/steps.mjs';
import { SwaggerPage } from './support/swagger-page.mjs';
import { startServer } from './support/server.mjs';

const openapi = JSON.parse(readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8'));
const title = `Seen in a browser ${randomUUID()}`;
let server;
let browser;
let swagger;

const steps = {
  'the server starts and prints the address and a token': async () => {
    server = await startServer();
    browser = await openBrowser(new URL(server.docs).origin);
    swagger = new SwaggerPage(browser.page);
  },
  'the page lists every operation': async () => {
    const response = await browser.page.goto(server.docs);
    assert.equal(response?.status(), 200);
    const wanted = Object.values(openapi.paths)
      .flatMap((operations) => Object.values(operations))
      .map((operation) => operation.operationId)
      .sort();
    assert.deepEqual((await swagger.operationIds()).sort(), wanted);
  },
  'the printed token authorises': async () => {
    assert.equal(await swagger.isAuthorised(), false);
    await swagger.authorise(server.token);
    assert.equal(await swagger.isAuthorised(), true);
  },
  'POST /notes, with the example of the page, answers 201': async () => {
    const { status, body } = await swagger.execute('notes', 'createNote', (example) => ({
      ...example,
      title,
    }));
    assert.equal(status, '201');
    assert.match(body, new RegExp(title));
  },
  'GET /notes, as the page offers it, answers 200 with that note': async () => {
    const { status, body } = await swagger.execute('notes', 'listNotes');
    assert.equal(status, '200');
    assert.match(body, new RegExp(title));
  },
  'the page, opened again, is still authorised': async () => {
    // By its address: a link to the operation that is open (#/notes/listNotes) would unfold it while we click.
    await browser.page.goto(server.docs);
    assert.equal(await swagger.isAuthorised(), true);
    assert.equal((await swagger.execute('notes', 'listNotes')).status, '200');
  },
  'the page called nobody else, broke no policy and logged no error': async () => {
    assert.deepEqual(browser.complaints, []);
  },
  'the server stops cleanly': async () => {
    await browser.close();
    browser = undefined;
    const { stop } = server;
    server = undefined;
    assert.equal(await stop(), 0);
  },
};

process.exitCode = await runSteps(steps, {
  async failed() {
    if (!browser) return;
    const file = path.join(mkdtempSync(path.join(tmpdir(), 'workspace-screenshot-')), 'page.png');
    await browser.page.screenshot({ path: file, fullPage: true });
    process.stdout.write(`  the page when it failed: ${file}\n`);
    for (const complaint of browser.complaints) process.stdout.write(`  ${complaint}\n`);
  },
  async end() {
    await browser?.close();
    await server?.stop();
  },
});
