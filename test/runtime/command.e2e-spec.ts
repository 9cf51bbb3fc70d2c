import { spawnWorkspace, startWorkspace } from '../support/installation/cli.ts';
import { until } from '../support/until.ts';
import {
  cleanUp,
  freePort,
  isAlive,
  madeDataDir,
  postmasterPid,
  temporaryDataDir,
} from './support/processes.ts';

afterEach(cleanUp);

/** The exit code of a command that closes the embedded database before it has ended. */
const INTERRUPTED = 130;
const AUDIT = ['audit', '--format', 'csv'];

describe('the workspace command on the embedded database', () => {
  it('stops PostgreSQL when its reader ends', async () => {
    const dataDir = madeDataDir();
    const command = startWorkspace('', { DATA_DIR: dataDir }, ...AUDIT, '--follow');
    command.child.stdout.destroy();
    const { code, stderr } = await command.result;
    expect(code).toBe(INTERRUPTED);
    expect(stderr).not.toContain('EPIPE');
    expect(postmasterPid(dataDir)).toBeUndefined();
  });

  it.each(['SIGHUP', 'SIGTERM'] as const)('stops PostgreSQL on %s', async (signal) => {
    const dataDir = madeDataDir();
    const command = startWorkspace('', { DATA_DIR: dataDir }, ...AUDIT, '--follow');
    await until('the first line', () => command.output.stdout !== '');
    command.child.kill(signal);
    expect((await command.result).code).toBe(INTERRUPTED);
    expect(postmasterPid(dataDir)).toBeUndefined();
  });

  it('stops PostgreSQL on a signal during its start', async () => {
    const dataDir = temporaryDataDir();
    const command = startWorkspace('', { DATA_DIR: dataDir }, ...AUDIT);
    const pid = await until('PostgreSQL to start', () => postmasterPid(dataDir));
    command.child.kill('SIGTERM');
    // The object shows the messages of a command that ended otherwise.
    expect(await command.result).toEqual(expect.objectContaining({ code: INTERRUPTED }));
    expect(isAlive(pid)).toBe(false);
  });
});

describe('a backup', () => {
  it('reports why its destination fails', async () => {
    const place = `s3://backups?endpoint=http://127.0.0.1:${await freePort()}`;
    const keys = { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret' };
    const { code, stderr } = await spawnWorkspace(keys, 'backup', '--verify', place);
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^the blob store could not be listed: [^\n]*ECONNREFUSED[^\n]*\n$/),
    ]);
  });
});
