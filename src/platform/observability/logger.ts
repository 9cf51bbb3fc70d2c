import type { LoggerService } from '@nestjs/common';
import pino, { type DestinationStream, type Logger, type LoggerOptions } from 'pino';
import { isStorageFull } from '../database/database-errors.js';

/** Members that are redacted in logged objects. */
const SECRET_MEMBERS = [
  'authorization',
  'cookie',
  'password',
  'token',
  'access_token',
  'refresh_token',
  'secret',
  'content',
  'body',
  'parameters',
];

/** A bearer token or JWT inside free text, e.g. in the message of a library's error. */
const SECRET_TEXT = /(Bearer\s+|postgres(?:ql)?:\/\/[^:\s]*:)[^\s@"']+|\beyJ[\w-]+\.[\w-]+\.[\w-]+/gi;

const hideSecrets = (text: string): string =>
  text.replace(SECRET_TEXT, (_, kept: string | undefined) => `${kept ?? ''}[redacted]`);

function serializeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { name, message } = error;
  const code = (error as { code?: unknown }).code;
  // The disk is the cause, so a stack trace does not help.
  const stack = isStorageFull(error) ? undefined : error.stack;
  return { name, code, message: hideSecrets(message), stack: stack && hideSecrets(stack) };
}

/** Minimum time between two log entries about a full disk, because every failed write of every component reports one. */
const STORAGE_FULL_MS = 10_000;

/** @returns a function that is true for the first entry about a full disk in each `STORAGE_FULL_MS` */
function storageFullLimiter(now: () => number): () => boolean {
  let last = -Infinity;
  return () => {
    if (now() - last < STORAGE_FULL_MS) return false;
    last = now();
    return true;
  };
}

/**
 * A logger of JSON lines.
 * @param level `silent` writes nothing
 * @param destination default: stdout
 * @param now milliseconds of a monotonic clock
 */
export function createLogger(
  level: string,
  destination?: DestinationStream,
  now: () => number = () => performance.now(),
): Logger {
  const mayLogStorageFull = storageFullLimiter(now);
  const paths = SECRET_MEMBERS.flatMap((member) => [member, `*.${member}`, `*.*.${member}`]);
  const options: LoggerOptions = {
    level,
    redact: { paths, censor: '[redacted]' },
    serializers: { err: serializeError },
    base: { pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    hooks: {
      logMethod(args, method) {
        const [fields] = args as unknown[];
        if (isStorageFull((fields as { err?: unknown } | undefined)?.err) && !mayLogStorageFull()) return;
        method.apply(
          this,
          args.map((arg) => (typeof arg === 'string' ? hideSecrets(arg) : arg)) as Parameters<typeof method>,
        );
      },
    },
  };
  return destination ? pino(options, destination) : pino(options);
}

/** Contexts of Nest's own start messages, which operators do not need. */
const FRAMEWORK = new Set([
  'NestFactory',
  'InstanceLoader',
  'RoutesResolver',
  'RouterExplorer',
  'NestApplication',
]);

/** Nest's logger interface on pino. `logger.warn({ err, ...fields }, 'message')` keeps its fields. */
export class PinoLoggerService implements LoggerService {
  constructor(private readonly pino: Logger) {}

  log(message: unknown, ...rest: unknown[]): void {
    this.write(FRAMEWORK.has(String(rest.at(-1))) ? 'debug' : 'info', message, rest);
  }
  error(message: unknown, ...rest: unknown[]): void {
    // A port in use, for example. The runtime prints one line for it.
    this.write(rest.at(-1) === 'NestApplication' ? 'debug' : 'error', message, rest);
  }
  warn(message: unknown, ...rest: unknown[]): void {
    this.write('warn', message, rest);
  }
  debug(message: unknown, ...rest: unknown[]): void {
    this.write('debug', message, rest);
  }
  verbose(message: unknown, ...rest: unknown[]): void {
    this.write('trace', message, rest);
  }
  fatal(message: unknown, ...rest: unknown[]): void {
    this.write('fatal', message, rest);
  }

  /** Nest appends the logger's context as the last argument. */
  private write(
    level: 'info' | 'error' | 'warn' | 'debug' | 'trace' | 'fatal',
    message: unknown,
    rest: unknown[],
  ): void {
    const context = rest.length > 0 ? rest[rest.length - 1] : undefined;
    const text = rest.length > 1 && typeof rest[0] === 'string' ? rest[0] : undefined;
    if (message instanceof Error) this.pino[level]({ context, err: message }, text ?? message.message);
    else if (typeof message === 'object' && message !== null) this.pino[level]({ context, ...message }, text);
    else this.pino[level]({ context }, String(message));
  }
}
