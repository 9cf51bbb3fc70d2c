// What a server does during one measured operation: the processor profile of its process, and the statements of PostgreSQL.
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { freePort } from './processes.mjs';

/** Of a profile. The default of V8 is 1 ms: an operation takes less. */
const SAMPLING_US = 250;
const STATEMENTS = 40;

/** Settings of PostgreSQL: statements inside of functions are counted, and functions too. */
export const COUNTED = { 'pg_stat_statements.track': 'all', track_functions: 'all' };

/** Profiles of one server, one for each measured operation. */
export class OperationProfiles {
  #directory;
  #inspector;
  #admin;
  #open;
  #count = new Map();

  /** @param admin a connection to the database, which has the settings {@link COUNTED} */
  static async prepare(directory, admin) {
    const profiles = new OperationProfiles();
    profiles.#directory = path.resolve(directory);
    mkdirSync(profiles.#directory, { recursive: true });
    profiles.#inspector = await freePort();
    profiles.#admin = admin;
    await admin.query('CREATE EXTENSION IF NOT EXISTS pg_stat_statements');
    return profiles;
  }

  /** Options of Node for the server. */
  get nodeOptions() {
    return [`--inspect=127.0.0.1:${this.#inspector}`];
  }

  /** Called when the measured time begins. */
  start() {
    this.#open = Promise.all([
      this.#startProfile(),
      this.#admin.query('SELECT pg_stat_statements_reset(), pg_stat_reset()'),
    ]);
  }

  /**
   * Writes `<name>.cpuprofile`, which the developer tools of browsers show as a flame graph, and `<name>.sql.txt`. Those of a later round have a
   * number.
   * @param requests of the measured time
   */
  async stop(name, requests) {
    const [session] = await this.#open;
    const { profile } = await session.send('Profiler.stop');
    session.close();
    const round = (this.#count.get(name) ?? 0) + 1;
    this.#count.set(name, round);
    const file = path.join(this.#directory, round === 1 ? name : `${name}-${round}`);
    writeFileSync(`${file}.cpuprofile`, JSON.stringify(profile));
    writeFileSync(`${file}.sql.txt`, await this.#statements(requests));
  }

  async #startProfile() {
    const session = await openSession(this.#inspector);
    await session.send('Profiler.enable');
    await session.send('Profiler.setSamplingInterval', { interval: SAMPLING_US });
    await session.send('Profiler.start');
    return session;
  }

  /** Statements and functions, those with the most time first. Times are those of the clock. */
  async #statements(requests) {
    const { rows: statements } = await this.#admin.query(
      `SELECT total_exec_time AS ms, calls::int, wal_bytes::float8 AS wal, (shared_blks_hit + shared_blks_read)::int AS pages,
              toplevel, left(regexp_replace(query, '\\s+', ' ', 'g'), 160) AS text
         FROM pg_stat_statements ORDER BY total_exec_time DESC LIMIT ${STATEMENTS}`,
    );
    const { rows: functions } = await this.#admin.query(
      `SELECT total_time AS ms, self_time AS self, calls::int, funcname AS name
         FROM pg_stat_user_functions WHERE calls > 0 ORDER BY total_time DESC LIMIT ${STATEMENTS}`,
    );
    const each = (value, digits = 1) => (value / requests).toFixed(digits).padStart(9);
    return [
      '       us    calls  WAL bytes    pages  of a request; statements inside of functions are indented',
      ...statements.map(
        ({ ms, calls, wal, pages, toplevel, text }) =>
          `${each(ms * 1000)}${each(calls, 2)}  ${each(wal)}${each(pages)}  ${toplevel ? '' : '  '}${text}`,
      ),
      '',
      '       us  itself    calls  functions',
      ...functions.map(
        ({ ms, self, calls, name }) => `${each(ms * 1000)}${each(self * 1000)}${each(calls, 2)}  ${name}`,
      ),
      '',
    ].join('\n');
  }
}

/** A session of the inspector of Node. */
async function openSession(port) {
  const [{ webSocketDebuggerUrl }] = await (await fetch(`http://127.0.0.1:${port}/json`)).json();
  const socket = new WebSocket(webSocketDebuggerUrl);
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve);
    socket.addEventListener('error', reject);
  });
  const pending = new Map();
  socket.addEventListener('message', ({ data }) => {
    const { id, result } = JSON.parse(data);
    pending.get(id)?.(result);
    pending.delete(id);
  });
  let last = 0;
  return {
    send: (method, params = {}) =>
      new Promise((resolve) => {
        last += 1;
        pending.set(last, resolve);
        socket.send(JSON.stringify({ id: last, method, params }));
      }),
    close: () => socket.close(),
  };
}
