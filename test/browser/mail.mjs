// Two people of the demo workspace write to each other in Swagger UI, with every operation of mail. What the page offers is
// sent as it stands; only ids are put in, which are copied from answers that the page showed before.
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
/** The operations that were answered with 200. */
const used = new Set();
let pictures = 0;

/** Ids of mailboxes by their paths: of whoever is signed in. */
let boxes;
/** The draft that was written last. */
let draft;
/** A mailbox of bob's own. */
let project;
/** What is marked and moved at once. */
let bulk;

/** Bytes that are no text, under a name that is not ASCII. */
const scan = { filename: 'Übersicht ✓.pdf', contentType: 'application/pdf', bytes: randomBytes(20_000) };

/** The operations that have been tried since the page was opened. */
const tried = new Set();

/** The page as new, with mail alone: what was filled in before is gone, who is signed in stays. */
async function open() {
  tried.clear();
  await browser.page.goto(server.docs);
  await swagger.filter(TAG);
}

/** Executes an operation that is as the page first offers it. @returns what the page shows */
async function attempt(operationId, edit, choices) {
  if (tried.has(operationId)) await open();
  tried.add(operationId);
  const { status, body } = await swagger.execute(TAG, operationId, edit, choices);
  await look(swagger.operation(TAG, operationId), `mail ${(pictures += 1)} ${operationId}`);
  return { status, body };
}

/** The JSON of an operation that has to succeed. */
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

/** The message of the inbox with that subject and beginning, as soon as a list shows it. */
async function arrived(subject, intro = /^/) {
  const end = Date.now() + ARRIVAL_MS;
  for (;;) {
    const { results } = await ok('listMessages', undefined, within(boxes.INBOX));
    const found = results.find((message) => message.subject === subject && intro.test(message.intro));
    if (found) return found;
    if (Date.now() > end) throw new Error(`${subject}: not there after ${ARRIVAL_MS / 1_000} s`);
    await delay(300);
  }
}

async function download(parameters) {
  const { status, body } = await attempt('readMailAttachment', undefined, { parameters });
  assert.equal(status, '200', body);
  used.add('readMailAttachment');
  return swagger.download(TAG, 'readMailAttachment');
}

const reference = (example) => ({ ...example.reference, mailbox: boxes.INBOX });

const steps = {
  'mail: a server that has just been made prints who can be tried out': async () => {
    server = await startServer();
    assert.ok(server.emails.length >= 2);
    browser = await openBrowser(new URL(server.docs).origin);
    swagger = new SwaggerPage(browser.page);
    await open();
    assert.equal(operations.length, 15);
  },
  'every parameter and body is explained, and none that is required is offered empty': async () => {
    for (const operationId of operations) {
      const block = swagger.operation(TAG, operationId);
      await block.locator('.opblock-summary-control').click();
      await block.getByRole('button', { name: 'Try it out' }).click();
      for (const row of await block.locator('tr[data-param-name]').all()) {
        const name = `${operationId} ${await row.getAttribute('data-param-name')}`;
        const words = row.locator('.parameters-col_description .renderedMarkdown');
        assert.ok((await words.count()) > 0, `${name} has no description`);
        if ((await row.locator('.parameter__name.required').count()) > 0)
          assert.notEqual(await row.locator('input').inputValue(), '', `${name} is offered empty`);
      }
      const section = block.locator('.opblock-section-request-body');
      if ((await section.count()) > 0)
        assert.ok((await section.locator('select.examples-select-element option').count()) > 0, operationId);
      await block.locator('.opblock-summary-control').click();
    }
  },
  'the first, with the printed token, finds their mailboxes': async () => {
    await open();
    await swagger.authorise(server.token);
    await readBoxes();
    assert.deepEqual(Object.keys(boxes).toSorted(), ['Drafts', 'INBOX', 'Junk', 'Sent Mail', 'Trash']);
  },
  'writes to the second: the letter of the page, with a file besides its own': async () => {
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
  'the second signs in with the printed password, and finds it': async () => {
    await open();
    await swagger.unauthorise();
    await swagger.signIn(async (popup) => {
      await popup.getByLabel('Email address').fill(server.emails[1]);
      await popup.getByLabel('Password').fill(server.password);
      await popup.keyboard.press('Enter');
    });
    await readBoxes();
    const { id, from, seen } = await arrived('Plan');
    assert.deepEqual([id, from.address, seen], [1, server.emails[0], false]);
  },
  'reads it': async () => {
    const letter = await ok('readMessage', undefined, within(boxes.INBOX));
    assert.match(letter.text, /Hello Bob/);
    assert.deepEqual(
      letter.attachments.map(({ id, filename }) => [id, filename]),
      [
        ['ATT00001', 'hello.txt'],
        ['ATT00002', scan.filename],
      ],
    );
  },
  'downloads the file of the example, by the parameters of the page': async () => {
    const { name, bytes } = await download({ mailbox_id: boxes.INBOX });
    assert.deepEqual([name, bytes.toString()], ['hello.txt', 'Hello']);
  },
  'downloads the other, byte by byte and under its name': async () => {
    const { name, bytes } = await download({
      mailbox_id: boxes.INBOX,
      attachment_id: 'ATT00002',
      filename: scan.filename,
    });
    assert.equal(name, scan.filename);
    assert.ok(bytes.equals(scan.bytes), `${bytes.length} bytes, not those of the ${scan.bytes.length} sent`);
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
  'replies once more, by a message that is submitted where it lies': async () => {
    const { message } = await ok(
      'createMessage',
      (example) => ({ ...example, text: 'And one more thing', reference: reference(example) }),
      { ...within(boxes.Drafts), example: 'reply' },
    );
    const sent = await ok('submitMessage', undefined, within(boxes.Drafts, message.id));
    assert.equal(sent.message.mailbox, boxes['Sent Mail']);
    assert.equal((await ok('readMessage', undefined, within(boxes.INBOX, 1))).answered, true);
  },
  'makes a mailbox, reads it and renames it': async () => {
    project = (await ok('createMailbox')).id;
    assert.equal((await ok('readMailbox', undefined, within(project))).path, 'Projects/Alpha');
    assert.equal((await ok('updateMailbox', undefined, within(project))).success, true);
    assert.equal((await ok('readMailbox', undefined, within(project))).path, 'Projects/Beta');
  },
  'marks several messages at once': async () => {
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
      results.map(({ id }) => id).filter((id) => id !== 1),
      bulk.toReversed(),
    );
  },
  'moves them at once, and back': async () => {
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
  'deletes it, and it is gone': async () => {
    assert.equal((await ok('deleteMessage', undefined, within(boxes.INBOX, bulk[0]))).success, true);
    assert.equal((await attempt('readMessage', undefined, within(boxes.INBOX, bulk[0]))).status, '404');
  },
  'deletes the mailbox, and it is gone': async () => {
    assert.equal((await ok('deleteMailbox', undefined, within(project))).success, true);
    await readBoxes();
    assert.equal(boxes['Projects/Beta'], undefined);
  },
  'the first has both replies': async () => {
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
  'each of the fifteen operations showed its 200': async () => {
    assert.deepEqual([...used].toSorted(), operations.toSorted());
  },
  'the page called nobody else, broke no policy and logged no error but the answer that was to be a 404':
    async () => {
      const told = /console: Failed to load resource: the server responded with a status of 404/;
      const complaints = browser.complaints.filter((complaint) => !told.test(complaint));
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

/** A server of its own: nobody has used mail there before. */
export const mail = {
  steps,
  failed: () => pictureOfFailure(browser),
  async end() {
    await browser?.close();
    await server?.stop();
  },
};
