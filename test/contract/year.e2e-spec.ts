import { readdirSync } from 'node:fs';
import path from 'node:path';
import { OutboxWorker } from '../../src/platform/events/outbox.worker.js';
import { PeriodicJobs } from '../../src/platform/jobs/periodic-jobs.js';
import type { TestApp } from '../support/app.ts';
import { TABLE_GROWTH } from '../support/database/table-growth.ts';
import { passDays, rowCounts } from '../support/database/years.ts';
import { Month } from '../support/domains/month.ts';
import { clientFile, startSignIn } from '../support/sign-in/sign-in.ts';

const MONTHS = 12;
const MONTH_DAYS = 30;
/** Two months after the longest retention of this installation: the 90 days of change feeds. */
const SETTLED_MONTH = 6;

/** Tables that delete their rows and that these members do not use; table-growth.e2e-spec.ts has a row of each. */
const UNUSED = [
  // Calls and guests.
  'external_invites guest_limits guest_otps guest_spent_tokens guests recordings webhook_events',
  // A mail service.
  'mail_moves mail_recipients received_addresses',
  // Sockets, several databases, forgotten passwords, forms with files, notes with 100 revisions.
  'presence_devices commit_decisions account_tokens form_uploads note_history_due note_revision_packs',
  // Programs of CalDAV, webhooks, push messages.
  'dav_names webhook_deliveries push_deliveries',
].flatMap((names) => names.split(' '));

/** A year of an installation whose members create and delete things every month. */
describe('a year', () => {
  let app: TestApp;
  const months: Map<string, number>[] = [];
  const files: number[] = [];
  /** Tables that had rows at some time. */
  const used = new Set<string>();

  beforeAll(async () => {
    // One database, whose times the test moves.
    const settings = {
      TEST_CELLS: '0',
      AUDIT_RETENTION_DAYS: '30',
      OIDC_CLIENTS: clientFile(),
      SMTP_URL: 'smtp://127.0.0.1:9',
    };
    app = await startSignIn(settings, 'localhost');
    const [ann, ben] = await app.tenant('acme', 'ann', 'ben');
    const month = new Month(app, { ann, ben }, async () => {
      await count();
      await app.get(OutboxWorker).drain();
    });
    for (let n = 1; n <= MONTHS; n += 1) {
      await month.live();
      await maintain();
      await passDays(app.databaseUrl, MONTH_DAYS);
      await maintain();
      months.push(await count());
      files.push(filesIn(path.join(app.dataDir, 'blobs')));
    }
  }, 600_000);
  afterAll(() => app?.stop());

  /** Number of rows of each table. */
  async function count(): Promise<Map<string, number>> {
    const counts = await rowCounts(app.databaseUrl);
    for (const [name, rows] of counts) if (rows > 0) used.add(name);
    return counts;
  }

  /** Runs all jobs three times, because some leave work to others. */
  async function maintain(): Promise<void> {
    for (let run = 0; run < 3; run += 1) {
      await app.sql('DELETE FROM job_runs');
      await app.get(PeriodicJobs).runDue();
      await app.get(OutboxWorker).drain();
    }
  }

  const filesIn = (directory: string): number =>
    readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).length;

  /** A single month may have a row more or less: the jobs of its last day made one mail of its notifications, or two. */
  test('no table grows once the retention times have passed', () => {
    const settledMonths = months.slice(SETTLED_MONTH - 1, SETTLED_MONTH + 2);
    const lastMonths = months.slice(-3);
    const grown = [...(months.at(-1) as Map<string, number>).keys()].flatMap((table) => {
      const settled = settledMonths.map((counts) => counts.get(table) ?? 0);
      const last = lastMonths.map((counts) => counts.get(table) ?? 0);
      const isPermanent = TABLE_GROWTH.some(
        (growth) => growth.table === table && growth.kind === 'permanent',
      );
      return Math.min(...last) > Math.max(...settled) && !isPermanent
        ? [`${table}: ${settled.join()} rows, then ${last.join()}`]
        : [];
    });
    expect(grown).toEqual([]);
  });

  test('no file remains of content that was deleted', () => {
    expect(files[MONTHS - 1]).toBe(files[SETTLED_MONTH - 1]);
  });

  test('all tables that delete their rows were used', () => {
    const deleting = TABLE_GROWTH.flatMap(({ table, kind }) =>
      kind === 'trimmedBy' || kind === 'cleanedBy' || kind === 'trimmedOnUse' ? [table] : [],
    );
    expect(deleting.filter((name) => !used.has(name)).toSorted()).toEqual(UNUSED.toSorted());
  });
});
