// The example page in a browser: two tabs, no connection, a killed tab, a conflict beside each other.
import assert from 'node:assert/strict';
import { openBrowser } from './support/browser.mjs';
import { look, pictureOfFailure } from './support/pictures.mjs';
import { startServer } from './support/server.mjs';
import { until } from './support/until.mjs';

const SIZES = { wide: { width: 1280, height: 900 }, narrow: { width: 390, height: 844 } };

let server;
let browser;
let second;

const address = () => `${server.docs}/example`;

/** The interface as the signed-in user, without the page. */
async function api(path, { method = 'GET', body } = {}) {
  const response = await fetch(`${new URL(server.docs).origin}/apis/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  return response.json();
}

/** The notes of the service with this title. */
async function notesOf(title) {
  const { notes } = await api('/notes?limit=200');
  return notes.filter((note) => note.title === title);
}

const noteOf = async (title) => (await api(`/notes/${(await notesOf(title))[0].id}`)).note;

const entry = (tab, title) => tab.locator('#list button').filter({ hasText: title });
const text = (tab) => tab.getByRole('textbox', { name: 'Text' });
const title = (tab) => tab.getByRole('textbox', { name: 'Title' });
const saved = (tab) => tab.getByText('Saved on this device.').waitFor();
const banner = (tab) => tab.locator('#banner');

async function save(tab) {
  await tab.getByRole('button', { name: /^Save/ }).click();
  await saved(tab);
}

async function open(tab, name) {
  await entry(tab, name).click();
  await tab.waitForFunction((wanted) => document.getElementById('title').value === wanted, name);
}

/** Types at the end of the last paragraph. */
async function append(tab, words) {
  await text(tab).click();
  await tab.keyboard.press('Control+End');
  await tab.keyboard.type(words);
}

/** Pictures of a state in all sizes and colours, if they are wanted. */
async function lookAround(tab, name) {
  if (!process.env.SCREENSHOTS) return;
  for (const colorScheme of ['light', 'dark'])
    for (const [size, viewport] of Object.entries(SIZES)) {
      await tab.emulateMedia({ colorScheme });
      await tab.setViewportSize(viewport);
      await look(tab, `example ${name} ${colorScheme} ${size}`);
    }
  await tab.emulateMedia({ colorScheme: 'light' });
  await tab.setViewportSize(SIZES.wide);
}

const steps = {
  'example: the page signs in with a code': async () => {
    server = await startServer();
    browser = await openBrowser(new URL(server.docs).origin);
    const { page } = browser;
    await page.goto(address());
    await lookAround(page, 'welcome');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByLabel('Email address').fill(server.emails[0]);
    await page.getByLabel('Password').fill(server.password);
    await page.keyboard.press('Enter');
    await page.waitForURL(address());
    await page.locator('#list button').first().waitFor();
    await page.getByText('Up to date').waitFor();
    // The worker has the files from now on.
    await page.evaluate(() => navigator.serviceWorker.ready);
  },
  'a note is created, found, deleted and restored': async () => {
    const { page } = browser;
    await page.getByRole('button', { name: 'New note' }).click();
    await title(page).fill('Shopping');
    await text(page).click();
    await page.keyboard.type('Bread');
    await page.keyboard.press('Enter');
    await page.keyboard.type('Milk <b>');
    await save(page);
    await until(async () => (await notesOf('Shopping')).length === 1);
    assert.equal((await noteOf('Shopping')).content, '<p>Bread</p><p>Milk &lt;b&gt;</p>');
    await page.getByLabel('Search').fill('milk');
    await page.waitForFunction(() => document.querySelectorAll('#list button').length === 1);
    await page.getByLabel('Search').fill('');
    await page.getByRole('button', { name: 'Delete' }).click();
    await until(async () => (await notesOf('Shopping')).length === 0);
    await page.getByRole('button', { name: 'Restore it' }).click();
    await until(async () => (await notesOf('Shopping')).length === 1);
    await open(page, 'Shopping');
    await lookAround(page, 'note');
  },
  'two tabs edit one note, and both edits stay': async () => {
    const { page } = browser;
    second = await page.context().newPage();
    await second.goto(address());
    await open(second, 'Shopping');
    await append(page, ', Eggs');
    await title(second).fill('Shopping list');
    await save(second);
    await page.getByText('Someone else has changed this note.').waitFor();
    await save(page);
    await until(async () => (await notesOf('Shopping list')).length === 1);
    await until(async () => (await noteOf('Shopping list')).content.endsWith('Milk &lt;b&gt;, Eggs</p>'));
    await second.waitForFunction(() => document.getElementById('content').textContent.includes('Eggs'));
    assert.equal(await title(page).inputValue(), 'Shopping list');
  },
  'without a connection, it opens, writes and counts what is not sent': async () => {
    const { page } = browser;
    await page.context().setOffline(true);
    await append(page, ', Butter');
    await save(page);
    await banner(page).getByText('There is no connection. 1 change waits until there is one.').waitFor();
    await second.reload();
    await banner(second).getByText('1 change waits').waitFor();
    await open(second, 'Shopping list');
    assert.match(await text(second).innerText(), /Butter/);
    await second.getByRole('button', { name: 'New note' }).click();
    await title(second).fill('Written offline');
    await append(second, 'We meet on Sunday.');
    await save(second);
    await banner(page).getByText('2 changes wait').waitFor();
    assert.equal(await entry(page, 'Written offline').locator('.mark').innerText(), 'Not sent yet');
    await lookAround(second, 'offline');
    assert.equal((await notesOf('Written offline')).length, 0);
  },
  'a tab that is killed in the middle of a save loses nothing that was saved': async () => {
    const { page } = browser;
    await open(page, 'Shopping list');
    await append(page, ', Salt');
    await page.getByRole('button', { name: 'Save' }).click({ noWaitAfter: true });
    await page.close({ runBeforeUnload: false });
    await second.context().setOffline(false);
    browser.page = await second.context().newPage();
    await browser.page.goto(address());
    await until(async () => (await notesOf('Written offline')).length === 1);
    await until(async () => (await noteOf('Shopping list')).content.includes(', Butter'));
    for (const tab of [browser.page, second]) await banner(tab).waitFor({ state: 'hidden' });
    await open(browser.page, 'Shopping list');
    // The killed save is there completely or not at all, and the device shows what the service has.
    await browser.page.waitForFunction(
      (content) => document.getElementById('content').innerHTML === content,
      (await noteOf('Shopping list')).content,
    );
  },
  'two versions are shown beside each other, and the user keeps one': async () => {
    const { page } = browser;
    await browser.page.context().setOffline(true);
    await open(page, 'Written offline');
    await text(page).click();
    await page.keyboard.press('Control+A');
    await page.keyboard.type('We meet on Monday.');
    await title(page).fill('My meeting');
    await save(page);
    await banner(page).getByText('1 change waits').waitFor();
    const { id } = (await notesOf('Written offline'))[0];
    await api(`/notes/${id}`, {
      method: 'PATCH',
      body: { title: 'Their meeting', content: '<p>We meet on Friday.</p>', base_revision: 1 },
    });
    await browser.page.context().setOffline(false);
    const panel = page.getByRole('region', { name: 'Two versions' });
    // Tabs learn of the fields one after the other.
    await panel.getByText('Friday').waitFor();
    const [mine, theirs] = await panel.getByRole('article').allInnerTexts();
    assert.match(mine, /Your version[^]*My meeting[^]*Monday/);
    assert.match(theirs, /The other version[^]*Their meeting[^]*Friday/);
    assert.equal(await entry(page, 'My meeting').locator('.mark').innerText(), 'Two versions');
    await lookAround(page, 'conflict');
    await panel.getByRole('button', { name: 'Keep theirs' }).click();
    await panel.waitFor({ state: 'hidden' });
    await until(async () => (await api(`/notes/${id}`)).note.title === 'Their meeting');
    assert.equal((await api(`/notes/${id}`)).note.content, '<p>We meet on Friday.</p>');
    await banner(page).waitFor({ state: 'hidden' });
  },
  'a merge is edited, also in a conflict between two tabs': async () => {
    const { page } = browser;
    await open(page, 'Their meeting');
    await open(second, 'Their meeting');
    await title(page).fill('Meeting in Rome');
    await title(second).fill('Meeting in Paris');
    await save(page);
    await save(second);
    const panel = second.getByRole('region', { name: 'Two versions' });
    await panel.getByText('Meeting in Rome').waitFor();
    await title(second).fill('Meetings in Rome and Paris');
    await second.getByRole('button', { name: 'Save the merge' }).click();
    await panel.waitFor({ state: 'hidden' });
    await until(async () => (await notesOf('Meetings in Rome and Paris')).length === 1);
    await entry(page, 'Meetings in Rome and Paris').waitFor();
  },
  'a rejected change is shown with its reason, and discarded': async () => {
    const { page } = browser;
    const [{ id, revision }] = await notesOf('Shopping list');
    await page.context().setOffline(true);
    await open(page, 'Shopping list');
    await append(page, ', Rice');
    await save(page);
    await api(`/notes/${id}`, { method: 'DELETE', body: { base_revision: revision } });
    await api(`/notes/${id}/purge`, { method: 'DELETE' });
    await page.context().setOffline(false);
    const problem = page.locator('#problem');
    await problem.getByText('The service rejects your changes').waitFor();
    await lookAround(page, 'rejected');
    await problem.getByRole('button', { name: 'Discard my changes' }).click();
    await problem.waitFor({ state: 'hidden' });
  },
  'a sign-out ends it in both tabs, and deletes the notes of the device': async () => {
    const { page } = browser;
    await page.getByRole('button', { name: 'Sign out' }).click();
    await second.getByRole('button', { name: 'Sign in' }).waitFor();
    await until(async () => page.url().includes('/oidc/session/end'));
    const left = await second.evaluate(async () => [
      (await indexedDB.databases()).length,
      localStorage.length,
    ]);
    assert.deepEqual(left, [0, 0]);
  },
  'the page called no other origin, violated no policy and logged no error': async () => {
    // Requests without a connection, and those that a page has left.
    const expected =
      /^failed request: .*\(net::ERR_(?:INTERNET_DISCONNECTED|ABORTED)\)|^console: .*net::ERR_INTERNET_DISCONNECTED/;
    assert.deepEqual(
      browser.complaints.filter((complaint) => !expected.test(complaint)),
      [],
    );
  },
};

export const example = {
  steps,
  failed: () => pictureOfFailure(browser),
  async end() {
    await browser?.close();
    await server?.stop();
  },
};
