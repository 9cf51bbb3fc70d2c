import { get, type IncomingHttpHeaders } from 'node:http';
import { until } from '../support/until.ts';
import { childrenOf, cleanUp } from './support/processes.ts';
import { isReady, launch, OWN_MAIL, type Server, serverPid, started } from './support/server.ts';

/** Errors of a connection whose process ends before the response. */
const CUT = new Set(['ECONNRESET', 'EPIPE']);

interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

/** A request on a connection of its own. @returns the response, or the code of the error of the connection */
function request(port: number): Promise<Answer | string> {
  return new Promise((resolve) => {
    get({ port, host: '127.0.0.1', path: '/apis/v1/health/live', agent: false }, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
      response.on('end', () =>
        resolve({ status: response.statusCode as number, headers: response.headers, text }),
      );
    }).on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
  });
}

/** The log lines of the primary with a message. */
const lines = (server: Server, message: RegExp): Record<string, unknown>[] =>
  server
    .stdout()
    .split('\n')
    .filter((line) => line.startsWith('{') && message.test(line))
    .map((line) => JSON.parse(line));

afterEach(cleanUp);

describe('npm start with one worker', () => {
  test('replaces a killed one at once; clients get 503 with Retry-After meanwhile, and no rejected connection', async () => {
    const server = await started(await launch(OWN_MAIL));
    const primary = await serverPid(server);
    const [worker] = childrenOf(primary) as [number];
    process.kill(worker, 'SIGKILL');
    const answers: (Answer | string)[] = [];
    // Two clients, since a single one may be in the request that ends with the process.
    const client = () =>
      until('the new worker to respond', async () => {
        const answer = await request(server.port);
        answers.push(answer);
        return childrenOf(primary)[0] !== worker && typeof answer === 'object' && answer.status === 200;
      });
    await Promise.all([client(), client()]);

    expect(childrenOf(primary)).toHaveLength(1);
    const cut = answers.filter((answer) => typeof answer === 'string');
    expect(cut.filter((code) => !CUT.has(code))).toEqual([]);
    const rejected = answers.filter(
      (answer) => typeof answer === 'object' && answer.status !== 200,
    ) as Answer[];
    expect(rejected.length).toBeGreaterThan(0);
    for (const { status, headers, text } of rejected) {
      expect([status, headers['retry-after'], headers['content-type']]).toEqual([
        503,
        '2',
        'application/json; charset=utf-8',
      ]);
      expect(JSON.parse(text)).toEqual({
        error: 'overloaded',
        message: 'The service is restarting; retry shortly.',
      });
    }
    expect(lines(server, /a worker process ended; replacing it/)).toEqual([
      expect.objectContaining({ worker, reason: 'SIGKILL', pause: 0 }),
    ]);
    server.child.kill('SIGTERM');
    expect(await server.exit).toBe(0);
    expect(await request(server.port)).toBe('ECONNREFUSED');
  });

  test('pauses longer and longer while workers end at their start, says so in the log, and recovers', async () => {
    const server = await started(await launch(OWN_MAIL));
    const primary = await serverPid(server);
    const ended = () => lines(server, /"pause":/);
    const killed = new Set<number>();
    await until('a loop of crashes', () => {
      for (const worker of childrenOf(primary).filter((pid) => !killed.has(pid))) {
        killed.add(worker);
        process.kill(worker, 'SIGKILL');
      }
      return ended().length >= 4;
    });
    expect(ended().map(({ pause }) => pause)).toEqual([0, 100, 200, 400]);
    expect(lines(server, /worker processes end soon after their start/)).toHaveLength(2);
    await until('the server to be ready', () => isReady(server.port));
    server.child.kill('SIGTERM');
    expect(await server.exit).toBe(0);
  });
});
