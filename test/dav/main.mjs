// Programs of Debian on a server as an operator starts it: vdirsyncer synchronises folders in both directions, khal, khard and todoman show
// and edit what it synchronised, python3-caldav works as a library client.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startServer } from '../browser/support/server.mjs';
import { Api } from './api.mjs';
import { editBothSides } from './random-edits.mjs';
import { Vdirsyncer } from './vdirsyncer.mjs';
import { khalAndKhard, todoman } from './terminal-programs.mjs';
import { pythonCaldav } from './python-caldav.mjs';

const directory = mkdtempSync(path.join(tmpdir(), 'workspace-dav-'));
const server = await startServer();
let passed = 0;
let failed = 0;

async function check(name, work) {
  try {
    await work();
    passed += 1;
    process.stdout.write(`ok      ${name}\n`);
  } catch (error) {
    failed += 1;
    process.stdout.write(`FAILED  ${name}\n${error.stack}\n`);
  }
}

try {
  const api = await Api.of(server);
  const programs = new Vdirsyncer(directory, api);
  await check('vdirsyncer finds the collections from the address of the server', () => programs.discover());
  await check('a folder gets what the server has, and a second synchronisation changes nothing', async () => {
    await programs.sync();
    await programs.assertQuiet();
    await programs.assertEqual();
  });
  await check('200 random edits of events on both sides converge', () =>
    editBothSides(api, programs, 'events'),
  );
  await check('200 random edits of tasks on both sides converge', () =>
    editBothSides(api, programs, 'tasks'),
  );
  await check('200 random edits of contacts on both sides converge', () =>
    editBothSides(api, programs, 'contacts'),
  );
  await khalAndKhard(check, api, programs);
  await todoman(check, api, programs);
  await check('python3-caldav works as a library client', () => pythonCaldav(directory, api));
} finally {
  await server.stop();
  rmSync(directory, { recursive: true, force: true });
}
process.stdout.write(`${passed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 ? 0 : 1;
