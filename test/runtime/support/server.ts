import { until } from '../../support/until.ts';
import { freePort, madeDataDir, type Running, startNode } from './processes.ts';

export interface Server extends Running {
  port: number;
  dataDir: string;
}

/** A mail service of the operator, which replaces the embedded one and saves its process. */
export const OWN_MAIL = { MAIL_SERVICE_URL: 'http://127.0.0.1:9' };

/** `npm start` (or another script of `bin`) without npm, and without the database of the other tests. */
export async function launch(
  settings: Record<string, string> = {},
  script = 'bin/start.mjs',
): Promise<Server> {
  const dataDir = settings['DATA_DIR'] ?? madeDataDir();
  const port = Number(settings['PORT'] ?? (await freePort()));
  const env = {
    DATABASE_URL: '',
    DEMO: 'false',
    METRICS_PORT: '',
    WEB_CONCURRENCY: '',
    LOG_LEVEL: 'info',
    HOST: '',
    MAIL_SERVICE_URL: '',
    MAIL_SMTP_PORT: '',
  };
  const running = startNode(script, [], {
    ...env,
    DATA_DIR: dataDir,
    PORT: String(port),
    ...settings,
  });
  return { ...running, port, dataDir };
}

export async function started(server: Server): Promise<Server> {
  let ended = false;
  void server.exit.then(() => (ended = true));
  await until('the server to be ready', async () => {
    if (ended) throw new Error(`the server ended: ${server.stdout()}${server.stderr()}`);
    return isReady(server.port);
  });
  return server;
}

export function isReady(port: number): Promise<boolean> {
  return fetch(`http://127.0.0.1:${port}/apis/v1/health/ready`).then(
    (response) => response.ok,
    () => false,
  );
}

/** The id of the process that the launcher has started, which every line of its log contains. */
export async function serverPid(server: Server): Promise<number> {
  const line = /"pid":(\d+)[^\n]*"msg":"serving"/;
  await until('the log line of a started server', () => line.test(server.stdout()));
  return Number(line.exec(server.stdout())?.[1]);
}
