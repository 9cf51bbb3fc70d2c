import 'reflect-metadata';
import { Config, ConfigError } from '../config/config.js';
import { failureLine } from '../runtime/failure-line.js';
import { createProgram } from './program.js';

let config: Config | undefined;

/** `workspace`: JSON on stdout, messages on stderr, exit code other than 0 on failure. */
try {
  await createProgram(() => (config = Config.load())).parseAsync();
} catch (error) {
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`${(config && failureLine(error, config)) ?? message}\n`);
  process.exitCode = error instanceof ConfigError ? ConfigError.exitCode : 1;
}
