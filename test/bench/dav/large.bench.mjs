/**
 * Reports over large collections: by how much the memory of the server grows meanwhile, how long its event loop is held, and how long
 * another request waits.
 * `npm run build`, then `node test/bench/dav/large.bench.mjs` (`--events N`, `--contacts N`, `--rounds N`, `--only WORDS`).
 */
import { parseArgs } from 'node:util';
import { freePort, WITHOUT_MAILBOXES } from '../support/processes.mjs';
import { print, withWorkspace } from '../support/workspace.mjs';
import { calendarText, cardText, NAMESPACES, range, uidOf } from './data.mjs';

const { values: options } = parseArgs({
  options: {
    events: { type: 'string', default: '20000' },
    contacts: { type: 'string', default: '20000' },
    rounds: { type: 'string', default: '3' },
    only: { type: 'string', default: '' },
  },
});
const EVENTS = Number(options.events);
const CONTACTS = Number(options.contacts);
/** The bars. */
const GROWTH_MB = 40;
const HOLD_MS = 50;
/** Of the imports. */
const BATCH = 5_000;
const NAMES = 5_000;

await withWorkspace('dav', async ({ owner, server }) => {
  const probePort = await freePort();
  const probe = new URL('../support/loop-probe.mjs', import.meta.url).href;
  const application = await server({
    ...WITHOUT_MAILBOXES,
    NODE_OPTIONS: `--import ${probe}`,
    PROBE_PORT: String(probePort),
  });
  const origin = `http://127.0.0.1:${application.port}`;
  const headers = { authorization: `Bearer ${owner.token}` };
  const call = async (method, path, body, contentType) => {
    const response = await fetch(origin + path, {
      method,
      headers: { ...headers, 'content-type': contentType ?? 'application/json' },
      ...(body !== undefined && { body }),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return response.json();
  };
  const probed = async (path = '/') => (await fetch(`http://127.0.0.1:${probePort}${path}`)).json();

  const api = '/apis/v1';
  const { calendar } = await call('POST', `${api}/calendar`, JSON.stringify({ name: 'Large' }));
  const { addressbook } = await call(
    'POST',
    `${api}/contact/addressbooks`,
    JSON.stringify({ name: 'Large' }),
  );
  for (let at = 0; at < EVENTS; at += BATCH)
    await call(
      'POST',
      `${api}/calendar/${calendar.id}/events/batch`,
      calendarText(range(Math.min(BATCH, EVENTS - at), at)),
      'text/calendar',
    );
  for (let at = 0; at < CONTACTS; at += BATCH)
    await call(
      'POST',
      `${api}/contact/phone-sync/import?addressbook_id=${addressbook.id}&device_id=bench`,
      range(Math.min(BATCH, CONTACTS - at), at)
        .map(cardText)
        .join(''),
      'text/vcard',
    );
  print('seeded');

  const dav = `${api}/dav`;
  const events = `${dav}/calendars/${owner.id}/${calendar.id}/`;
  const contacts = `${dav}/addressbooks/${owner.id}/${addressbook.id}/`;
  const prop = (...names) => `<D:prop><D:getetag/>${names.map((name) => `<${name}/>`).join('')}</D:prop>`;
  const filter = (inside) =>
    `<C:filter><C:comp-filter name="VCALENDAR"><C:comp-filter name="VEVENT">${inside}</C:comp-filter></C:comp-filter></C:filter>`;
  const contactPaths = async () => {
    const response = await fetch(origin + contacts, {
      method: 'PROPFIND',
      headers: { ...headers, depth: '1' },
    });
    const [, ...members] = (await response.text()).matchAll(/<D:response><D:href>([^<]*)/g);
    return members.map(([, path]) => path);
  };
  const hrefs = (texts) => texts.map((text) => `<D:href>${text}</D:href>`).join('');
  const eventHrefs = hrefs(range(Math.min(NAMES, EVENTS)).map((n) => `${events}${uidOf(n)}.ics`));
  const cardHrefs = hrefs((await contactPaths()).slice(0, NAMES));
  const report = (name, inside) => ['REPORT', `<${name} ${NAMESPACES}>${inside}</${name}>`];
  const sync = (data) =>
    report('D:sync-collection', `<D:sync-token/><D:sync-level>1</D:sync-level>${prop(...data)}`);
  const expand =
    '<D:prop><D:getetag/><C:calendar-data><C:expand start="20260101T000000Z" end="20280301T000000Z"/></C:calendar-data></D:prop>';
  const years = '<C:time-range start="20260101T000000Z" end="20280301T000000Z"/>';
  const search = '<C:prop-filter name="SUMMARY"><C:text-match>budget</C:text-match></C:prop-filter>';
  const operations = {
    'calendar-query': [events, ...report('C:calendar-query', prop('C:calendar-data') + filter(years))],
    'calendar-query, expand': [events, ...report('C:calendar-query', expand + filter(years))],
    'calendar-query, text': [events, ...report('C:calendar-query', prop('C:calendar-data') + filter(search))],
    'sync-collection of events': [events, ...sync([])],
    'sync-collection of events with content': [events, ...sync(['C:calendar-data'])],
    'calendar-multiget of 5,000': [
      events,
      ...report('C:calendar-multiget', prop('C:calendar-data') + eventHrefs),
    ],
    'PROPFIND of events': [events, 'PROPFIND', `<D:propfind ${NAMESPACES}>${prop()}</D:propfind>`],
    'addressbook-query': [contacts, ...report('A:addressbook-query', prop('A:address-data'))],
    'sync-collection of contacts': [contacts, ...sync([])],
    'sync-collection of contacts with content': [contacts, ...sync(['A:address-data'])],
    'addressbook-multiget of 5,000': [
      contacts,
      ...report('A:addressbook-multiget', prop('A:address-data') + cardHrefs),
    ],
    'PROPFIND of contacts': [contacts, 'PROPFIND', `<D:propfind ${NAMESPACES}>${prop()}</D:propfind>`],
  };

  const read = async ([path, method, body]) => {
    const request = { method, body, headers: { ...headers, depth: '1' } };
    const response = await fetch(origin + path, request);
    if (response.status !== 207) throw new Error(`${response.status} ${await response.text()}`);
    let bytes = 0;
    for await (const chunk of response.body) bytes += chunk.length;
    return bytes;
  };
  /** Sends small requests until `isOver`. @returns milliseconds of each */
  const others = async (isOver) => {
    const times = [];
    while (!isOver()) {
      const began = performance.now();
      await (await fetch(`${origin}${api}/calendar/${calendar.id}`, { headers })).text();
      times.push(performance.now() - began);
    }
    return times.toSorted((a, b) => a - b);
  };
  /** With the requests in flight that measure; the memory that any load makes the process keep is part of its idle state. */
  const ordinary = async () => {
    const end = performance.now() + 15_000;
    await Promise.all(range(8).map(() => others(() => performance.now() > end)));
  };

  await ordinary();
  const chosen = Object.entries(operations).filter(([name]) => name.includes(options.only));
  const worst = { growth: 0, held: 0 };
  for (let round = 1; round <= Number(options.rounds); round += 1)
    for (const [name, operation] of chosen) {
      await probed('/collect');
      const { resident } = await probed();
      application.forgetPeak();
      const before = application.cpu;
      const began = performance.now();
      let isOver = false;
      const waits = others(() => isOver);
      const bytes = await read(operation);
      isOver = true;
      const seconds = (performance.now() - began) / 1000;
      const times = await waits;
      const { held } = await probed();
      const growth = application.peakMemory - resident;
      worst.growth = Math.max(worst.growth, growth);
      worst.held = Math.max(worst.held, held);
      print(
        `${round} ${name.padEnd(42)} ${(bytes / 1e6).toFixed(1).padStart(5)} MB ${seconds.toFixed(1).padStart(5)} s  processor ${(application.cpu - before).toFixed(1)} s  memory ${resident.toFixed(0)} +${growth.toFixed(0)} MB  held ${held.toFixed(0)} ms  others p50 ${times[times.length >> 1].toFixed(1)} p99 ${times[Math.floor(times.length * 0.99)].toFixed(0)} max ${times.at(-1).toFixed(0)} ms`,
      );
    }
  print(
    `memory at most +${worst.growth.toFixed(0)} MB (bar ${GROWTH_MB}), held at most ${worst.held.toFixed(0)} ms (bar ${HOLD_MS})`,
  );
});
