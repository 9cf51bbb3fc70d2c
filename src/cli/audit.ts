import { setTimeout as delay } from 'node:timers/promises';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Config } from '../config/config.js';
import { IdentityApi } from '../modules/identity/index.js';
import {
  auditCsvHeader,
  auditCsvLine,
  type AuditEvent,
  type AuditFilter,
  AuditReader,
} from '../platform/audit/audit-reader.js';
import { timeOfId } from '../platform/audit/audit.js';
import { tenantNamed, wholeNumber, withApp } from './context.js';

const PAGE = 500;
const FOLLOW_MS = 1_000;
/** Entries are read again for this time, because an entry becomes visible at its commit, some time after its id was created. */
const LATE_MS = 60_000;

type LineOf = (event: AuditEvent) => string;

const LINES: Record<AuditOptions['format'], LineOf> = {
  jsonl: (event) => `${JSON.stringify(event)}\n`,
  csv: auditCsvLine,
};

interface AuditOptions {
  tenant?: string;
  actor?: string;
  action?: string;
  object?: string;
  since?: Date;
  limit: number;
  follow?: boolean;
  format: 'jsonl' | 'csv';
}

/** Adds `workspace audit`: the entries, oldest first, as JSON lines or CSV. */
export function addAudit(program: Command, loadConfig: () => Config): void {
  program
    .command('audit')
    .description('print the audit log, oldest entry first')
    .option(
      '--tenant <slug>',
      'events of this workspace; default: events without a workspace, such as account events',
    )
    .option('--actor <address>', 'events caused by this user')
    .option('--action <name>', 'events with this action, e.g. rbac.member.added')
    .option('--object <kind[:id]>', 'events about these objects, e.g. group or user:<id>')
    .option('--since <time>', 'events from this time on, RFC 3339', time)
    .option(
      '--limit <count>',
      'maximum number of the newest events',
      wholeNumber(100_000, '1 to 100000'),
      1_000,
    )
    .option('--follow', 'then print new events until interrupted')
    .addOption(
      new Option('--format <name>', 'jsonl: one JSON object per line; csv: with a line of column names')
        .choices(['jsonl', 'csv'])
        .default('jsonl'),
    )
    .action(async (options: AuditOptions) => {
      await withApp(loadConfig(), async (app) => {
        const identity = app.get(IdentityApi);
        const tenantId = options.tenant === undefined ? null : await tenantNamed(app, options.tenant);
        const actor = options.actor === undefined ? undefined : await identity.findByEmail(options.actor);
        if (actor === null) throw new Error(`No account has the address ${options.actor}.`);
        const [objectKind, objectId] = options.object?.split(':') ?? [];
        const filter = {
          actorId: actor?.id,
          action: options.action,
          objectKind,
          objectId,
          since: options.since,
        };
        const reader = app.get(AuditReader);
        const before = options.follow ? await recent(reader, tenantId, filter) : [];
        const events = await newest(reader, tenantId, filter, options.limit);
        const line = LINES[options.format];
        if (options.format === 'csv') process.stdout.write(auditCsvHeader());
        print(events, line);
        if (options.follow) await follow(reader, tenantId, filter, [...before, ...events], line);
      });
    });
}

/** The newest `limit` entries, oldest first. */
async function newest(
  reader: AuditReader,
  tenantId: string | null,
  filter: AuditFilter,
  limit: number,
): Promise<AuditEvent[]> {
  const events: AuditEvent[] = [];
  for await (const page of reader.pages(tenantId, filter, Math.min(PAGE, limit))) {
    events.push(...page);
    if (events.length >= limit) break;
  }
  return events.slice(0, limit).toReversed();
}

/** The entries of the last {@link LATE_MS}. */
function recent(reader: AuditReader, tenantId: string | null, filter: AuditFilter): Promise<AuditEvent[]> {
  const since = new Date(Math.max(filter.since?.getTime() ?? 0, Date.now() - LATE_MS));
  return newest(reader, tenantId, { ...filter, since }, Number.POSITIVE_INFINITY);
}

/** Prints new events until the process is interrupted (`withApp` closes the embedded database). @param known not printed again */
async function follow(
  reader: AuditReader,
  tenantId: string | null,
  filter: AuditFilter,
  known: AuditEvent[],
  line: LineOf,
): Promise<never> {
  let seen = new Set(known.map((event) => event.id));
  for (;;) {
    await delay(FOLLOW_MS);
    const since = new Date(Date.now() - LATE_MS);
    const events = await recent(reader, tenantId, filter);
    print(
      events.filter((event) => !seen.has(event.id)),
      line,
    );
    seen = new Set([...seen].filter((id) => timeOfId(id) >= since).concat(events.map((event) => event.id)));
  }
}

function print(events: AuditEvent[], line: LineOf): void {
  for (const event of events) process.stdout.write(line(event));
}

function time(text: string): Date {
  const date = new Date(text);
  if (Number.isNaN(date.getTime()))
    throw new InvalidArgumentError('must be a time such as 2026-01-31T12:00:00Z.');
  return date;
}
