import 'reflect-metadata';
import { Config, ConfigError } from '../config/config.js';
import { BlobStoreError } from '../platform/blobs/store/object-store.js';
import { failureLine } from '../runtime/failure-line.js';
import { reasonOf } from './doctor/finding.js';
import { createProgram } from './program.js';

let config: Config | undefined;

// A reader of the output, such as `head`, has ended. SIGTERM lets the command close the embedded database.
process.stdout.once('error', () => {
  process.stdout.on('error', () => undefined);
  process.kill(process.pid, 'SIGTERM');
});

/** `workspace`: JSON on stdout, messages on stderr, exit code other than 0 on failure. */
try {
  await createProgram(() => (config = Config.load())).parseAsync();
} catch (error) {
  process.stderr.write(`${(config && failureLine(error, config)) ?? messageOf(error)}\n`);
  process.exitCode = error instanceof ConfigError ? ConfigError.exitCode : 1;
}

function messageOf(error: unknown): string {
  if (error instanceof BlobStoreError) return `${error.message}: ${reasonOf(error.cause)}`;
  return error instanceof Error ? error.message : String(error);
}
