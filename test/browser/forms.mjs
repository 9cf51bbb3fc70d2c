// A newcomer and forms: a draft from a preset, its publication, two responses, the workbook in LibreOffice, and a report that a
// second user reads without the column that it leaves out.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { openBrowser } from './support/browser.mjs';
import { look, pictureOfFailure } from './support/pictures.mjs';
import { startServer } from './support/server.mjs';
import { SwaggerPage } from './support/swagger-page.mjs';

const TAG = 'forms';
/** Text of the column that the report leaves out. */
const HIDDEN = 'Ann, hidden';
const RESPONSES = [
  { name: HIDDEN, attending: 'yes', guests: 2 },
  { name: '=1+1', attending: 'no' },
];

let server;
let browser;
let swagger;
let form;
let report;
let recipient;
/** Complaints of the browsers that are already closed. */
const complaints = [];

/** Opens a browser with an empty profile: the session of the sign-in page belongs to a profile. */
async function openFor(email) {
  if (browser) {
    complaints.push(...browser.complaints);
    await browser.close();
  }
  browser = await openBrowser(new URL(server.docs).origin);
  swagger = new SwaggerPage(browser.page);
  await open();
  await signIn(email);
}

/** Reloads the page: inputs are empty again, the user stays signed in. */
async function open() {
  await browser.page.goto(server.docs);
  await swagger.filter(TAG);
}

/** Executes an operation on a new page. @returns its JSON */
async function ok(operationId, { status = '200', edit, ...parameters } = {}) {
  await open();
  const response = await swagger.execute(TAG, operationId, edit, { parameters });
  assert.equal(response.status, status, `${operationId}: ${response.body}`);
  await look(swagger.operation(TAG, operationId), `forms ${operationId}`);
  return swagger.shown(TAG, operationId);
}

const signIn = (email) =>
  swagger.signIn(async (popup) => {
    await popup.getByLabel('Email address').fill(email);
    await popup.getByLabel('Password').fill(server.password);
    await popup.keyboard.press('Enter');
  });

/** Opens a workbook in LibreOffice and prints it. @returns the text of its pages */
function printed(bytes) {
  const directory = mkdtempSync(path.join(tmpdir(), 'workspace-workbook-'));
  try {
    const run = (program, ...args) =>
      execFileSync(program, args, { cwd: directory, stdio: ['ignore', 'pipe', 'ignore'], timeout: 120_000 });
    writeFileSync(path.join(directory, 'responses.xlsx'), bytes);
    const profile = pathToFileURL(path.join(directory, 'profile')).href;
    run('soffice', `-env:UserInstallation=${profile}`, '--headless', '--convert-to', 'pdf', 'responses.xlsx');
    if (process.env.SCREENSHOTS)
      run('pdftoppm', '-png', '-r', '80', 'responses.pdf', path.join(process.env.SCREENSHOTS, 'workbook'));
    return run('pdftotext', '-layout', 'responses.pdf', '-').toString();
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

const steps = {
  'forms: the user signs in on a new server': async () => {
    server = await startServer();
    await openFor(server.emails[1]);
    recipient = (
      await (
        await fetch(`${new URL(server.docs).origin}/apis/v1/tenant/members`, {
          headers: { authorization: `Bearer ${server.token}` },
        })
      ).json()
    ).members.find(({ email }) => email === server.emails[2]).user_id;
  },
  'the presets are listed, and the example makes a draft of one': async () => {
    const { presets } = await ok('listFormPresets');
    assert.ok(presets.some(({ id }) => id === 'event-rsvp'));
    ({ form } = await ok('draftForm', { status: '201' }));
    assert.deepEqual([form.state, form.accepting], ['draft', false]);
  },
  'the example publishes it': async () => {
    ({ form } = await ok('publishForm', { id: form.id }));
    assert.deepEqual([form.state, form.accepting, form.version], ['published', true, 1]);
  },
  'two responses are submitted and listed': async () => {
    for (const answers of RESPONSES)
      await ok('submitForm', { status: '201', id: form.id, edit: () => ({ answers }) });
    const { responses, total } = await ok('listFormResponses', { id: form.id });
    assert.equal(total, 2);
    assert.deepEqual(responses.map(({ answers }) => answers.name).toSorted(), ['=1+1', HIDDEN]);
  },
  'LibreOffice opens the workbook: texts, numbers and no formula': async () => {
    await open();
    const { status, body } = await swagger.execute(TAG, 'exportFormXlsx', undefined, {
      parameters: { id: form.id },
    });
    assert.equal(status, '200', body);
    const { name, bytes } = await swagger.download(TAG, 'exportFormXlsx');
    assert.match(name, /\.xlsx$/);
    const text = printed(bytes);
    for (const part of ['submitted_at', 'Will you attend?', HIDDEN, '=1+1', 'Yes', 'No'])
      assert.ok(text.includes(part), `${part} is missing:\n${text}`);
    assert.match(text, /\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/, 'the times do not fit their column');
    assert.ok(!text.includes('###'));
  },
  'a report without the names is saved and shared': async () => {
    const definition = {
      columns: ['attending', 'guests'],
      group_by: 'attending',
      metrics: [{ question: 'guests', function: 'sum' }],
    };
    ({ report } = await ok('createFormReport', {
      status: '201',
      id: form.id,
      edit: (example) => ({ ...example, definition }),
    }));
    const { viewers } = await ok('shareFormReport', {
      id: form.id,
      report_id: report.id,
      edit: () => ({ viewers: [{ user_id: recipient }], expose: { responses: true, form: true } }),
    });
    assert.deepEqual(
      viewers.map(({ id }) => id),
      [recipient],
    );
  },
  'the second user reads it without the column that it leaves out': async () => {
    await openFor(server.emails[2]);
    const shown = [
      await ok('listSharedReports'),
      await ok('readSharedReport', { report_id: report.id }),
      await ok('listSharedReportResponses', { report_id: report.id }),
      await ok('readSharedReportForm', { report_id: report.id }),
    ];
    assert.ok(shown[0].reports.some(({ id }) => id === report.id));
    assert.equal(shown[1].data.aggregates.responses, 2);
    assert.deepEqual(
      shown[2].responses.map(({ answers }) => answers),
      [{ attending: 'yes', guests: 2 }, { attending: 'no' }],
    );
    assert.ok(!JSON.stringify(shown).includes(HIDDEN));
    await open();
    const hidden = await swagger.execute(TAG, 'readForm', undefined, { parameters: { id: form.id } });
    assert.equal(hidden.status, '404');
  },
  'the page called no other origin, violated no policy and logged no error but the expected 404':
    async () => {
      const expected = /console: Failed to load resource: the server responded with a status of 404/;
      const all = [...complaints, ...browser.complaints];
      assert.deepEqual([all.filter((complaint) => !expected.test(complaint)), all.length], [[], 1]);
    },
  'the server with forms stops cleanly': async () => {
    await browser.close();
    browser = undefined;
    const { stop } = server;
    server = undefined;
    assert.equal(await stop(), 0);
  },
};

/** Runs on a server of its own. */
export const forms = {
  steps,
  failed: () => pictureOfFailure(browser),
  async end() {
    await browser?.close();
    await server?.stop();
  },
};
