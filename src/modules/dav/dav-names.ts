import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Config } from '../../config/config.js';
import { Db } from '../../platform/database/db.js';
import { workspace } from '../../platform/database/statement.js';
import type { Tx } from '../../platform/database/tx.js';
import { PeriodicJobs } from '../../platform/jobs/periodic-jobs.js';
import { isUuid } from '../../platform/http/id.pipe.js';
import { ResourceWrites } from '../calendar/index.js';
import { TaskResources } from '../tasks/index.js';
import type { DavName } from './dav.schema.js';

const EXTENSION = '.ics';
const BATCH = 500;

/** The name of an event for which no program has chosen another one. */
const usualName = (uid: string): string => uid + EXTENSION;
const usualUid = (name: string): string =>
  name.endsWith(EXTENSION) ? name.slice(0, -EXTENSION.length) : name;

const ofNames = workspace.statement<Pick<DavName, 'name' | 'uid'>>(
  'dav.uids_of_names',
  `SELECT name, uid FROM dav_names
    WHERE tenant_id = $1 AND calendar_id = $2 AND (name = ANY ($3::text[]) OR uid = ANY ($4::text[]))`,
);

const ofUids = workspace.statement<Pick<DavName, 'name' | 'uid'>>(
  'dav.names_of_uids',
  `SELECT name, uid FROM dav_names WHERE tenant_id = $1 AND calendar_id = $2 AND uid = ANY ($3::text[])`,
);

const keep = workspace.statement<never>(
  'dav.keep_name',
  `INSERT INTO dav_names (tenant_id, calendar_id, name, uid) VALUES ($1, $2, $3, $4)
   ON CONFLICT (tenant_id, calendar_id, name) DO UPDATE SET uid = excluded.uid, checked_at = now()`,
);

const forget = workspace.statement<never>(
  'dav.forget_name',
  `DELETE FROM dav_names WHERE tenant_id = $1 AND calendar_id = $2 AND (name = $3 OR uid = $4)`,
);

const due = workspace.statement<Pick<DavName, 'tenant_id' | 'calendar_id' | 'name' | 'uid'>>(
  'dav.names_to_check',
  `SELECT tenant_id, calendar_id, name, uid FROM dav_names
    WHERE checked_at < now() - make_interval(days => $1) ORDER BY checked_at LIMIT $2`,
  { reach: 'cell' },
);

const settle = workspace.statement<never>(
  'dav.settle_names',
  `WITH gone AS (
     DELETE FROM dav_names WHERE tenant_id = $1 AND calendar_id = $2 AND name = ANY ($3::text[]))
   UPDATE dav_names SET checked_at = now() WHERE tenant_id = $1 AND calendar_id = $2 AND name = ANY ($4::text[])`,
);

/**
 * Names of events and tasks in paths: the UID of the event or the id of the task, or the name that a program chose in its first PUT. A
 * name stays for as long as a program may ask for the removal. In the list of a task folder, the id of the task stands in place of the
 * UID, and that of the folder in place of the calendar.
 */
@Injectable()
export class DavNames implements OnModuleInit {
  constructor(
    private readonly db: Db,
    private readonly jobs: PeriodicJobs,
    private readonly events: ResourceWrites,
    private readonly tasks: TaskResources,
    private readonly config: Config,
  ) {}

  onModuleInit(): void {
    this.jobs.register({ name: 'dav.forget-names', everySeconds: 86_400, run: () => this.check() });
  }

  /**
   * The names by their UIDs, which may be those of no event. A name that is not the one of its event has none: each event has one path.
   */
  async resolve(
    tenantId: string,
    calendarId: string,
    names: readonly string[],
  ): Promise<Map<string, string>> {
    const rows = await this.db.query(ofNames, [tenantId, calendarId, names, names.map(usualUid)]);
    const uids = new Map(rows.map(({ name, uid }) => [name, uid]));
    const chosen = new Map(rows.map(({ name, uid }) => [uid, name]));
    const resolved = names.map((name) => [uids.get(name) ?? usualUid(name), name] as const);
    return new Map(resolved.filter(([uid, name]) => (chosen.get(uid) ?? usualName(uid)) === name));
  }

  async namesOf(tenantId: string, calendarId: string, uids: readonly string[]): Promise<Map<string, string>> {
    const rows = uids.length === 0 ? [] : await this.db.query(ofUids, [tenantId, calendarId, uids]);
    const chosen = new Map(rows.map(({ name, uid }) => [uid, name]));
    return new Map(uids.map((uid) => [uid, chosen.get(uid) ?? usualName(uid)]));
  }

  /** The UID of the event that has this name; null where the event of the derived UID has another one. */
  async uidOf(tenantId: string, calendarId: string, name: string): Promise<string | null> {
    const [uid = null] = (await this.resolve(tenantId, calendarId, [name])).keys();
    return uid;
  }

  /** Keeps the name under which a program creates an event. */
  async keep(tx: Tx, tenantId: string, calendarId: string, name: string, uid: string): Promise<void> {
    await tx.query(forget, [tenantId, calendarId, name, uid]);
    if (name !== usualName(uid)) await tx.query(keep, [tenantId, calendarId, name, uid]);
  }

  /** Forgets names whose events are gone for longer than programs may ask for. */
  private async check(): Promise<void> {
    for (let count = BATCH; count === BATCH;) {
      const rows = await this.db.query(due, [this.config.FEED_RETENTION_DAYS, BATCH]);
      count = rows.length;
      const byCalendar = Map.groupBy(rows, (row) => `${row.tenant_id} ${row.calendar_id}`);
      for (const group of byCalendar.values()) {
        const { tenant_id: tenantId, calendar_id: calendarId } = group[0]!;
        const uids = group.map(({ uid }) => uid);
        const known = await this.known(tenantId, calendarId, uids);
        const names = (isKnown: boolean) =>
          group.filter(({ uid }) => known.has(uid) === isKnown).map(({ name }) => name);
        await this.db.single((tx) => tx.query(settle, [tenantId, calendarId, names(false), names(true)]));
      }
    }
  }

  /** Those of the UIDs, or ids of tasks, that a calendar or the workspace contains. */
  private async known(tenantId: string, calendarId: string, uids: readonly string[]): Promise<Set<string>> {
    const events = await this.events.knownUids(tenantId, calendarId, uids);
    const ids = uids.filter((uid) => !events.has(uid) && isUuid(uid));
    return ids.length === 0 ? events : new Set([...events, ...(await this.tasks.known(tenantId, ids))]);
  }
}
