// The command line as a measured process.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpuOf } from './processes.mjs';

const MAIN = new URL('../../../dist/cli/main.js', import.meta.url).pathname;

/** Runs a command of the command line; its summary with duration and processor time. */
export async function command(DATA_DIR, ...args) {
  const began = performance.now();
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: { PATH: process.env.PATH, DATA_DIR },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let stdout = '';
  child.stdout.on('data', (text) => (stdout += text));
  let cpu = 0;
  const sampling = setInterval(() => (cpu = Math.max(cpu, cpuOf(child.pid) || 0)), 50);
  const [code] = await once(child, 'close');
  clearInterval(sampling);
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}`);
  const { complete: _, incomplete: __, ...summary } = JSON.parse(stdout);
  return { seconds: Number(((performance.now() - began) / 1_000).toFixed(1)), cpu_seconds: cpu, ...summary };
}

/** Prints a line of the results. */
export function report(name, facts) {
  process.stdout.write(`${name.padEnd(24)} ${JSON.stringify(facts)}\n`);
}
