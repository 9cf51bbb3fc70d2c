import { spawn } from 'node:child_process';
import path from 'node:path';
import { jest } from '@jest/globals';
import { type Command, CommanderError } from 'commander';
import { createProgram } from '../../../src/cli/program.js';
import { Config } from '../../../src/config/config.js';
import { childEnv } from './child-env.ts';

const ROOT = path.resolve(import.meta.dirname, '..', '..', '..');

export interface CliResult {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Parses stdout, which must be one line of JSON. */
export function json({ stdout }: CliResult): any {
  if (!/^[^\n]+\n$/.test(stdout)) throw new Error(`not one line of JSON: ${stdout.slice(0, 200)}`);
  return JSON.parse(stdout);
}

/** Runs the `workspace` command line as a separate process, with these settings only. */
export async function spawnWorkspace(env: Record<string, string>, ...args: string[]): Promise<CliResult> {
  return spawnWorkspaceWith('', env, ...args);
}

/** Like {@link spawnWorkspace}, with a standard input. */
export async function spawnWorkspaceWith(
  input: string,
  env: Record<string, string>,
  ...args: string[]
): Promise<CliResult> {
  return startWorkspace(input, env, ...args).result;
}

/** Starts the command line as a process that the test may end. `output` grows meanwhile. */
export function startWorkspace(input: string, env: Record<string, string>, ...args: string[]) {
  const child = spawn(process.execPath, [path.join(ROOT, 'dist', 'cli', 'main.js'), ...args], {
    cwd: ROOT,
    env: { ...childEnv(), ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  // A command may end without reading its standard input.
  child.stdin.on('error', () => undefined).end(input);
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => (output[name] += text));
  }
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject).once('close', resolve);
  });
  return { child, output, result: ended.then((code): CliResult => ({ code, ...output })) };
}

/** Runs the command line in this process, which saves the start of another one. */
export async function workspace(env: Record<string, string>, ...args: string[]): Promise<CliResult> {
  const result: CliResult = { code: 0, stdout: '', stderr: '' };
  const program = createProgram(() => Config.parse(env));
  const writeErr = (text: string) => void (result.stderr += text);
  const prepare = (command: Command): void => {
    command.exitOverride().configureOutput({ writeOut: (text) => void (result.stdout += text), writeErr });
    command.commands.forEach((each) => prepare(each));
  };
  prepare(program);
  const stdout = jest.spyOn(process.stdout, 'write').mockImplementation((text) => {
    result.stdout += String(text);
    return true;
  });
  const { exitCode } = process;
  process.exitCode = 0;
  try {
    await program.parseAsync(args, { from: 'user' });
    result.code = process.exitCode;
  } catch (error) {
    result.code = error instanceof CommanderError ? error.exitCode : 1;
    if (!(error instanceof CommanderError)) writeErr(`${(error as Error).message}\n`);
  } finally {
    stdout.mockRestore();
    process.exitCode = exitCode;
  }
  return result;
}
