import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { json, spawnWorkspace } from '../support/installation/cli.ts';
import { Client } from '../support/network/client.ts';
import { cleanUp, temporaryDataDir } from './support/processes.ts';
import { launch, started } from './support/server.ts';

afterEach(cleanUp);

const PEOPLE = {
  tenants: [
    { slug: 'acme', name: 'Acme', users: [{ email: 'ann@acme.example', name: 'Ann', role: 'owner' }] },
  ],
};

/** The whole product as an operator runs it: two embedded databases, two mail services, the command line beside a server. */
test('a backup beside a running server is restored into another data directory', async () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'workspace-backup-'));
  const users = path.join(directory, 'people.json');
  const place = path.join(directory, 'backup');
  writeFileSync(users, JSON.stringify(PEOPLE));
  const server = await started(await launch());
  const env = { DATA_DIR: server.dataDir };
  const [{ token }] = json(await spawnWorkspace(env, 'provision', '--file', users, '--tokens')).users;
  const api = new Client(`http://127.0.0.1:${server.port}`, token);
  const note = (await api.post('/notes', { title: 'Kept', content: '<p>Text</p>' })).body.note;
  const mailboxes = (await api.get('/mail/users/me/mailboxes')).body.results;

  const backup = await spawnWorkspace(env, 'backup', '--to', place);
  expect([backup.code, json(backup).faults]).toEqual([0, []]);
  const { snapshot } = json(backup);
  const verified = await spawnWorkspace(env, 'backup', '--verify', place);
  expect([verified.code, json(verified)]).toMatchObject([0, { snapshot, faults: [] }]);
  expect(await spawnWorkspace(env, 'restore', '--from', place)).toMatchObject({
    code: 1,
    stdout: '',
    stderr: 'Servers use this database. Stop them before the restore.\n',
  });
  server.child.kill('SIGTERM');
  expect(await server.exit).toBe(0);

  const dataDir = temporaryDataDir();
  const restore = await spawnWorkspace({ DATA_DIR: dataDir }, 'restore', '--from', place);
  expect([restore.code, json(restore).snapshot]).toEqual([0, snapshot]);
  const restored = await started(await launch({ DATA_DIR: dataDir }));
  const again = new Client(`http://127.0.0.1:${restored.port}`, token);
  expect((await again.get(`/notes/${note.id}`)).body.note).toMatchObject({
    title: 'Kept',
    content: '<p>Text</p>',
  });
  expect((await again.get('/mail/users/me/mailboxes')).body.results).toEqual(mailboxes);
  restored.child.kill('SIGTERM');
  expect(await restored.exit).toBe(0);
  rmSync(directory, { recursive: true, force: true });
});
