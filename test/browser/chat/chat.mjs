// Two users chat in two browsers, each at a process of its own. The process of one of them is killed, and the chat goes on.
import assert from 'node:assert/strict';
import { openBrowser } from '../support/browser.mjs';
import { look, pictureOfFailure } from '../support/pictures.mjs';
import { Site } from '../../realtime/site.ts';
import { balance, originOf, servePage } from './servers.mjs';

let site;
let page;
let alice;
let bob;

/** @param ports of the processes, in the order in which the user's load balancer tries them */
async function open(user, ports) {
  const balancer = await balance(ports);
  const browser = await openBrowser(originOf(page));
  const query = new URLSearchParams({ base: originOf(balancer), token: user.token, user: user.id });
  await browser.page.goto(`${originOf(page)}/#${query}`);
  await state(browser, 'connected');
  return { ...browser, balancer };
}

const state = ({ page: tab }, text) => tab.locator('#state').filter({ hasText: text }).waitFor();
const messages = ({ page: tab }) => tab.locator('#messages li');

async function send({ page: tab }, text) {
  await tab.getByLabel('Message').fill(text);
  await tab.getByRole('button', { name: 'Send' }).click();
}

/** Waits until both pages show exactly these messages. */
async function bothShow(...texts) {
  for (const browser of [alice, bob]) {
    await messages(browser)
      .nth(texts.length - 1)
      .waitFor();
    assert.deepEqual(await messages(browser).allTextContents(), texts);
  }
}

const CHAT = ['Alice: Shall we meet in May?', 'Bob: May is fine.'];
const LATER = ['Alice: Bob, are you there?', 'Bob: Yes, at another process.', 'Alice: Good.'];

const steps = {
  'chat: two users open the page, each at a process of its own': async () => {
    page = await servePage();
    site = await new Site().start(['Alice', 'Bob'], 2, { CORS_ORIGINS: originOf(page) });
    const [first, second] = site.servers;
    const [owner, member] = site.users;
    const response = await fetch(`${first.base}/apis/v1/chat/rooms`, {
      method: 'POST',
      headers: { authorization: `Bearer ${owner.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ type: 'group', name: 'Offsite', member_ids: [member.id] }),
    });
    assert.equal(response.status, 201);
    alice = await open(owner, [first.port, second.port]);
    bob = await open(member, [second.port, first.port]);
  },
  'each sees the messages of the other': async () => {
    await send(alice, 'Shall we meet in May?');
    await bothShow(CHAT[0]);
    await send(bob, 'May is fine.');
    await bothShow(...CHAT);
  },
  'the process of one user is killed, and the chat goes on': async () => {
    await site.servers[1].stop('SIGKILL');
    await send(alice, 'Bob, are you there?');
    await bothShow(...CHAT, LATER[0]);
    await state(bob, 'connected');
    await send(bob, 'Yes, at another process.');
    await bothShow(...CHAT, ...LATER.slice(0, 2));
    await send(alice, 'Good.');
    await bothShow(...CHAT, ...LATER);
    await look(alice.page, 'chat alice');
    await look(bob.page, 'chat bob');
  },
};

/** Runs on a database and two processes of its own. */
export const chat = {
  steps,
  async failed() {
    for (const browser of [alice, bob]) await pictureOfFailure(browser);
  },
  async end() {
    for (const browser of [alice, bob]) {
      await browser?.close();
      browser?.balancer.close();
    }
    page?.close();
    await site?.stop();
  },
};
