import type { Config } from '../config/config.js';
import { DataDirInUseError, EmbeddedDatabaseError } from '../platform/database/embedded/embedded-database.js';

/** Codes of a database server that cannot be reached or does not let us in. */
const UNREACHABLE = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ECONNRESET',
]);
const REFUSED = new Set(['28P01', '28000', '3D000']);

/** An error of the system or of a library, with what it may carry. */
type SystemError = Error & { code?: string; syscall?: string; port?: number };

/** A failed start in one line for the operator, or undefined when it is none of those an operator can mend. */
export function failureLine(error: unknown, config: Config): string | undefined {
  if (error instanceof DataDirInUseError || error instanceof EmbeddedDatabaseError) return error.message;
  if (!(error instanceof Error)) return undefined;
  return listenFailure(error, config) ?? databaseFailure(error, config);
}

function listenFailure(error: SystemError, config: Config): string | undefined {
  const { code, syscall, port = config.PORT } = error;
  const setting = port === config.METRICS_PORT ? 'METRICS_PORT' : 'PORT';
  if (code === 'EADDRINUSE')
    return `Port ${port} on ${config.HOST} is in use; set ${setting} to another one.`;
  if (syscall !== 'listen' && syscall !== 'bind' && syscall !== 'getaddrinfo') return undefined;
  if (code === 'EACCES') return `This user may not listen on port ${port}; set ${setting} to one above 1023.`;
  if (code === 'EADDRNOTAVAIL' || (code === 'ENOTFOUND' && !config.DATABASE_URL)) {
    return `HOST ${config.HOST} is not an address of this machine.`;
  }
  return undefined;
}

function databaseFailure(error: SystemError, config: Config): string | undefined {
  const { code = '' } = error;
  if (config.DATABASE_URL === undefined) return undefined;
  if (UNREACHABLE.has(code)) return `The database of DATABASE_URL does not answer (${code}).`;
  if (REFUSED.has(code)) return `The database of DATABASE_URL does not let us in: ${error.message}.`;
  return undefined;
}
