// Two users of the demo workspace write to each other in Swagger UI, with every operation of mail. The examples of the page are
// sent unchanged, except for ids, which come from responses that the page has shown before.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { openBrowser } from './support/browser.mjs';
import { look, pictureOfFailure } from './support/pictures.mjs';
import { startServer } from './support/server.mjs';
import { SwaggerPage } from './support/swagger-page.mjs';

const TAG = 'mail';
const ARRIVAL_MS = 60_000;
const openapi = JSON.parse(readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8'));
const operations = Object.values(openapi.paths)
  .flatMap((methods) => Object.values(methods))
  .filter(({ tags }) => tags.includes(TAG))
  .map(({ operationId }) => operationId);

let server;
let browser;
let swagger;
/** The operations that have returned 200. */
const used = new Set();
let pictures = 0;

/** Ids of the mailboxes of the current user by path. */
let boxes;
/** The latest draft. */
let draft;
/** The first message of this test in the inbox of the second user. */
let letter;
/** A mailbox of the second user. */
let project;
/** Messages that are marked and moved in one request. */
let bulk;

/** Binary content under a non-ASCII name. */
const scan = { filename: 'Übersicht ✓.pdf', contentType: 'application/pdf', bytes: randomBytes(20_000) };

/** The operations executed since the page was opened. */
const tried = new Set();

/** Reloads the page, filtered to mail: inputs are empty again, the user stays signed in. */
async function open() {
  tried.clear();
  await browser.page.goto(server.docs);
  await swagger.filter(TAG);
}

/** Executes an operation whose inputs are unchanged. @returns the response that the page shows */
async function attempt(operationId, edit, choices) {
  if (tried.has(operationId)) await open();
  tried.add(operationId);
  const { status, body } = await swagger.execute(TAG, operationId, edit, choices);
  await look(swagger.operation(TAG, operationId), `mail ${(pictures += 1)} ${operationId}`);
  return { status, body };
}

/** Executes an operation that must succeed. @returns its JSON */
async function ok(operationId, edit, choices) {
  const { status, body } = await attempt(operationId, edit, choices);
  assert.equal(status, '200', `${operationId}: ${body}`);
  used.add(operationId);
  return swagger.shown(TAG, operationId);
}

const within = (mailbox, message) => ({
  parameters: { mailbox, ...(message !== undefined && { message: String(message) }) },
});

async function readBoxes() {
  const { results } = await ok('listMailboxes', undefined, { parameters: { counters: 'true' } });
  boxes = Object.fromEntries(results.map(({ path, id }) => [path, id]));
}

/** Waits until the inbox lists a message with this subject and beginning. */
async function arrived(subject, intro = /^/) {
  const end = Date.now() + ARRIVAL_MS;
  for (;;) {
    const { results } = await ok('listMessages', undefined, within(boxes.INBOX));
    const found = results.find((message) => message.subject === subject && intro.test(message.intro));
    if (found) return found;
    if (Date.now() > end) throw new Error(`${subject}: not listed after ${ARRIVAL_MS / 1_000} s`);
    await delay(300);
  }
}

async function download(parameters) {
  const { status, body } = await attempt('readMailAttachment', undefined, { parameters });
  assert.equal(status, '200', body);
  used.add('readMailAttachment');
  return swagger.download(TAG, 'readMailAttachment');
}

const reference = (example) => ({ ...example.reference, mailbox: boxes.INBOX, id: letter });

const steps = {
  'mail: a new server prints the demo users': async () => {
    server = await startServer();
    assert.ok(server.emails.length >= 2);
    browser = await openBrowser(new URL(server.docs).origin);
    swagger = new SwaggerPage(browser.page);
    await open();
    assert.equal(operations.length, 15);
  },
  'every parameter and body has a description, and required ones have a value': async () => {
    for (const operationId of operations) {
      const block = swagger.operation(TAG, operationId);
      await block.locator('.opblock-summary-control').click();
      await block.getByRole('button', { name: 'Try it out' }).click();
      for (const row of await block.locator('tr[data-param-name]').all()) {
        const name = `${operationId} ${await row.getAttribute('data-param-name')}`;
        const words = row.locator('.parameters-col_description .renderedMarkdown');
        assert.ok((await words.count()) > 0, `${name} has no description`);
        if ((await row.locator('.parameter__name.required').count()) > 0)
          assert.notEqual(await row.locator('input').inputValue(), '', `${name} is empty`);
      }
      const section = block.locator('.opblock-section-request-body');
      if ((await section.count()) > 0)
        assert.ok((await section.locator('select.examples-select-element option').count()) > 0, operationId);
      await block.locator('.opblock-summary-control').click();
    }
  },
  'the first user, with the printed token, lists their mailboxes': async () => {
    await open();
    await swagger.authorise(server.token);
    await readBoxes();
    assert.deepEqual(Object.keys(boxes).toSorted(), [
      'Archive',
      'Drafts',
      'INBOX',
      'Junk',
      'Sent Mail',
      'Trash',
    ]);
  },
  'writes the message of the example to the second user, with another attachment': async () => {
    const { bytes, ...file } = scan;
    const { message } = await ok('createDraft', (example) => {
      assert.deepEqual(
        example.to.map(({ address }) => address),
        [server.emails[1]],
      );
      const attachments = [...example.attachments, { ...file, content: bytes.toString('base64') }];
      return { ...example, mailbox: boxes.Drafts, attachments };
    });
    assert.equal(message.mailbox, boxes.Drafts);
    draft = message.id;
  },
  'and sends it': async () => {
    const sent = await ok('submitDraft', (example) => {
      assert.equal(example.message_id, String(draft));
      return { ...example, mailbox_id: boxes.Drafts };
    });
    assert.deepEqual([sent.success, sent.message.mailbox], [true, boxes['Sent Mail']]);
  },
  'the second user signs in with the printed password and finds it': async () => {
    await open();
    await swagger.unauthorise();
    await swagger.signIn(async (popup) => {
      await popup.getByLabel('Email address').fill(server.emails[1]);
      await popup.getByLabel('Password').fill(server.password);
      await popup.keyboard.press('Enter');
    });
    await readBoxes();
    const { id, from, seen } = await arrived('Plan');
    letter = id;
    assert.deepEqual([from.address, seen], [server.emails[0], false]);
  },
  'reads it': async () => {
    const read = await ok('readMessage', undefined, within(boxes.INBOX, letter));
    assert.match(read.text, /Hello Bob/);
    assert.deepEqual(
      read.attachments.map(({ id, filename }) => [id, filename]),
      [
        ['ATT00001', 'hello.txt'],
        ['ATT00002', scan.filename],
      ],
    );
  },
  'downloads the attachment of the example': async () => {
    const { name, bytes } = await download({ mailbox_id: boxes.INBOX, message_id: String(letter) });
    assert.deepEqual([name, bytes.toString()], ['hello.txt', 'Hello']);
  },
  'downloads the other attachment with equal bytes and name': async () => {
    const { name, bytes } = await download({
      mailbox_id: boxes.INBOX,
      message_id: String(letter),
      attachment_id: 'ATT00002',
      filename: scan.filename,
    });
    assert.equal(name, scan.filename);
    assert.ok(
      bytes.equals(scan.bytes),
      `${bytes.length} bytes differ from the ${scan.bytes.length} bytes sent`,
    );
  },
  'replies by a draft': async () => {
    const { message } = await ok(
      'createDraft',
      (example) => ({ ...example, mailbox: boxes.Drafts, reference: reference(example) }),
      { example: 'reply' },
    );
    const sent = await ok('submitDraft', () => ({
      mailbox_id: boxes.Drafts,
      message_id: String(message.id),
    }));
    assert.equal(sent.success, true);
  },
  'replies again by a message that is submitted from its mailbox': async () => {
    const { message } = await ok(
      'createMessage',
      (example) => ({ ...example, text: 'And one more thing', reference: reference(example) }),
      { ...within(boxes.Drafts), example: 'reply' },
    );
    const sent = await ok('submitMessage', undefined, within(boxes.Drafts, message.id));
    assert.equal(sent.message.mailbox, boxes['Sent Mail']);
    assert.equal((await ok('readMessage', undefined, within(boxes.INBOX, letter))).answered, true);
  },
  'creates a mailbox, reads it and renames it': async () => {
    project = (await ok('createMailbox')).id;
    assert.equal((await ok('readMailbox', undefined, within(project))).path, 'Projects/Alpha');
    assert.equal((await ok('updateMailbox', undefined, within(project))).success, true);
    assert.equal((await ok('readMailbox', undefined, within(project))).path, 'Projects/Beta');
  },
  'marks several messages in one request': async () => {
    bulk = [];
    for (let n = 0; n < 2; n += 1)
      bulk.push(
        (await ok('createMessage', undefined, { ...within(boxes.INBOX), example: 'note' })).message.id,
      );
    const mark = (example) => ({ ...example, message: bulk });
    const { updated } = await ok('updateMessages', mark, within(boxes.INBOX));
    assert.equal(updated, 2);
    await ok('updateMessages', mark, { ...within(boxes.INBOX), example: 'unseen' });
    const { results } = await ok('listMessages', undefined, {
      parameters: { mailbox: boxes.INBOX, unseen: 'true' },
    });
    assert.deepEqual(
      results.map(({ id }) => id).filter((id) => bulk.includes(id)),
      bulk.toReversed(),
    );
  },
  'moves them in one request, and back': async () => {
    const moved = await ok('updateMessages', (example) => ({ ...example, message: bulk, moveTo: project }), {
      ...within(boxes.INBOX),
      example: 'move',
    });
    assert.deepEqual(moved.id, [
      [bulk[0], 1],
      [bulk[1], 2],
    ]);
    const back = await ok('updateMessages', undefined, { ...within(project), example: 'restore' });
    assert.equal(back.mailbox, boxes.INBOX);
    [[, bulk[0]]] = back.id;
  },
  'marks one message': async () => {
    const { updated } = await ok('updateMessage', undefined, within(boxes.INBOX, bulk[0]));
    assert.equal(updated, 1);
    const { seen, flagged } = await ok('readMessage', undefined, within(boxes.INBOX, bulk[0]));
    assert.deepEqual([seen, flagged], [true, true]);
  },
  'deletes a message': async () => {
    assert.equal((await ok('deleteMessage', undefined, within(boxes.INBOX, bulk[0]))).success, true);
    assert.equal((await attempt('readMessage', undefined, within(boxes.INBOX, bulk[0]))).status, '404');
  },
  'deletes the mailbox': async () => {
    assert.equal((await ok('deleteMailbox', undefined, within(project))).success, true);
    await readBoxes();
    assert.equal(boxes['Projects/Beta'], undefined);
  },
  'the first user has both replies': async () => {
    await open();
    await swagger.unauthorise();
    await swagger.authorise(server.token);
    await readBoxes();
    for (const text of [/Thank you/, /And one more thing/]) {
      const { id, from } = await arrived('Re: Plan', text);
      assert.equal(from.address, server.emails[1]);
      assert.match((await ok('readMessage', undefined, within(boxes.INBOX, id))).text, text);
    }
  },
  'each of the fifteen operations returned 200': async () => {
    assert.deepEqual([...used].toSorted(), operations.toSorted());
  },
  'the page called no other origin, violated no policy and logged no error but the expected 404':
    async () => {
      const expected = /console: Failed to load resource: the server responded with a status of 404/;
      const complaints = browser.complaints.filter((complaint) => !expected.test(complaint));
      assert.deepEqual([complaints, browser.complaints.length], [[], 1]);
    },
  'the server with mail stops cleanly': async () => {
    await browser.close();
    browser = undefined;
    const { stop } = server;
    server = undefined;
    assert.equal(await stop(), 0);
  },
};

/** Runs on a server of its own. */
export const mail = {
  steps,
  failed: () => pictureOfFailure(browser),
  async end() {
    await browser?.close();
    await server?.stop();
  },
};
