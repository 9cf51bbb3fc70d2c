// Programs of Debian on a server as an operator starts it: vdirsyncer synchronises folders in both directions, khal, khard and todoman show
// and edit what it synchronised, python3-caldav works as a library client, Evolution's data server as a desktop
// client, litmus examines the WebDAV base. Arguments name parts, such as
// `npm run test:dav -- guide litmus`.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startServer } from '../browser/support/server.mjs';
import { Api } from './api.mjs';
import { evolution } from './evolution.mjs';
import { guide } from './guide.mjs';
import { meetings, startRelay } from './meetings.mjs';
import { editBothSides } from './random-edits.mjs';
import { Vdirsyncer } from './vdirsyncer.mjs';
import { khalAndKhard, todoman } from './terminal-programs.mjs';
import { caldavTests } from './caldav-tests.mjs';
import { litmus } from './litmus.mjs';
import { pythonCaldav } from './python-caldav.mjs';

const directory = mkdtempSync(path.join(tmpdir(), 'workspace-dav-'));
const relay = await startRelay();
// Programs send many requests, and the organizer of the meetings many mails, in a short time: without a limit of 2,000 recipients a day.
const server = await startServer({
  API_REQUESTS_PER_MINUTE: '100000',
  MAIL_DAILY_RECIPIENTS: '0',
  SMTP_URL: relay.url,
});
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
  const parts = {
    guide: () => guide(check, directory, api),
    vdirsyncer: async () => {
      await check('vdirsyncer finds the collections from the address of the server', () =>
        programs.discover(),
      );
      await check(
        'a folder gets what the server has, and a second synchronisation changes nothing',
        async () => {
          await programs.sync();
          await programs.assertQuiet();
          await programs.assertEqual();
        },
      );
      for (const kind of ['events', 'tasks', 'contacts'])
        await check(`200 random edits of ${kind} on both sides converge`, () =>
          editBothSides(api, programs, kind),
        );
      await khalAndKhard(check, api, programs);
      await todoman(check, api, programs);
    },
    meetings: () =>
      check('two programs and the API edit meetings: nothing is lost or doubled, no mail is sent twice', () =>
        meetings(directory, api, relay),
      ),
    evolution: () => evolution(check, directory, api),
    python: () => check('python3-caldav works as a library client', () => pythonCaldav(directory, api)),
    litmus: () => check('litmus finds what adr/0078 lists', () => litmus(directory, api)),
    caldav: async () => {
      if (process.env.CALDAV_TESTS)
        await check('the functional tests of python3-caldav find what adr/0078 lists', () =>
          caldavTests(directory, api),
        );
      else process.stdout.write('skipped the functional tests of python3-caldav: CALDAV_TESTS is not set\n');
    },
  };
  const chosen = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(parts);
  for (const name of chosen) await parts[name]();
} finally {
  await server.stop();
  await relay.stop();
  rmSync(directory, { recursive: true, force: true });
}
process.stdout.write(`${passed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 ? 0 : 1;
