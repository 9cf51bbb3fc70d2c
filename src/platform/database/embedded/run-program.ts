import { spawn, type SpawnOptions } from 'node:child_process';

/** A program ready to be spawned. */
export interface Command {
  file: string;
  args: string[];
  options: Pick<SpawnOptions, 'uid' | 'gid'>;
}

/**
 * The whole environment of the programs. Variables such as PGOPTIONS or LC_ALL of the operator's shell must not change
 * how the database is created or runs, and this code recognises messages in English.
 */
export const PROGRAM_ENV = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  LC_ALL: 'C',
};

/**
 * Runs a program to its end. Never rejects: a program that cannot be started, or that the signal ends, has code -1.
 */
export function runProgram(
  { file, args, options }: Command,
  signal?: AbortSignal,
): Promise<{ code: number; output: string }> {
  return new Promise((resolve) => {
    // Detached: a Ctrl-C in the terminal is for the server, which finishes this step before it stops.
    const child = spawn(file, args, {
      ...options,
      cwd: '/',
      env: PROGRAM_ENV,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      ...(signal && { signal }),
    });
    let output = '';
    const collect = (chunk: Buffer) => {
      output += chunk.toString();
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    child.once('error', (error) => resolve({ code: -1, output: error.message }));
    child.once('close', (code) => resolve({ code: code ?? -1, output }));
  });
}
