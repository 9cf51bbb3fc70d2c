import { Config } from '../config/config.js';
import { collectStartupGarbage } from '../platform/memory/garbage.js';
import { Metrics } from '../platform/observability/metrics.js';
import { sendMetricsTo } from '../platform/observability/scrape.js';
import { startTelemetry, type Telemetry } from '../platform/observability/telemetry/telemetry.js';
import { createLogger } from '../platform/observability/logger.js';
import { showSourcePositions } from '../platform/observability/source-positions.js';
import { type MailService, type MailServiceOptions, startMailService } from './mail-service.js';

/** Time for requests in flight at shutdown. */
const DRAIN_MS = 10_000;

/** The first message of the parent process. It carries the token, since other users of the machine can read arguments. */
interface MailServiceCommand {
  start: MailServiceOptions;
}

/** Messages to the parent process: the port, or a line for the operator. */
type MailServiceEvent = { port: number } | { failure: string };

// The process of the mail service. It ends when its parent process ends, also after kill -9.
showSourcePositions();
const config = Config.load();
const log = createLogger(config.LOG_LEVEL);
let service: Promise<MailService> | undefined;
let telemetry: Telemetry | undefined;
let ending = false;

function end(exitCode: number): void {
  if (ending) return;
  ending = true;
  const stopped = service?.then((running) => running.stop(DRAIN_MS));
  void Promise.resolve(stopped)
    .catch((error: unknown) => log.error({ err: error }, 'the mail service failed to stop cleanly'))
    .then(() => telemetry?.stop())
    .finally(() => process.exit(exitCode));
}

function crash(error: unknown): void {
  log.fatal({ err: error }, 'uncaught error: the mail service stops');
  end(1);
}

/** One line for the operator. */
function failureLine(error: unknown): string {
  const { code, port } = error as NodeJS.ErrnoException & { port?: number };
  const { MAIL_SMTP_PORT: wanted, MAIL_SMTP_HOST: host } = config;
  if (code === 'EADDRINUSE' && port === wanted)
    return `Port ${wanted} on ${host} is in use; set MAIL_SMTP_PORT to another one.`;
  if (code === 'EACCES')
    return `The process is not permitted to listen on port ${wanted}; set MAIL_SMTP_PORT to one above 1023.`;
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return `MAIL_SMTP_HOST ${host} is not an address of this machine.`;
  log.fatal({ err: error }, 'the mail service failed to start');
  return 'The mail service failed to start; see the log for the reason.';
}

async function start({ start: options }: MailServiceCommand): Promise<void> {
  try {
    telemetry = await startTelemetry(config, log, 'mail-service');
    service = startMailService(config, options);
    const { port, nest } = await service;
    const metrics = nest.get(Metrics);
    sendMetricsTo(process, metrics);
    telemetry?.exportMetrics(metrics);
    collectStartupGarbage();
    process.send?.({ port } satisfies MailServiceEvent);
  } catch (error) {
    service = undefined;
    process.send?.({ failure: failureLine(error) } satisfies MailServiceEvent, () => end(1));
  }
}

process.on('uncaughtException', crash);
process.on('unhandledRejection', crash);
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
// Ctrl-C and a closed terminal signal this process too, but the parent process decides when it stops.
for (const signal of ['SIGINT', 'SIGHUP']) process.on(signal, () => undefined);
process.on('SIGTERM', () => end(0));
process.once('disconnect', () => end(0));
process.once('message', (command: MailServiceCommand) => void start(command));
