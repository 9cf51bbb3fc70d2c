import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { until } from '../browser/support/until.mjs';

const SCRIPT = path.join(path.dirname(fileURLToPath(import.meta.url)), 'evolution.py');

/** A source of Evolution: a key file, as its assistant for accounts writes it. */
const sourceOf = ({ name, section, parent, backend, target }, { origin, email }) => {
  const { hostname, port } = new URL(origin);
  return `[Data Source]
DisplayName=${name}
Enabled=true
Parent=${parent}

[${section}]
BackendName=${backend}

[Authentication]
Host=${hostname}
Port=${port}
Method=plain/password
User=${email}
RememberPassword=false

[Security]
Method=none

[WebDAV Backend]
ResourcePath=${target}

[Refresh]
Enabled=false
`;
};

const SOURCES = {
  events: { name: 'Events', section: 'Calendar', parent: 'caldav-stub', backend: 'caldav' },
  tasks: { name: 'Tasks', section: 'Task List', parent: 'caldav-stub', backend: 'caldav' },
  contacts: { name: 'Contacts', section: 'Address Book', parent: 'carddav-stub', backend: 'carddav' },
};

const lines = (...texts) => texts.map((text) => `${text}\r\n`).join('');
const stamp = 'DTSTAMP:20270101T000000Z';

/** How an item of each kind is made on both sides, found, changed and removed by the API. */
const KINDS = {
  events: {
    title: ({ title }) => title,
    all: async (api) => [...(await api.events()).values()],
    create: (api, title) =>
      api.call('POST', `/calendar/${api.calendar}/events`, {
        title,
        start: '2027-03-02T09:00:00Z',
        end: '2027-03-02T10:00:00Z',
      }),
    change: (api, { id }, title) =>
      api.call('PUT', `/calendar/${api.calendar}/events/${id}`, { title, scope: 'all' }),
    remove: (api, { id }) => api.call('DELETE', `/calendar/${api.calendar}/events/${id}`, { scope: 'all' }),
    text: (uid, title) =>
      lines(
        'BEGIN:VEVENT',
        `UID:${uid}`,
        stamp,
        'DTSTART:20270303T090000Z',
        'DTEND:20270303T100000Z',
        `SUMMARY:${title}`,
        'X-EVOLUTION-TEST:kept',
        'END:VEVENT',
      ),
  },
  tasks: {
    title: ({ title }) => title,
    all: async (api) => [...(await api.tasks()).values()],
    create: (api, title) => api.call('POST', '/tasks', { title, folder_id: api.list, priority: 'high' }),
    change: (api, { id }, title) => api.call('PATCH', `/tasks/${id}`, { title }),
    remove: (api, { id }) => api.call('DELETE', `/tasks/${id}`),
    text: (uid, title) =>
      lines('BEGIN:VTODO', `UID:${uid}`, stamp, `SUMMARY:${title}`, 'PRIORITY:3', 'END:VTODO'),
  },
  contacts: {
    title: ({ full_name }) => full_name,
    all: async (api) => [...(await api.contacts()).values()],
    create: (api, title) =>
      api.call('POST', `/contact/addressbooks/${api.book}/contacts`, { full_name: title }),
    change: (api, { external_id }, title) =>
      api.call('PUT', `/contact/addressbooks/${api.book}/contacts/${encodeURIComponent(external_id)}`, {
        full_name: title,
      }),
    remove: (api, { external_id }) =>
      api.call('DELETE', `/contact/addressbooks/${api.book}/contacts/${encodeURIComponent(external_id)}`),
    text: (uid, title) =>
      lines('BEGIN:VCARD', 'VERSION:3.0', `UID:${uid}`, `FN:${title}`, `N:;${title};;;`, 'END:VCARD'),
  },
};

/** The time of one command, also on a busy machine. */
const LIMIT_MS = 120_000;

