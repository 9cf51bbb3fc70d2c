import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Pool } from 'undici';
import { TestApp } from '../../support/app.ts';
import { LiveKit } from '../../support/livekit/livekit.ts';
import { TestMailService } from '../../support/mail/mail-service.ts';
import { describedOperations, openApi } from '../../support/contract/operations.ts';
import { Rng } from '../../sync/rng.ts';
import { Documented, type Received } from './documented.ts';
import { type FuzzRequest, Requests } from './requests.ts';
import { makeWorkspace } from './workspace.ts';

/** Test files that share the requests, so that they run at the same time. */
const FILES = 8;
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
 * document. The seeds are fixed, so that a run does not depend on chance. FUZZ_SEED sets the seed of the first file, FUZZ_REQUESTS
 * the number of requests of all files; CI sends 12,800. To repeat a batch set FUZZ_SEED and FUZZ_BATCH, and run the file `seed-1`:
 * its requests are then the same, one after the other.
 * @param file number of the test file, from 1; each has a seed of its own
 */
export function fuzzDocumentedResponses(file: number): void {
  const total = Number(FUZZ_REQUESTS);
  const seed = Number(FUZZ_SEED) + file - 1;
  const own = Math.ceil(total / FILES);
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
      `FUZZ_SEED=${seed} FUZZ_BATCH=${batch} [${mutations.join(', ')}] ${method} ${path.slice(0, 300)} ` +
      `${JSON.stringify(sent).slice(0, 300)} ${String(body).slice(0, 300)} -> ${received.body.slice(0, 400)}`;
    findings.set(`${outcome}: ${difference}`, finding);
  };

  const runBatch = async (batch: number, size: number): Promise<void> => {
    const rng = new Rng(`${seed}/${batch}`);
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

  test(`${own} requests with the seed ${seed}`, async () => {
    process.stdout.write(`FUZZ_SEED=${seed}\n`);
    if (FUZZ_BATCH === undefined)
      for (let batch = 0; batch * BATCH < own; batch += 1)
        await runBatch(batch, Math.min(BATCH, own - batch * BATCH));
    else await runBatch(Number(FUZZ_BATCH), BATCH);
    const lines = [...findings]
      .toSorted()
      .map(([key, { count, example }]) => `${count} x ${key}\n    ${example}`);
    expect(lines.join('\n')).toBe('');
  });

  // Requests that never succeed would test little. Operations that need a password or a code cannot succeed.
  test('most operations succeed in one of the files', () => {
    const succeeded = [...statuses.keys()]
      .filter((key) => / 2\d\d$/.test(key))
      .map((key) => key.split(' ')[0]!);
    const all = succeededInRun(file, succeeded);
    if (!all) return;
    const share = total >= 12_800 ? 0.8 : total >= 3_200 ? 0.65 : 0;
    const never = operations.map(({ spec }) => spec.operationId).filter((id) => !all.has(id));
    if (all.size <= operations.length * share)
      throw new Error(`${all.size} of ${operations.length} operations succeeded; never: ${never.join(' ')}`);
  });
}

/**
 * Stores for the other files of a run which operations have succeeded.
 * @returns those of all files, for the file that ends last; undefined: other files have not ended, or are no part of the run
 */
function succeededInRun(file: number, operations: readonly string[]): Set<string> | undefined {
  const directory = process.env['TEST_FILES'] as string;
  writeFileSync(path.join(directory, `fuzz-${file}`), [...new Set(operations)].join('\n'));
  const ended = readdirSync(directory).filter((name) => /^fuzz-\d+$/.test(name));
  if (ended.length < FILES) return undefined;
  return new Set(ended.flatMap((name) => readFileSync(path.join(directory, name), 'utf8').split('\n')));
}
