// The page and the service worker of docs/push.md in a browser, with messages of a process. Chromium gets messages from a service of Google
// only. So the endpoint is a push service of the test, and its messages, decrypted, reach the service worker by the DevTools protocol.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { once } from 'node:events';
import { Site } from '../realtime/site.ts';
import { PushService } from '../support/network/push-service.ts';
import { openBrowser } from './support/browser.mjs';
import { pictureOfFailure } from './support/pictures.mjs';
import { until } from './support/until.mjs';

/** Gives the page of the documentation its `api`, and the subscription that Chromium would get from its push service. */
const PRELUDE = `
const given = JSON.parse(decodeURIComponent(location.hash.slice(1)));
async function api(method, path, body) {
  const headers = { authorization: 'Bearer ' + given.token, ...(body && { 'content-type': 'application/json' }) };
  const response = await fetch(given.base + '/apis/v1' + path, { method, headers, body: body && JSON.stringify(body) });
  if (!response.ok) throw new Error(path + ' returns ' + response.status);
  return response.json();
}
const subscription = { toJSON: () => given.subscription, unsubscribe: async () => true };
PushManager.prototype.getSubscription = async () => (localStorage.pushKey ? subscription : null);
PushManager.prototype.subscribe = async (options) => {
  window.subscribedWith = options;
  return subscription;
};
window.shows = 0;
navigator.serviceWorker.addEventListener('message', () => { window.shows += 1; });
navigator.serviceWorker.startMessages();
`;

/**
 * Tells the page when a notification is shown. Chromium 156 erases one whose `showNotification` has not ended when a page lists
 * notifications, so the test asks for them afterwards.
 */
const WORKER_PRELUDE = `
const show = ServiceWorkerRegistration.prototype.showNotification;
ServiceWorkerRegistration.prototype.showNotification = async function (...parameters) {
  await show.apply(this, parameters);
  for (const client of await self.clients.matchAll({ includeUncontrolled: true })) client.postMessage('shown');
};
`;

/** @returns the script of the documentation that begins with this name */
function documented(name) {
  const text = readFileSync(new URL('../../docs/push.md', import.meta.url), 'utf8');
  return text
    .split('```js\n')
    .find((part) => part.startsWith(`// ${name}`))
    .split('```')[0];
}

const FILES = {
  '/': ['text/html', '<!doctype html><title>Push</title><script type="module" src="/page.js"></script>'],
  '/page.js': [
    'text/javascript',
    // A module has its own names.
    `${PRELUDE}{${documented('page.js')}}\nwindow.isSubscribed = true;`,
  ],
  '/push-worker.js': ['text/javascript', `${WORKER_PRELUDE}${documented('push-worker.js')}`],
  '/favicon.ico': ['image/svg+xml', '<svg xmlns="http://www.w3.org/2000/svg"/>'],
};

let files;
let origin;
let site;
let service;
let device;
let browser;
let devtools;
let registrationId;
/** Messages that the browser has got. */
let delivered = 0;

