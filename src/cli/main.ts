import 'reflect-metadata';
import { Config, ConfigError } from '../config/config.js';
import { createProgram } from './program.js';

/** `workspace`: JSON on stdout, messages on stderr, exit code other than 0 on failure. */
try {
  await createProgram(() => Config.load()).parseAsync();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = error instanceof ConfigError ? ConfigError.exitCode : 1;
}
