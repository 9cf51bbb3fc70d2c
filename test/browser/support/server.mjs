// The server as an operator starts it, on a data directory of its own.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const START = fileURLToPath(new URL('../../../bin/start.mjs', import.meta.url));
const START_MS = 240_000;
const STOP_MS = 20_000;
/** Settings of the environment of the tests, which the server must not inherit. */
const OWN = [
  'DATABASE_URL',
  'DEMO',
  'HOST',
  'LOG_LEVEL',
  'METRICS_PORT',
  'PUBLIC_URL',
  'WEB_CONCURRENCY',
  'OIDC_ISSUER',
];

/**
 * Starts the server and reads its start-up message.
 * @param {Record<string, string>} settings environment variables of the server
 * @returns {Promise<{ docs: string, token: string, emails: string[], password: string, stop: () => Promise<number> }>}
 *   the address of the documentation, the token of the first demo user, the demo users, and an orderly end with its exit code
 */
export async function startServer(settings = {}) {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'workspace-browser-'));
  const unset = Object.fromEntries(OWN.map((name) => [name, '']));
  const env = { ...process.env, ...unset, DATA_DIR: dataDir, PORT: String(await freePort()), ...settings };
  const child = spawn(process.execPath, [START], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const exit = once(child, 'close').then(([code, signal]) => {
    rmSync(dataDir, { recursive: true, force: true });
    return code ?? signal;
  });
  const stop = async () => {
    child.kill('SIGTERM');
    // The launcher ends the server when it is killed; the server closes its database.
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
    const code = await exit;
    clearTimeout(timer);
    return code;
  };
  try {
    return { ...(await banner(child, exit)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The start-up message of the server. */
function banner(child, exit) {
  return new Promise((resolve, reject) => {
    let output = '';
    const fail = (why) => reject(new Error(`${why}; it printed:\n${output}`));
    const timer = setTimeout(() => fail(`the server was not ready after ${START_MS / 1_000} s`), START_MS);
    const read = (chunk) => {
      output += chunk;
      const docs = /Swagger UI +(\S+)\n/.exec(output)?.[1];
      const token = /^(eyJ\S+)\n/m.exec(output)?.[1];
      const emails = /Demo workspace +(.+)\n/.exec(output)?.[1].match(/[^\s,]+@[^\s,]+/g);
      const password = /Demo password +(.+)\n/.exec(output)?.[1];
      if (docs && token) resolve({ docs, token, emails, password });
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    void exit.then((code) => fail(`the server ended (${code})`)).finally(() => clearTimeout(timer));
  });
}

async function freePort() {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}
