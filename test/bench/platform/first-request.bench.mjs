// `node test/bench/platform/first-request.bench.mjs`: the additional cost of the first request with an access token. Each user of a
// workspace sends one request, then each the same again: processor time of the server and of PostgreSQL, and round trips.
import { parseArgs } from 'node:util';
import { Config } from '../../../dist/config/config.js';
import { withApp } from '../../../dist/cli/context.js';
import { provision } from '../../../dist/provision/provision.js';
import { Connection } from '../support/connection.mjs';
import { databaseCpu, WITHOUT_MAILBOXES } from '../support/processes.mjs';
import { print, withWorkspace } from '../support/workspace.mjs';

const { values: options } = parseArgs({ options: { people: { type: 'string', default: '4000' } } });
const CONNECTIONS = 8;

await withWorkspace('first-request', async ({ databaseUrl, server }) => {
  const config = Config.parse({ DATABASE_URL: databaseUrl, LOG_LEVEL: 'warn', DEMO: 'false' });
  const people = Array.from({ length: Number(options.people) }, (_, n) => ({
    email: `person${n}@many.example`,
    name: `Person ${n}`,
    role: n === 0 ? 'owner' : 'member',
  }));
  const { users } = await withApp(config, (app) =>
    provision(app, { tenants: [{ slug: 'many', users: people }] }, true),
  );
  const application = await server(WITHOUT_MAILBOXES);
  const requests = users.map(
    ({ token }) =>
      `GET /apis/v1/notes?limit=1 HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer ${token}\r\n\r\n`,
  );
  const pass = async (name, sent) => {
    const [own, database] = [application.cpu, await databaseCpu(databaseUrl)];
    await Promise.all(
      Array.from({ length: CONNECTIONS }, async (_, first) => {
        const connection = await Connection.open(application.port);
        for (let n = first; n < sent.length; n += CONNECTIONS) {
          const { status, body } = await connection.exchange(sent[n]);
          if (status !== 200) throw new Error(`${status} ${body.slice(0, 200)}`);
        }
        connection.close();
      }),
    );
    const perRequest = (seconds) => (1e6 * seconds) / sent.length;
    const cost = {
      own: perRequest(application.cpu - own),
      database: perRequest((await databaseCpu(databaseUrl)) - database),
    };
    print(`${name.padEnd(14)} server ${cost.own.toFixed(0)} us, PostgreSQL ${cost.database.toFixed(0)} us`);
    return cost;
  };
  // Compiled code, prepared statements and full pools, by a part of the users.
  const warm = requests.splice(0, requests.length / 4);
  for (let n = 0; n < 8; n += 1) await pass('warm-up', warm);
  const first = await pass('first request', requests);
  const second = await pass('second request', requests);
  const [own, all] = [first.own - second.own, first.own + first.database - second.own - second.database];
  print(`first - second: server ${own.toFixed(0)} us (bar 300), with PostgreSQL ${all.toFixed(0)} us`);
});
