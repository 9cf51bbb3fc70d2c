import type { Config } from '../config/config.js';
import { DataDirInUseError, EmbeddedDatabaseError } from '../platform/database/embedded/embedded-database.js';

/** Codes of an unreachable database server. */
const UNREACHABLE = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ECONNRESET',
]);
/** Codes of a host name without an address. */
const UNKNOWN_HOST = new Set(['ENOTFOUND', 'EAI_AGAIN']);
/** SQLSTATEs of a rejected connection. */
const REJECTED = new Set(['28P01', '28000', '3D000']);

/** An error of the system or of a library, with its optional members. */
type SystemError = Error & { code?: string; syscall?: string; port?: number; hostname?: string };

/** @returns a line for the operator about a failed start; undefined for errors that an operator cannot fix */
export function failureLine(error: unknown, config: Config): string | undefined {
  if (error instanceof DataDirInUseError || error instanceof EmbeddedDatabaseError) return error.message;
  if (!(error instanceof Error)) return undefined;
  return listenFailure(error, config) ?? databaseFailure(error, config);
}

function listenFailure(error: SystemError, config: Config): string | undefined {
  const { code = '', syscall, port = config.PORT, hostname } = error;
  const setting = port === config.METRICS_PORT ? 'METRICS_PORT' : 'PORT';
  if (code === 'EADDRINUSE')
    return `Port ${port} on ${config.HOST} is in use; set ${setting} to another one.`;
  if (syscall !== 'listen' && syscall !== 'bind' && syscall !== 'getaddrinfo') return undefined;
  if (code === 'EACCES') return `This user may not listen on port ${port}; set ${setting} to one above 1023.`;
  // The host of DATABASE_URL is looked up too.
  if (code === 'EADDRNOTAVAIL' || (UNKNOWN_HOST.has(code) && hostname === config.HOST))
    return `HOST ${config.HOST} is not an address of this machine.`;
  return undefined;
}

function databaseFailure(error: SystemError, config: Config): string | undefined {
  const { code = '' } = error;
  if (config.DATABASE_URL === undefined) return undefined;
  if (UNREACHABLE.has(code)) return `The database of DATABASE_URL does not respond (${code}).`;
  if (REJECTED.has(code)) return `The database of DATABASE_URL rejects the connection: ${error.message}.`;
  return undefined;
}
