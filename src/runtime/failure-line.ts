import { type Config, ConfigError } from '../config/config.js';
import { errorCode } from '../platform/database/database-errors.js';
import { NoPrimaryError } from '../platform/database/connections/database-hosts.js';
import { DataDirInUseError, EmbeddedDatabaseError } from '../platform/database/embedded/embedded-database.js';
import { PoolerModeError } from '../platform/database/connections/pooler.js';
import { StandbyError } from '../platform/database/connections/primary-client.js';

/** Codes of an unreachable database server. */
const UNREACHABLE = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ECONNRESET',
]);
/** Messages of pg about a server that accepts the connection and sends nothing, or closes it. */
const SILENT = /timeout exceeded when trying to connect|timeout expired|Connection terminated/;
/** Codes of a host name without an address. */
const UNKNOWN_HOST = new Set(['ENOTFOUND', 'EAI_AGAIN']);
/** SQLSTATE insufficient_privilege. */
const LACKS_PRIVILEGE = '42501';
/** Messages of Node.js about a certificate, and of pg about a server without TLS. */
const TLS = /certificate|does not support SSL/i;

/** An error of the system or of a library, with its optional members. */
type SystemError = Error & {
  code?: string;
  severity?: string;
  syscall?: string;
  port?: number;
  hostname?: string;
};

/** @returns a line for the operator about a failed start; undefined for errors that an operator cannot fix */
export function failureLine(error: unknown, config: Config): string | undefined {
  if (
    error instanceof DataDirInUseError ||
    error instanceof EmbeddedDatabaseError ||
    error instanceof PoolerModeError ||
    error instanceof ConfigError
  )
    return error.message;
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
  if (config.DATABASE_URL === undefined) return undefined;
  const { message, severity } = error;
  if (error instanceof StandbyError)
    return `DATABASE_URL leads to a standby: ${message}. Set it to the primary, or to all hosts, separated by commas.`;
  if (error instanceof NoPrimaryError) return `DATABASE_URL leads to no primary: ${message}.`;
  if (severity === 'FATAL' || TLS.test(message))
    return `The database of DATABASE_URL rejects the connection: ${message}.`;
  const code = errorCode(error);
  if (code === LACKS_PRIVILEGE)
    return `The role of DATABASE_URL lacks a privilege: ${message}. Use the owner of the database, or run workspace migrate with it.`;
  // A missing file has the same code as a missing socket.
  if ((code && UNREACHABLE.has(code)) || (code === 'ENOENT' && error.syscall === 'connect'))
    return `The database of DATABASE_URL does not respond (${code}).`;
  if (SILENT.test(message)) return 'The database of DATABASE_URL does not respond.';
  return undefined;
}
