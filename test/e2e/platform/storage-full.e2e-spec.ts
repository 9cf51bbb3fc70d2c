import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, closeSync, mkdirSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { BlobStore } from '../../../src/platform/blobs/store/blob-store.js';
import { isStorageFull } from '../../../src/platform/database/database-errors.js';
import { createLogger } from '../../../src/platform/observability/logger.js';
import { type TestUser, TestApp } from '../../support/app.ts';
import { SmtpReceiver } from '../../../src/mail-service/smtp/smtp-receiver.js';
import { sendBySmtp } from '../../support/mail/smtp.ts';
import { memoryDirectory } from '../../support/memory-directory.ts';
import { TestMailService } from '../../support/mail/mail-service.ts';
import { cloneDatabase, onServer } from '../../support/database/database.ts';
import { until } from '../../support/until.ts';

/** A file system of a few megabytes, which only root can mount. */
class SmallDisk {
  readonly directory = mkdtempSync(path.join(tmpdir(), 'workspace-small-'));
  private readonly filler = path.join(this.directory, 'filler');

  constructor(megabytes: number) {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', this.directory]);
  }

  /** A directory on the disk that belongs to the user of `like`. */
  folder(name: string, like: string): string {
    const directory = path.join(this.directory, name);
    mkdirSync(directory);
    const { uid, gid } = statSync(like);
    chownSync(this.directory, uid, gid);
    chownSync(directory, uid, gid);
    return directory;
  }

  fill(): void {
    const file = openSync(this.filler, 'a');
    try {
      for (const zeros = Buffer.alloc(4096); ;) writeSync(file, zeros);
    } catch (error) {
      if (!isStorageFull(error)) throw error;
    } finally {
      closeSync(file);
    }
  }

  free(): void {
    rmSync(this.filler, { force: true });
  }

  remove(): void {
    execFileSync('umount', ['--lazy', this.directory]);
    rmSync(this.directory, { recursive: true, force: true });
  }
}

const asRoot = process.getuid?.() === 0 && process.platform === 'linux' ? describe : describe.skip;

