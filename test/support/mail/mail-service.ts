import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import http from 'node:http';
import { Config } from '../../../src/config/config.js';
import {
  type MailService,
  migrateMailService,
  startMailService,
} from '../../../src/mail-service/mail-service.js';
import { Db } from '../../../src/platform/database/db.js';
import { either } from '../../../src/platform/database/statement.js';
import { PeriodicJobs } from '../../../src/platform/jobs/periodic-jobs.js';
import { cloneDatabase, emptyDatabase, type TestDatabase } from '../database/database.ts';
import { raiseTimeouts } from '../database/timeouts.ts';
import { memoryDirectory } from '../memory-directory.ts';

raiseTimeouts();

/** The name of a database with the schema of the mail service, which the services of this process copy. */
let template: Promise<string> | undefined;

async function migratedDatabase(): Promise<TestDatabase> {
  template ??= migrateTemplate();
  return cloneDatabase({ template: await template });
}

async function migrateTemplate(): Promise<string> {
  const { url } = await emptyDatabase();
  await migrateMailService(Config.parse({}), url);
  return new URL(url).pathname.slice(1);
}

export interface MailResponse<B = any> {
  status: number;
  headers: http.IncomingHttpHeaders;
  body: B;
  bytes: Buffer;
}

/** Calls the mail service with one token. */
export class MailClient {
  constructor(
    readonly url: string,
    readonly token: string | null,
    /** User id of a user token. */
    readonly id = '',
  ) {}

  get = (path: string) => this.request('GET', path);
  post = (path: string, body?: unknown) => this.request('POST', path, body);
  put = (path: string, body?: unknown) => this.request('PUT', path, body);
  delete = (path: string, body?: unknown) => this.request('DELETE', path, body);

  /** @param body a Buffer or text is sent unchanged, with the media type of `headers`; other values as JSON */
  async request(
    method: string,
    route: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<MailResponse> {
    const plain = typeof body === 'string' || Buffer.isBuffer(body);
    const own = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
    );
    const payload = plain || body === undefined ? body : JSON.stringify(body);
    // Not fetch, which cannot send a GET with a body.
    const request = http.request(`${this.url}${route}`, {
      method,
      agent: false,
      headers: {
        ...(this.token !== null && { 'x-access-token': this.token }),
        ...(payload !== undefined && {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(payload),
        }),
        ...own,
      },
    });
    request.end(payload as string | undefined);
    const [response] = (await once(request, 'response')) as [http.IncomingMessage];
    const chunks: Buffer[] = [];
    for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk);
    const bytes = Buffer.concat(chunks);
    const json = (response.headers['content-type'] ?? '').startsWith('application/json');
    return {
      status: response.statusCode as number,
      headers: response.headers,
      bytes,
      body: json && bytes.length > 0 ? JSON.parse(bytes.toString()) : undefined,
    };
  }
}

/** The real mail service in this process, on its own or a given database. */
export class TestMailService {
  private constructor(
    readonly service: MailService,
    readonly token: string,
    readonly databaseUrl: string,
    readonly dataDir: string,
    private readonly clean: () => Promise<void>,
  ) {}

  /**
   * @param settings environment variables that differ from the defaults
   * @param databaseUrl e.g. of a TestApp, which must be stopped after this service
   */
  static async start(settings: Record<string, string> = {}, databaseUrl?: string): Promise<TestMailService> {
    const database = databaseUrl
      ? { url: databaseUrl, drop: async () => undefined }
      : await migratedDatabase();
    const dataDir = memoryDirectory('mail-service-');
    const config = Config.parse({ LOG_LEVEL: 'silent', DATA_DIR: dataDir, ...settings });
    const token = randomBytes(20).toString('hex');
    const service = await startMailService(config, { databaseUrl: database.url, token, port: 0 });
    await service.nest.get(PeriodicJobs).stop();
    return new TestMailService(service, token, database.url, dataDir, async () => {
      await database.drop();
      rmSync(dataDir, { recursive: true, force: true });
    });
  }

  get url(): string {
    return `http://127.0.0.1:${this.service.port}`;
  }

  /** Settings of a workspace application that uses it. */
  get settings(): { MAIL_SERVICE_URL: string; MAIL_SERVICE_TOKEN: string } {
    return { MAIL_SERVICE_URL: this.url, MAIL_SERVICE_TOKEN: this.token };
  }

  get root(): MailClient {
    return new MailClient(this.url, this.token);
  }

  /** Creates an account and logs in. */
  async person(name: string, domain = 'example.com'): Promise<MailClient> {
    const account = {
      username: `${name}.${domain}`,
      password: `Pa55-${name}-word`,
      address: `${name}@${domain}`,
      name: `${name[0]!.toUpperCase()}${name.slice(1)} Example`,
    };
    const { body: made } = await this.root.post('/users', account);
    const { username, password } = account;
    const { body: login } = await this.root.post('/authenticate', { username, password, token: true });
    return new MailClient(this.url, login.token, made.id);
  }

  get<T>(type: abstract new (...args: never[]) => T): T {
    return this.service.nest.get(type as never, { strict: false });
  }

  /** Runs SQL in the schema of the service. */
  async sql<Row = any>(text: string, values: unknown[] = []): Promise<Row[]> {
    return this.get(Db).query(either.statement<Row>('', text), values);
  }

  async stop(): Promise<void> {
    await this.service.stop(1_000);
    await this.clean();
  }
}

/** The mailbox ids of a user by path. */
export async function mailboxesOf(user: MailClient): Promise<Record<string, string>> {
  const { body } = await user.get('/users/me/mailboxes?showHidden=true');
  return Object.fromEntries(body.results.map(({ path, id }: { path: string; id: string }) => [path, id]));
}
