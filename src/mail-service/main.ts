import { Config } from '../config/config.js';
import { collectWhatStartingLeft } from '../platform/memory/garbage.js';
import { createLogger } from '../platform/observability/logger.js';
import { type MailService, type MailServiceOptions, startMailService } from './mail-service.js';

/** How long requests in flight may take to finish when the process is told to end. */
const DRAIN_MS = 10_000;

/** What the process that started us says first, once. Secrets come this way: others of this machine can read arguments. */
export interface MailServiceOrder {
  start: MailServiceOptions;
}

/** What it is told: where we serve, or a line for the operator. */
export type MailServiceNews = { port: number } | { failure: string };

/** The mail service in a process of its own. It ends with the one that started it, however that ends. */
const config = Config.load();
const log = createLogger(config.LOG_LEVEL);
let service: Promise<MailService> | undefined;
let ending = false;

function end(exitCode: number): void {
  if (ending) return;
  ending = true;
  const stopped = service?.then((running) => running.stop(DRAIN_MS));
  void Promise.resolve(stopped)
    .catch((error: unknown) => log.error({ err: error }, 'the mail service did not stop in order'))
    .finally(() => process.exit(exitCode));
}

function crash(error: unknown): void {
  log.fatal({ err: error }, 'uncaught error: the mail service stops');
  end(1);
}

/** What an operator can mend, in one line. */
function failureLine(error: unknown): string {
  const { code, port } = error as NodeJS.ErrnoException & { port?: number };
  const { MAIL_SMTP_PORT: wanted, MAIL_SMTP_HOST: host } = config;
  if (code === 'EADDRINUSE' && port === wanted)
    return `Port ${wanted} on ${host} is in use; set MAIL_SMTP_PORT to another one.`;
  if (code === 'EACCES')
    return `This user may not listen on port ${wanted}; set MAIL_SMTP_PORT to one above 1023.`;
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return `MAIL_SMTP_HOST ${host} is not an address of this machine.`;
  log.fatal({ err: error }, 'the mail service failed to start');
  return 'The mail service failed to start; the log says why.';
}

async function start({ start: options }: MailServiceOrder): Promise<void> {
  service = startMailService(config, options);
  try {
    const { port } = await service;
    collectWhatStartingLeft();
    process.send?.({ port } satisfies MailServiceNews);
  } catch (error) {
    service = undefined;
    process.send?.({ failure: failureLine(error) } satisfies MailServiceNews, () => end(1));
  }
}

process.on('uncaughtException', crash);
process.on('unhandledRejection', crash);
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
// A Ctrl-C or a closed terminal reaches us as well; who started us decides what follows from it.
for (const signal of ['SIGINT', 'SIGHUP']) process.on(signal, () => undefined);
process.on('SIGTERM', () => end(0));
process.once('disconnect', () => end(0));
process.once('message', (order: MailServiceOrder) => void start(order));
