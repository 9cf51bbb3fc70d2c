import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { cleanUp, freePort } from './support/processes.ts';
import { launch, OWN_MAIL } from './support/server.ts';
import { emptyDatabase, onServer } from '../support/database/database.ts';

afterEach(cleanUp);

describe('npm start that cannot serve', () => {
  it('reports each invalid setting with one line, and exits with 78', async () => {
    const server = await launch({ PORT: 'eighty', LOG_LEVEL: 'loud' });
    expect(await server.exit).toBe(78);
    expect(server.stderr().trimEnd().split('\n')).toEqual([
      'PORT must be a whole number from 0 to 65535, not "eighty"',
      expect.stringMatching(/^LOG_LEVEL must be one of /),
    ]);
  });

  it('reports a missing file of clients with one line, and exits with 78', async () => {
    const server = await launch({ ...OWN_MAIL, OIDC_CLIENTS: '/nowhere/clients.json' });
    expect(await server.exit).toBe(78);
    expect(server.stderr()).toMatch(/^OIDC_CLIENTS: [^\n]*\/nowhere\/clients\.json[^\n]*\n$/);
  });

  it('reports a database that it cannot use with one line', async () => {
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const database = await emptyDatabase();
    const role = `guest_${randomBytes(4).toString('hex')}`;
    await onServer(`CREATE ROLE ${role} LOGIN; CREATE ROLE ${role}_none LOGIN CONNECTION LIMIT 0`);
    const as = (name: string) => Object.assign(new URL(database.url), { username: name }).href;
    const lineOf = async (url: string) => {
      const server = await launch({ ...OWN_MAIL, DATABASE_URL: url });
      return [await server.exit, server.stderr()];
    };
    const at = (port: number) => `postgres://nobody:secret@127.0.0.1:${port}/none`;
    const lines = await Promise.all([
      lineOf(at(await freePort())),
      lineOf(at((silent.address() as AddressInfo).port)),
      lineOf(as(role)),
      lineOf(as(`${role}_none`)),
    ]);
    expect(lines).toEqual([
      [1, 'The database of DATABASE_URL does not respond (ECONNREFUSED).\n'],
      [1, 'The database of DATABASE_URL does not respond.\n'],
      [
        1,
        'The role of DATABASE_URL lacks a privilege: permission denied for schema public. ' +
          'Use the owner of the database, or run workspace migrate with it.\n',
      ],
      [
        1,
        `The database of DATABASE_URL rejects the connection: too many connections for role "${role}_none".\n`,
      ],
    ]);
    silent.close();
    await database.drop();
    await onServer(`DROP ROLE ${role}, ${role}_none`);
  });
});
