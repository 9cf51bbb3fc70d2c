/**
 * Processor time of CalDAV and CardDAV requests beside that of the HTTP requests with the same purpose (bar: 1.5 times). Both take turns in
 * rounds; medians count. Programs sign in with an application password, the HTTP requests have a bearer token.
 * `npm run build`, then `node test/bench/dav/dav.bench.mjs` (`--rounds N`, `--seconds S`, `--only WORDS`, `--profile DIRECTORY`).
 */
import { parseArgs } from 'node:util';
import { Connection } from '../support/connection.mjs';
import { databaseCpu, execute, WITHOUT_MAILBOXES } from '../support/processes.mjs';
import { median } from '../support/report.mjs';
import { print, withWorkspace } from '../support/workspace.mjs';
import { calendarText, cardText, NAMESPACES, range, todoText } from './data.mjs';

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '7' },
    seconds: { type: 'string', default: '1' },
    only: { type: 'string', default: '' },
    // The processor profile of the server goes there.
    profile: { type: 'string' },
  },
});
const BAR = 1.5;
const CONNECTIONS = 4;
const ITEMS = 200;
const NAMES = 50;
/** The home has so many calendars and so many lists of tasks more than those of every user. */
const COLLECTIONS = 4;

const textOf = (authorization, [method, path, body = '', type = 'application/json']) =>
  `${method} ${path} HTTP/1.1\r\nHost: bench\r\nAuthorization: ${authorization}\r\nDepth: 1\r\nContent-Type: ${type}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;

await withWorkspace('dav', async ({ databaseUrl, owner, server }) => {
  const { profile } = options;
  const NODE_OPTIONS = profile ? `--cpu-prof --cpu-prof-dir=${profile}` : '';
  const application = await server({ ...WITHOUT_MAILBOXES, NODE_OPTIONS });
  const bearer = `Bearer ${owner.token}`;
  const connection = await Connection.open(application.port);
  const send = async (authorization, request) => {
    const { status, body } = await connection.exchange(textOf(authorization, request));
    if (status >= 300) throw new Error(`${request.slice(0, 2).join(' ')}: ${status} ${body.slice(0, 300)}`);
    return body;
  };
  const api = async (method, path, body, type) =>
    JSON.parse(
      await send(bearer, [
        method,
        `/apis/v1${path}`,
        typeof body === 'object' ? JSON.stringify(body) : body,
        type,
      ]),
    );

  const { password } = await api('POST', '/settings/application-passwords', {
    description: 'Bench',
    scopes: ['caldav', 'carddav'],
  });
  const basic = `Basic ${Buffer.from(`${owner.email ?? 'ada@bench.example'}:${password}`).toString('base64')}`;
  for (const n of range(COLLECTIONS)) {
    await api('POST', '/calendar', { name: `Calendar ${n}` });
    await api('POST', '/task_folders', { name: `List ${n}` });
  }
  const { calendar } = await api('POST', '/calendar', { name: 'Bench' });
  const { addressbook } = await api('POST', '/contact/addressbooks', { name: 'Bench' });
  const { folder } = await api('POST', '/task_folders', { name: 'Bench' });
  await api('POST', `/calendar/${calendar.id}/events/batch`, calendarText(range(ITEMS)), 'text/calendar');
  const imported = `/contact/phone-sync/import?addressbook_id=${addressbook.id}&device_id=bench`;
  await api('POST', imported, range(ITEMS).map(cardText).join(''), 'text/vcard');
  const home = (space) => `/apis/v1/dav/${space}/${owner.id}/`;
  const events = `${home('calendars')}${calendar.id}/`;
  const tasks = `${home('calendars')}${folder.id}/`;
  const contacts = `${home('addressbooks')}${addressbook.id}/`;
  for (const n of range(ITEMS)) await send(basic, ['PUT', `${tasks}${n}.ics`, todoText(n), 'text/calendar']);

  const find = (path, props) => [
    'PROPFIND',
    path,
    `<D:propfind ${NAMESPACES}><D:prop>${props}</D:prop></D:propfind>`,
    'application/xml',
  ];
  const report = (path, name, inside) => [
    'REPORT',
    path,
    `<${name} ${NAMESPACES}>${inside}</${name}>`,
    'application/xml',
  ];
  /** What DAVx5 asks of a home. */
  const properties = `<D:resourcetype/><D:displayname/><D:current-user-privilege-set/><D:owner/><D:sync-token/><S:getctag/><I:calendar-color/><C:calendar-description/><C:supported-calendar-component-set/>`;
  const pathsIn = async (path) =>
    [...(await send(basic, find(path, '<D:getetag/>'))).matchAll(/<D:response><D:href>([^<]*)/g)]
      .slice(1, NAMES + 1)
      .map(([, href]) => `<D:href>${href}</D:href>`)
      .join('');
  const tokenOf = async (path) =>
    /<D:sync-token>([^<]*)/.exec(await send(basic, find(path, '<D:sync-token/>')))[1];
  const synchronise = (path, token, data) =>
    report(
      path,
      'D:sync-collection',
      `<D:sync-token>${token}</D:sync-token><D:sync-level>1</D:sync-level><D:prop><D:getetag/>${data}</D:prop>`,
    );
  const multiget = async (path, name, data) =>
    report(path, name, `<D:prop><D:getetag/><${data}/></D:prop>${await pathsIn(path)}`);
  const get = (path) => ['GET', `/apis/v1${path}`];
  const { sync_token: token } = await api('POST', `/calendar/${calendar.id}/sync`, {
    sync_token: null,
    limit: 500,
  });
  const contactsOf = `/contact/addressbooks/${addressbook.id}/contacts`;
  const cursorOf = async (path) => {
    let cursor = '';
    for (let more = true; more;) {
      const page = await api('GET', `${path}${cursor && `?cursor=${encodeURIComponent(cursor)}`}`);
      [cursor, more] = [page.cursor ?? page.next_cursor ?? page.next, page.has_more ?? page.more ?? false];
    }
    return encodeURIComponent(cursor);
  };
  /** Requests of DAV, and the HTTP requests that read the same. */
  const pairs = {
    'PROPFIND of the home of calendars and tasks': [
      [find(home('calendars'), properties)],
      [get('/calendar'), get('/task_folders')],
    ],
    'PROPFIND of the home of address books': [
      [find(home('addressbooks'), properties)],
      [get('/contact/useraddressbooks')],
    ],
    'sync-collection of events': [
      [synchronise(events, await tokenOf(events), '')],
      [['POST', `/apis/v1/calendar/${calendar.id}/sync`, JSON.stringify({ sync_token: token })]],
    ],
    'sync-collection of tasks': [
      [synchronise(tasks, await tokenOf(tasks), '')],
      [get(`/tasks/changes?cursor=${await cursorOf('/tasks/changes')}`)],
    ],
    'sync-collection of contacts': [
      [synchronise(contacts, await tokenOf(contacts), '')],
      [get(`${contactsOf}/sync?cursor=${await cursorOf(`${contactsOf}/sync`)}`)],
    ],
    'multiget of 50 events': [
      [await multiget(events, 'C:calendar-multiget', 'C:calendar-data')],
      [get(`/calendar/${calendar.id}/events?limit=${NAMES}`)],
    ],
    'multiget of 50 tasks': [
      [await multiget(tasks, 'C:calendar-multiget', 'C:calendar-data')],
      [get(`/tasks?folder_id=${folder.id}&limit=${NAMES}`)],
    ],
    'multiget of 50 contacts': [
      [await multiget(contacts, 'A:addressbook-multiget', 'A:address-data')],
      [get(`${contactsOf}?limit=${NAMES}`)],
    ],
  };
  connection.close();

  /** Sends requests in turn for some seconds. @returns microseconds of processor time of all of them: of the server, and with PostgreSQL */
  const measure = async (authorization, requests) => {
    const texts = requests.map((request) => textOf(authorization, request));
    const before = [application.cpu, await databaseCpu(databaseUrl)];
    const end = performance.now() + Number(options.seconds) * 1000;
    let count = 0;
    const loop = async () => {
      const own = await Connection.open(application.port);
      while (performance.now() < end) {
        for (const text of texts) {
          const { status, body } = await own.exchange(text);
          if (status >= 300) throw new Error(`${text.slice(0, 100)}: ${status} ${body.slice(0, 300)}`);
        }
        count += 1;
      }
      own.close();
    };
    await Promise.all(range(CONNECTIONS).map(loop));
    const server = (1e6 * (application.cpu - before[0])) / count;
    return { server, all: server + (1e6 * ((await databaseCpu(databaseUrl)) - before[1])) / count };
  };
  await execute(databaseUrl, 'VACUUM (ANALYZE)');
  const chosen = Object.entries(pairs).filter(([name]) => name.includes(options.only));
  const found = new Map(chosen.map(([name]) => [name, []]));
  for (let round = -1; round < Number(options.rounds); round += 1)
    for (const [name, [own, other]] of chosen) {
      const costs = { dav: await measure(basic, own), http: await measure(bearer, other) };
      // The first round compiles code and fills caches.
      if (round >= 0) found.get(name).push(costs);
    }
  print('| operation | server us | with PostgreSQL us | HTTP server us | with PostgreSQL us | times | bar |');
  print('| --- | --- | --- | --- | --- | --- | --- |');
  for (const [name, costs] of found) {
    const cost = (side, key) => median(costs.map((each) => each[side][key]));
    const times = median(costs.map(({ dav, http }) => dav.all / http.all));
    const cells = [cost('dav', 'server'), cost('dav', 'all'), cost('http', 'server'), cost('http', 'all')];
    print(
      `| ${name} | ${cells.map((cell) => cell.toFixed(0)).join(' | ')} | ${times.toFixed(2)} | ${times > BAR ? 'MISSED' : 'met'} |`,
    );
  }
});