/** A request of a user. @returns its JSON */
async function request(user, method, path, body) {
  const response = await fetch(`${site.servers[0].base}/apis/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${user.token}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  assert.ok(response.ok, `${path} returns ${response.status}`);
  return response.json();
}

/** Waits for the next message of the push service and gives it to the service worker. @returns its content */
async function next() {
  const messages = await service.received(device, delivered + 1);
  const content = device.read(messages[delivered]);
  delivered += 1;
  await devtools.send('ServiceWorker.deliverPushMessage', {
    origin,
    registrationId,
    data: JSON.stringify(content),
  });
  return content;
}

/** Waits until the worker has shown so many notifications to the page. */
const shows = (count) => browser.page.waitForFunction((expected) => window.shows === expected, count);

/** The notifications that the browser shows. */
const shown = () =>
  browser.page.evaluate(async () => {
    const registration = await navigator.serviceWorker.ready;
    return (await registration.getNotifications()).map(({ title, body, tag, data }) => ({
      title,
      body,
      tag,
      data,
    }));
  });

const subscriptions = async () =>
  (await request(site.users[1], 'GET', '/notifications/push-subscriptions')).push_subscriptions;

/** Runs the page of the documentation. */
async function start() {
  await browser.page.goto('about:blank');
  const { base } = site.servers[0];
  const given = { base, token: site.users[1].token, subscription: device.subscription };
  await browser.page.goto(`${origin}/#${encodeURIComponent(JSON.stringify(given))}`);
  await browser.page.waitForFunction(() => window.isSubscribed);
}

const steps = {
  'push: the page subscribes with the key of the service': async () => {
    files = createServer((incoming, response) => {
      const [type, content] = FILES[incoming.url] ?? [];
      if (!type) return response.writeHead(404).end();
      response.writeHead(200, { 'content-type': `${type}; charset=utf-8` }).end(content);
    }).listen(0, '127.0.0.1');
    await once(files, 'listening');
    origin = `http://127.0.0.1:${files.address().port}`;
    service = await PushService.start();
    device = service.device();
    site = await new Site().start(['Alice', 'Bob'], 1, { CORS_ORIGINS: origin });
    browser = await openBrowser(origin);
    await browser.page.context().grantPermissions(['notifications'], { origin });
    devtools = await browser.page.context().newCDPSession(browser.page);
    devtools.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
      registrationId =
        registrations.find(({ scopeURL }) => scopeURL.startsWith(origin))?.registrationId ?? registrationId;
    });
    await devtools.send('ServiceWorker.enable');
    await start();
    const { push_key: key } = await request(site.users[1], 'GET', '/notifications/push-key');
    const expected = { userVisibleOnly: true, applicationServerKey: key.public_key };
    assert.deepEqual(await browser.page.evaluate(() => window.subscribedWith), expected);
    const [subscription, ...others] = await subscriptions();
    assert.deepEqual([subscription.endpoint, subscription.key_id, others], [device.endpoint, key.id, []]);
    assert.match(subscription.description, /Chrome/);
    await until(() => registrationId !== undefined);
  },
  'another start of the page keeps the subscription': async () => {
    const [before] = await subscriptions();
    await start();
    assert.deepEqual(await subscriptions(), [before]);
  },
  'a notification is shown': async () => {
    const [alice, bob] = site.users;
    await request(alice, 'POST', '/tasks', { title: 'Book the venue', assignees: [bob.id] });
    const { id, text, url_path: path } = await next();
    await shows(1);
    assert.deepEqual(await shown(), [{ title: 'Book the venue', body: text, tag: id, data: { path } }]);
    assert.match(text, /Alice/);
  },
  'it is closed when it is read on another device': async () => {
    const [{ tag }] = await shown();
    await request(site.users[1], 'PUT', `/notifications/${tag}/read`);
    assert.equal((await next()).event, 'dismissed');
    await until(async () => (await shown()).length === 0);
  },
  'a test message is shown': async () => {
    const [{ id }] = await subscriptions();
    assert.deepEqual(
      (await request(site.users[1], 'POST', `/notifications/push-subscriptions/${id}/test`)).accepted,
      true,
    );
    await next();
    await shows(2);
    const [{ title, body }] = await shown();
    assert.deepEqual([title, body], ['Workspace', 'This is a test.']);
  },
  'the page logged no error, and called the service only': async () => {
    const { host } = new URL(site.servers[0].base);
    assert.deepEqual(
      browser.complaints.filter((complaint) => !complaint.includes(`another host: http://${host}/`)),
      [],
    );
  },
};

/** Runs on a database and a process of its own. */
export const push = {
  steps,
  failed: () => pictureOfFailure(browser),
  async end() {
    await browser?.close();
    await service?.stop();
    files?.close();
    await site?.stop();
  },
};
