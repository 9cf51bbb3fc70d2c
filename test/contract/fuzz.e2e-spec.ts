import { Pool } from 'undici';
import { TestApp } from '../support/app.ts';
import { LiveKit } from '../support/livekit/livekit.ts';
import { TestMailService } from '../support/mail/mail-service.ts';
import { describedOperations, openApi } from '../support/contract/operations.ts';
import { Rng } from '../sync/rng.ts';
import { Documented, type Received } from './fuzz/documented.ts';
import { type FuzzRequest, Requests } from './fuzz/requests.ts';
import { makeWorkspace } from './fuzz/workspace.ts';

const { FUZZ_REQUESTS = '3200', FUZZ_SEED = '1', FUZZ_BATCH } = process.env;
/** Requests of one workspace. */
const BATCH = 500;
const CONCURRENCY = FUZZ_BATCH === undefined ? 8 : 1;

interface Finding {
  count: number;
  example: string;
}

/**
 * Sends requests that the document allows, and mutations of these, to every operation, and compares each response with the
 * document. The seed is fixed, so that a run does not depend on chance. FUZZ_SEED and FUZZ_REQUESTS set another seed and more
 * requests; CI sends 12,800. To repeat a batch set FUZZ_SEED and FUZZ_BATCH: its requests are then the same,
 * one after the other.
 */
describe('every response is as documented, for any request', () => {
  let mail: TestMailService;
  let livekit: LiveKit;
  let app: TestApp;
  let pool: Pool;
  const document = openApi();
  const operations = describedOperations();
  const documented = new Documented(document);
  const findings = new Map<string, Finding>();
  const statuses = new Map<string, number>();

  beforeAll(async () => {
    mail = await TestMailService.start();
    livekit = await LiveKit.start();
    app = await TestApp.start({ ...mail.settings, ...livekit.settings, SMTP_URL: 'smtp://127.0.0.1:9' });
    pool = new Pool(app.base, { connections: CONCURRENCY });
  });
  afterAll(async () => {
    await pool?.close();
    await app?.stop();
    await mail?.stop();
    await livekit?.stop();
  });

  const send = async ({ method, path, headers, body }: FuzzRequest): Promise<Received> => {
    const response = await pool.request({ method, path, headers, body });
    return { status: response.statusCode, headers: response.headers, body: await response.body.text() };
  };

  const examine = async (request: FuzzRequest, batch: number): Promise<void> => {
    const { operationId } = request.operation.spec;
    const received = await send(request);
    const outcome = `${operationId} ${received.status}`;
    statuses.set(outcome, (statuses.get(outcome) ?? 0) + 1);
    const difference = documented.difference(request.operation, received);
    if (difference === undefined) return;
    const { method, path, mutations, headers, body } = request;
    const { authorization: _, ...sent } = headers;
    const finding = findings.get(`${outcome}: ${difference}`) ?? { count: 0, example: '' };
    finding.count += 1;
    finding.example ||=
      `FUZZ_SEED=${FUZZ_SEED} FUZZ_BATCH=${batch} [${mutations.join(', ')}] ${method} ${path.slice(0, 300)} ` +
      `${JSON.stringify(sent).slice(0, 300)} ${String(body).slice(0, 300)} -> ${received.body.slice(0, 400)}`;
    findings.set(`${outcome}: ${difference}`, finding);
  };

  const runBatch = async (batch: number, size: number): Promise<void> => {
    const rng = new Rng(`${FUZZ_SEED}/${batch}`);
    const requests = new Requests(document, await makeWorkspace(app, `fuzz${batch}`));
    let left = size;
    const sender = async (): Promise<void> => {
      while (left > 0) {
        left -= 1;
        await examine(requests.make(rng, rng.pick(operations)), batch);
      }
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, sender));
  };

  test(`${FUZZ_REQUESTS} requests with the seed ${FUZZ_SEED}`, async () => {
    process.stdout.write(`FUZZ_SEED=${FUZZ_SEED}\n`);
    const total = Number(FUZZ_REQUESTS);
    if (FUZZ_BATCH === undefined)
      for (let batch = 0; batch * BATCH < total; batch += 1)
        await runBatch(batch, Math.min(BATCH, total - batch * BATCH));
    else await runBatch(Number(FUZZ_BATCH), BATCH);
    const lines = [...findings]
      .toSorted()
      .map(([key, { count, example }]) => `${count} x ${key}\n    ${example}`);
    expect(lines.join('\n')).toBe('');
    // Requests that never succeed would test little. Operations that need a password or a code cannot succeed.
    const succeeded = new Set(
      [...statuses.keys()].filter((key) => / 2\d\d$/.test(key)).map((key) => key.split(' ')[0]),
    );
    const share = total >= 12_800 ? 0.8 : total >= 3_200 ? 0.65 : 0;
    if (succeeded.size <= operations.length * share) {
      const never = operations.map(({ spec }) => spec.operationId).filter((id) => !succeeded.has(id));
      throw new Error(
        `${succeeded.size} of ${operations.length} operations succeeded; never: ${never.join(' ')}`,
      );
    }
  });
});
