import { once } from 'node:events';
import { connect } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { UploadLimits } from '../../src/platform/blobs/uploads/uploads.js';
import { Db } from '../../src/platform/database/db.js';
import { TestApp } from '../support/app.ts';
import { LiveKit } from '../support/livekit/livekit.ts';
import { TestMailService } from '../support/mail/mail-service.ts';
import { describedOperations, openApi } from '../support/contract/operations.ts';
import { until } from '../support/until.ts';
import { Rng } from '../sync/rng.ts';
import { type FuzzRequest, Requests } from './fuzz/requests.ts';
import { makeWorkspace } from './fuzz/workspace.ts';

const { DISCONNECTS = '3', DISCONNECT_SEED = '1' } = process.env;
const CONCURRENCY = 8;
/** Turns of the event loop between the request and the end of its connection, at most. */
const MAX_TURNS = 40;

/** Timers that keep the process alive. */
const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;

/**
 * Sends requests to each operation whose clients disconnect before the body, within it, or while the handler runs. An unhandled error
 * makes the test file fail. Environment variables: DISCONNECTS, the number of requests to each operation; DISCONNECT_SEED, the seed
 * of the random generator.
 */
describe('clients that disconnect', () => {
  let mail: TestMailService;
  let livekit: LiveKit;
  let app: TestApp;
  const operations = describedOperations();

  beforeAll(async () => {
    mail = await TestMailService.start();
    livekit = await LiveKit.start();
    app = await TestApp.start({ ...mail.settings, ...livekit.settings, SMTP_URL: 'smtp://127.0.0.1:9' });
    // A forgotten upload must not be ended by these limits, so that the test detects it.
    Object.assign(app.get(UploadLimits), { windowMs: 3_600_000, totalMs: 3_600_000 });
  });
  afterAll(async () => {
    await app?.stop();
    await mail?.stop();
    await livekit?.stop();
  });

  const leave = async (rng: Rng, { method, path, headers, body = '' }: FuzzRequest): Promise<void> => {
    const bytes = Buffer.from(body as string);
    const lines = Object.entries({ ...headers, host: 'test', 'content-length': bytes.length });
    const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
    const socket = connect(Number(new URL(app.base).port), '127.0.0.1').on('error', () => undefined);
    await once(socket, 'connect');
    socket.write(`${method} ${path} HTTP/1.1\r\n${head}\r\n`);
    socket.write(bytes.subarray(0, rng.pick([0, bytes.length >> 1, bytes.length])));
    for (let turns = rng.int(0, MAX_TURNS); turns > 0; turns -= 1) await setImmediate();
    socket.destroy();
  };

  test(`leave nothing of ${DISCONNECTS} requests to each operation, seed ${DISCONNECT_SEED}`, async () => {
    const rng = new Rng(DISCONNECT_SEED);
    const workspace = await makeWorkspace(app, 'gone');
    const requests = new Requests(openApi(), workspace);
    const before = timers();
    const left = Array.from({ length: Number(DISCONNECTS) }, () => operations).flat();
    const sender = async (): Promise<void> => {
      for (let next = left.pop(); next; next = left.pop()) await leave(rng, requests.make(rng, next));
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, sender));

    const { main } = app.get<Db>(Db);
    await until('all connections to the database to be free', () => {
      const { idle, total, waiting } = main.poolState;
      return idle === total && waiting === 0;
    });
    await until('all unfinished files to be removed', async () => {
      const [pending] = await app.sql(`SELECT count(*)::int AS count FROM blobs WHERE state = 'pending'`);
      return pending.count === 0 && app.openBlobs() === 0;
    });
    await until('all timers of requests to end', () => timers() <= before);
    expect((await app.anonymous.get('/health/ready')).status).toBe(200);
  });
});