/** Evolution's data server on a message bus of its own, with one source of each kind. */
class Evolution {
  static async start(directory, api) {
    const evolution = new Evolution();
    const home = path.join(directory, 'evolution');
    const config = path.join(home, 'config');
    const runtime = path.join(home, 'run');
    const sources = path.join(config, 'evolution', 'sources');
    const settings = path.join(config, 'glib-2.0', 'settings');
    for (const each of [sources, settings]) mkdirSync(each, { recursive: true });
    mkdirSync(runtime, { mode: 0o700 });
    // Without a default route, it would not open connections.
    writeFileSync(
      path.join(settings, 'keyfile'),
      "[org/gnome/evolution-data-server]\nnetwork-monitor-gio-name='always-online'\n",
    );
    const { profile } = await api.call('GET', '/settings/profile');
    const dav = (space, id) => `/apis/v1/dav/${space}/${profile.id}/${id}/`;
    const targets = {
      events: dav('calendars', api.calendar),
      tasks: dav('calendars', api.list),
      contacts: dav('addressbooks', api.book),
    };
    for (const [kind, source] of Object.entries(SOURCES)) {
      const text = sourceOf({ ...source, target: targets[kind] }, api);
      writeFileSync(path.join(sources, `test-${kind}.source`), text);
    }
    const env = {
      PATH: process.env.PATH,
      LANG: 'C.UTF-8',
      HOME: home,
      XDG_CONFIG_HOME: config,
      XDG_DATA_HOME: path.join(home, 'data'),
      XDG_CACHE_HOME: path.join(home, 'cache'),
      XDG_RUNTIME_DIR: runtime,
      GSETTINGS_BACKEND: 'keyfile',
      DAV_USER: api.email,
      DAV_PASSWORD: api.password,
      DAV_SOURCES: JSON.stringify(
        Object.fromEntries(Object.keys(SOURCES).map((kind) => [kind, `test-${kind}`])),
      ),
    };
    // Ends with all programs that it has started.
    evolution.child = spawn('dbus-run-session', ['--', '/usr/bin/python3', SCRIPT], {
      env,
      stdio: ['pipe', 'pipe', 'pipe'],
      // A group of its own, which can be killed as a whole.
      detached: true,
    });
    evolution.failed = new Promise((_resolve, reject) => evolution.child.once('error', reject));
    // Each command reports it.
    evolution.failed.catch(() => undefined);
    evolution.child.stdin.on('error', () => undefined);
    evolution.errors = '';
    evolution.child.stderr.on('data', (chunk) => (evolution.errors += chunk));
    evolution.responses = createInterface({ input: evolution.child.stdout })[Symbol.asyncIterator]();
    return evolution;
  }

  /** Executes a command. @returns its result */
  async run(kind, action, ...args) {
    this.child.stdin.write(`${JSON.stringify({ kind, action, args })}\n`);
    const { value, done } = await this.within(`${kind} ${action}`, this.responses.next());
    if (done) throw new Error(`Evolution's data server ended:\n${this.errors}`);
    const { error, result } = JSON.parse(value);
    if (error !== undefined) throw new Error(`${kind} ${action}: ${error}\n${this.errors}`);
    return result;
  }

  async stop() {
    if (this.child.pid === undefined || this.child.exitCode !== null || this.child.signalCode !== null)
      return;
    const ended = once(this.child, 'close');
    this.child.stdin.end();
    await this.within('stop', ended);
  }

  /** The result of a promise. A program that does not start, or not respond in time, is an error; the latter is killed. */
  async within(task, promise) {
    const waiting = new AbortController();
    const limit = setTimeout(LIMIT_MS, undefined, { signal: waiting.signal }).then(() => {
      process.kill(-this.child.pid, 'SIGKILL');
      throw new Error(`Evolution's data server did not respond to ${task} in time:\n${this.errors}`);
    });
    try {
      return await Promise.race([promise, this.failed, limit]);
    } finally {
      waiting.abort();
    }
  }
}

/** Evolution's data server reads, makes, changes and removes events, tasks and contacts, and so does the API, each for the other one. */
export async function evolution(check, directory, api) {
  const program = await Evolution.start(directory, api);
  try {
    for (const [kind, item] of Object.entries(KINDS))
      await check(`Evolution's data server and the API edit ${kind} of each other`, async () => {
        const found = async (title) => (await item.all(api)).find((each) => item.title(each) === title);
        const shown = async (title) => (await program.run(kind, 'list')).find((text) => text.includes(title));
        const uidIn = (text) => /^UID:(.*)$/m.exec(text.replaceAll(/\r\n[ \t]/g, ''))[1].trim();

        await item.create(api, 'Made by the API');
        await until(() => shown('Made by the API'));
        const uid = randomUUID();
        await program.run(kind, 'create', item.text(uid, 'Made by Evolution'));
        assert.ok(await found('Made by Evolution'));

        const own = uidIn(await shown('Made by the API'));
        await program.run(kind, 'change', own, 'Made by the API', 'Changed by Evolution');
        assert.ok(await found('Changed by Evolution'));
        await item.change(api, await found('Made by Evolution'), 'Changed by the API');
        await until(() => shown('Changed by the API'));
        const text = await shown('Changed by the API');
        if (kind === 'events') assert.match(text, /X-EVOLUTION-TEST:kept/);

        await program.run(kind, 'remove', own);
        assert.equal(await found('Changed by Evolution'), undefined);
        await item.remove(api, await found('Changed by the API'));
        await until(async () => !(await shown('Changed by the API')));
      });
  } finally {
    await program.stop();
  }
}
