import { rmSync } from 'node:fs';
import pg from 'pg';
import { Config } from '../../../src/config/config.js';
import { TestApp, type TestUser } from '../app.ts';
import { cloneDatabase } from '../database/database.ts';
import { TestMailService } from '../mail/mail-service.ts';
import { memoryDirectory } from '../memory-directory.ts';
import { upload } from '../network/multipart.ts';

/** For `createBackup` and `restoreBackup`: progress is not read. */
export const silent = (): void => undefined;

/** Runs `work` at the first step of a phase. */
export function atFirst(wanted: 'table' | 'file', work: () => Promise<void> | void) {
  let done = false;
  return async ({ phase }: { phase: string }): Promise<void> => {
    if (done || phase !== wanted) return;
    done = true;
    await work();
  };
}

/** Settings of an installation for commands. */
export const configOf = (databaseUrl: string, dataDir: string, more: Record<string, string> = {}): Config =>
  Config.parse({ LOG_LEVEL: 'silent', DATABASE_URL: databaseUrl, DATA_DIR: dataDir, ...more });

/** Runs one statement on a database. */
export async function onDatabase(url: string, sql: string): Promise<any[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

/** Constraints, indexes, triggers and functions. @param schemas names for SQL */
export const objectsOf = (schemas: string): string => `
  SELECT conrelid::regclass::text AS of, conname AS name, pg_get_constraintdef(oid) AS definition FROM pg_constraint
   WHERE connamespace::regnamespace::text IN (${schemas})
  UNION ALL SELECT indrelid::regclass::text, indexrelid::regclass::text, pg_get_indexdef(indexrelid)
    FROM pg_index JOIN pg_class ON pg_class.oid = indrelid WHERE relnamespace::regnamespace::text IN (${schemas})
  UNION ALL SELECT tgrelid::regclass::text, tgname, tgenabled::text
    FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid
   WHERE NOT tgisinternal AND relnamespace::regnamespace::text IN (${schemas})
  UNION ALL SELECT '', oid::regprocedure::text, md5(prosrc) FROM pg_proc
   WHERE pronamespace::regnamespace::text IN (${schemas})
   ORDER BY 1, 2, 3`;

/** Temporary directories of a test file. */
export class Directories {
  private readonly made: string[] = [];

  make = (): string => {
    const directory = memoryDirectory('backup-test-');
    this.made.push(directory);
    return directory;
  };

  remove(): void {
    for (const directory of this.made) rmSync(directory, { recursive: true, force: true });
  }
}

/** The application with the embedded mail service on one database, three users and a task with files. */
export class BusyInstallation {
  private constructor(
    readonly app: TestApp,
    readonly config: Config,
    readonly users: TestUser[],
    readonly task: string,
    private readonly mail: TestMailService,
    private readonly drop: () => Promise<unknown>,
  ) {}

  /** @param dataDir of its files */
  static async start(dataDir: string): Promise<BusyInstallation> {
    const database = await cloneDatabase();
    const mail = await TestMailService.start({ DATA_DIR: dataDir }, database.url);
    const app = await TestApp.start({ ...mail.settings, DATA_DIR: dataDir }, database.url);
    const users = await app.tenant('busy', 'olga', 'pia', 'quinn');
    const { body } = await users[0].api.post('/tasks', { title: 'Files' });
    return new BusyInstallation(
      app,
      configOf(database.url, dataDir),
      users,
      body.task.id,
      mail,
      database.drop,
    );
  }

  get url(): string {
    return this.app.databaseUrl;
  }

  /** Attaches a file to the task. @returns the id of the attachment */
  async attach(text: string): Promise<string> {
    const { api } = this.users[0]!;
    const { body, status } = await upload(api, `/tasks/${this.task}/attachments`, Buffer.from(text));
    if (status !== 201) throw new Error(`${status} ${JSON.stringify(body)}`);
    return body.attachment.id;
  }

  async detach(attachment: string): Promise<void> {
    const { status } = await this.users[0]!.api.delete(`/tasks/${this.task}/attachments/${attachment}`);
    if (status !== 200) throw new Error(String(status));
  }

  async stop(): Promise<void> {
    await this.app.stop();
    await this.mail.stop();
    await this.drop();
  }
}
