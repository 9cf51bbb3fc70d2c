import type { LoggerService } from '@nestjs/common';
import pino, { type Logger } from 'pino';

/** Members that never reach a log, wherever they stand in a logged object. */
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
  const { name, message, stack } = error;
  const code = (error as { code?: unknown }).code;
  return { name, code, message: hideSecrets(message), stack: stack && hideSecrets(stack) };
}

/** JSON lines on stdout; `silent` writes nothing. */
export function createLogger(level: string): Logger {
  const paths = SECRET_MEMBERS.flatMap((member) => [member, `*.${member}`, `*.*.${member}`]);
  return pino({
    level,
    redact: { paths, censor: '[redacted]' },
    serializers: { err: serializeError },
    base: { pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    hooks: {
      logMethod(args, method) {
        method.apply(
          this,
          args.map((arg) => (typeof arg === 'string' ? hideSecrets(arg) : arg)) as Parameters<typeof method>,
        );
      },
    },
  });
}

/** What Nest itself says while it starts is of no interest to an operator. */
const FRAMEWORK = new Set([
  'NestFactory',
  'InstanceLoader',
  'RoutesResolver',
  'RouterExplorer',
  'NestApplication',
]);

/** Nest's logger interface over pino. `logger.warn({ err, ...fields }, 'message')` keeps its fields. */
export class PinoLoggerService implements LoggerService {
  constructor(private readonly pino: Logger) {}

  log(message: unknown, ...rest: unknown[]): void {
    this.write(FRAMEWORK.has(String(rest.at(-1))) ? 'debug' : 'info', message, rest);
  }
  error(message: unknown, ...rest: unknown[]): void {
    // A port that is taken: whoever starts the server says it in one line.
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