asRoot('a full disk', () => {
  let disk: SmallDisk;
  let database: Awaited<ReturnType<typeof cloneDatabase>>;
  let app: TestApp;
  let alice: TestUser;
  const tablespace = `small_${process.pid}`;

  beforeAll(async () => {
    disk = new SmallDisk(64);
    const [{ data_directory: server }] = await onServer('SHOW data_directory');
    const location = disk.folder('database', server);
    await onServer(`CREATE TABLESPACE ${tablespace} LOCATION '${location}'`);
    database = await cloneDatabase({ tablespace });
    app = await TestApp.start({ DATA_DIR: path.join(disk.directory, 'data') }, database.url);
    [alice] = await app.tenant('acme', 'alice');
  });
  afterAll(async () => {
    disk?.free();
    await app?.stop();
    await database?.drop();
    await onServer(`DROP TABLESPACE IF EXISTS ${tablespace}`);
    disk?.remove();
  });

  const content = `<p>${'Some text that fills the disk. '.repeat(10_000)}</p>`;
  // Random, because PostgreSQL compresses.
  const write = () => {
    const title = Array.from({ length: 100 }, () => Math.random().toString(36)).join(' ');
    return alice.api.post('/notes', { title: title.slice(0, 500), content });
  };
  const ready = async () => (await app.anonymous.get('/health/ready')).body;

  test('rejects writes with 507, serves reads, reports itself, and recovers', async () => {
    const { id } = (await write()).body.note;
    expect(await ready()).toEqual({ status: 'ok', blob_store: 'ok', database_storage: 'ok' });

    disk.fill();
    const rejected = await until('a rejected write', async () => {
      const response = await write();
      return response.status !== 201 && response;
    });
    expect([rejected.status, rejected.body.error]).toEqual([507, 'storage_full']);
    expect(rejected.headers.get('retry-after')).toBe('10');
    const full = await until('the readiness probe', async () => {
      const state = await ready();
      return state.database_storage === 'full' && state;
    });
    expect(full).toMatchObject({ status: 'ok', database_storage: 'full' });

    for (const read of [`/notes/${id}`, '/notes', '/notes/changes', '/search/notes?q=text', '/tasks'])
      expect((await alice.api.get(read)).status).toBe(200);

    disk.free();
    expect((await write()).status).toBe(201);
    await until('the readiness probe', async () => (await ready()).database_storage === 'ok');
  });

  test('rejects uploads with 507 when the store of files is full', async () => {
    const { id } = (await alice.api.post('/tasks', { title: 'Files' })).body.task;
    // The rows of the blob fit into the space that the first test left in the tables.
    const form = new FormData();
    form.append('file', new Blob([Buffer.alloc(8 * 1024 * 1024, 7)]), 'file.bin');
    disk.fill();
    const response = await fetch(`${app.base}/apis/v1/tasks/${id}/attachments`, {
      method: 'POST',
      headers: { authorization: `Bearer ${alice.token}` },
      body: form,
    });
    expect([response.status, ((await response.json()) as { error: string }).error]).toEqual([
      507,
      'storage_full',
    ]);
    await expect(app.get(BlobStore).check(true)).rejects.toThrow('could not be written to');
    disk.free();
    await app.get(BlobStore).check(true);
  });

  test.each(['files', 'database'] as const)('a full disk of the embedded mail service: %s', async (full) => {
    const location = full === 'database' ? await cloneDatabase({ tablespace }) : undefined;
    const elsewhere = memoryDirectory('workspace-mail-');
    const data = full === 'files' ? path.join(disk.directory, 'mail') : elsewhere;
    const mail = await TestMailService.start({ DATA_DIR: data }, location?.url);
    const user = await TestApp.start(mail.settings);
    try {
      const [bob] = await user.tenant('mail', 'bob');
      const port = await mail.get(SmtpReceiver).listen(0);
      const boxes = (await bob.api.get('/mail/users/me/mailboxes')).body.results;
      const mailbox = boxes.find((box: any) => box.path === 'Drafts').id;
      const text = 'A long text of a draft. '.repeat(20_000);
      const draft = () => bob.api.post('/mail/draft', { mailbox, subject: 'x', text });
      expect((await draft()).status).toBe(200);
      disk.fill();
      const rejected = await until('a rejected write', async () => {
        const response = await draft();
        return response.status !== 200 && response;
      });
      expect([rejected.status, rejected.body.error]).toEqual([507, 'storage_full']);
      expect(rejected.headers.get('retry-after')).toBe('10');
      const states = (await user.anonymous.get('/health/ready')).body;
      expect(states).toMatchObject({ [full === 'files' ? 'blob_store' : 'database_storage']: 'full' });
      expect((await bob.api.get(`/mail/users/me/mailboxes/${mailbox}/messages`)).status).toBe(200);
      // Random, because the compressed rows of a repeated text fit into the space that rejected drafts have left.
      const letter = `Subject: x\r\n\r\n${randomBytes(1_500_000).toString('base64').replaceAll(/.{76}/g, '$&\r\n')}`;
      const receive = () => sendBySmtp(port, { from: 'a@far.example', to: [bob.email] }, letter);
      await expect(receive()).rejects.toThrow(/452.*4\.3\.1/s);
      disk.free();
      expect((await draft()).status).toBe(200);
      await receive();
    } finally {
      disk.free();
      await user.stop();
      await mail.stop();
      await location?.drop();
      rmSync(elsewhere, { recursive: true, force: true });
    }
  });
});

describe('the log of a full disk', () => {
  test('repeats itself at most once in ten seconds, without a stack', () => {
    const lines: { msg: string; err: { stack?: string } }[] = [];
    let now = 0;
    const stream = { write: (line: string) => void lines.push(JSON.parse(line)) };
    const logger = createLogger('info', stream, () => now);
    const full = Object.assign(new Error('could not extend file'), { code: '53100' });
    const wrapped = new Error('the blob store could not write', {
      cause: Object.assign(new Error('write'), { code: 'ENOSPC' }),
    });
    for (now = 0; now < 25_000; now += 1_000) {
      logger.error({ err: full }, 'storage_full on POST');
      logger.warn({ err: wrapped }, 'job failed');
      if (now === 12_000) logger.error({ err: new Error('other') }, 'other');
    }
    expect(lines.map(({ msg }) => msg)).toEqual([
      'storage_full on POST',
      'storage_full on POST',
      'other',
      'storage_full on POST',
    ]);
    expect(lines.map(({ err }) => err.stack !== undefined)).toEqual([false, false, true, false]);
  });
});
