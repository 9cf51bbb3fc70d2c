import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Config } from '../../../config/config.js';
import { Db } from '../../../platform/database/db.js';
import { Outbox } from '../../../platform/events/outbox.js';
import { PeriodicJobs } from '../../../platform/jobs/periodic-jobs.js';
import { type Fields, resultsOf } from '../input/fields.js';
import { endOf, newMessages, progressAfter } from '../inbox-walk.js';
import { inboxOf, MailClient, type MailOwner } from '../mail-client.js';
import { MailUpstream } from '../mail-upstream.js';
import { readJson } from '../upstream-response.js';
import {
  CALENDAR_MAIL,
  calendarAttachments,
  type CalendarMail,
  CalendarMailReader,
  textOf,
} from './calendar-mail-reader.js';
import { CalendarMailRepository, type ScanRow } from './calendar-mail.repository.js';

const JOB = 'calendar-mail';
const INTERVAL_SECONDS = 10;
/** Calendars of one request to the embedded mail service. */
const PAGE = 20;
/** Accounts of another mail service that one run searches. */
const ACCOUNTS_PER_RUN = 100;

/**
 * Extracts calendars from received mail and appends them to the outbox (`CALENDAR_MAIL`), at least once. The embedded mail
 * service lists them. The inboxes of another mail service are searched account by account, newest messages first, down to the
 * newest message of the previous search. A search with more pages than one run reads continues in the next run (adr/0040).
 */
@Injectable()
export class CalendarMailIntake implements OnModuleInit {
  private readonly logger = new Logger('Mail');
  /**
   * `messages` per request; `pages`: requests per account and run; `retryMs`: milliseconds after which a message that cannot be
   * read is skipped.
   */
  readonly limits = { messages: 100, pages: 5, retryMs: 3_600_000 };
  /** Time of the first failure of each message that cannot be read. */
  private readonly failing = new LRUCache<string, number>({ max: 10_000 });

  constructor(
    private readonly upstream: MailUpstream,
    private readonly client: MailClient,
    private readonly reader: CalendarMailReader,
    private readonly repository: CalendarMailRepository,
    private readonly outbox: Outbox,
    private readonly jobs: PeriodicJobs,
    private readonly db: Db,
    private readonly config: Config,
  ) {}

  onModuleInit(): void {
    if (this.config.mailService === null) return;
    this.jobs.register({ name: JOB, everySeconds: INTERVAL_SECONDS, queue: 'mail', run: () => this.run() });
  }

  async run(): Promise<void> {
    if (!(await this.takeListed())) await this.searchAccounts();
  }

  /** @returns false where the mail service has no list of arrived calendars */
  private async takeListed(): Promise<boolean> {
    for (let after = 0; ;) {
      const query = new URLSearchParams({ limit: String(PAGE), after: String(after) });
      const { status, value } = await this.service('GET', ['calendar-parts'], query);
      if (status === 404) return false;
      const results = resultsOf(value);
      const taken: number[] = [];
      for (const part of results) {
        if (await this.take(part)) taken.push(Number(part['id']));
        after = Number(part['id']);
      }
      if (taken.length > 0) await this.service('DELETE', ['calendar-parts', taken.join(',')]);
      if (results.length < PAGE) return true;
    }
  }

  /** @returns false for a part of an account that is still being created */
  private async take(part: Fields): Promise<boolean> {
    const owners = await this.repository.owners(textOf(part['user']));
    if (owners.length === 0) return part['isNew'] !== true;
    for (const owner of owners) {
      const mail: CalendarMail = {
        user_id: owner.userId,
        message_id: textOf(part['messageId']),
        from: textOf(part['from']),
        // The embedded mail service verifies neither SPF nor DKIM.
        is_authentic: null,
        method: typeof part['method'] === 'string' ? part['method'] : null,
        content: typeof part['content'] === 'string' ? part['content'] : null,
      };
      await this.db.single((tx) =>
        this.outbox.append(tx, { tenantId: owner.tenantId, type: CALENDAR_MAIL, payload: { ...mail } }),
      );
    }
    return true;
  }

  /** A request with the service token. The response may be long: it contains calendars. */
  private async service(
    method: 'GET' | 'DELETE',
    path: string[],
    query?: URLSearchParams,
  ): Promise<{ status: number; value: unknown }> {
    const request = { method, path, ...(query && { query }) };
    const response = await readJson(await this.upstream.send(request, this.config.mailService?.token));
    const { status } = response;
    const value = await response.readWhole();
    if (status >= 300 && status !== 404)
      throw new Error(`the mail service responded ${status} to ${path[0]}`);
    return { status, value };
  }

  private async searchAccounts(): Promise<void> {
    for (const row of await this.repository.listDue(ACCOUNTS_PER_RUN)) {
      const owner = { tenantId: row.tenant_id, userId: row.user_id };
      try {
        await this.searchAccount(owner, row);
      } catch (error) {
        this.logger.warn({ err: error, ...owner }, 'the search for calendars in a mailbox failed');
        await this.db.single((tx) => this.repository.saveScan(tx, owner, progressAfter(error, row)));
      }
    }
  }

  private async searchAccount(owner: MailOwner, row: ScanRow): Promise<void> {
    const session = this.client.openBackground(owner);
    const mailbox = row.mailbox ?? (await inboxOf(session));
    // The first search of a mailbox records its newest message only.
    const { progress, found } =
      row.mailbox === null
        ? { progress: await endOf(session, mailbox), found: [] }
        : await newMessages(session, mailbox, row, this.limits);
    const mails: CalendarMail[] = [];
    for (const { id, attachmentsList } of found) {
      const mail =
        calendarAttachments(attachmentsList).length > 0 && (await this.read(owner, mailbox, Number(id)));
      if (mail) mails.push(mail);
    }
    await this.db.tx(async (tx) => {
      for (const mail of mails)
        await this.outbox.append(tx, {
          tenantId: owner.tenantId,
          type: CALENDAR_MAIL,
          payload: { ...mail },
        });
      await this.repository.saveScan(tx, owner, progress);
    });
  }

  /** For an hour, throws the error of the mail service: the next run repeats the search. Then returns null. */
  private async read(owner: MailOwner, mailbox: string, message: number): Promise<CalendarMail | null> {
    try {
      return await this.reader.read(owner, mailbox, message);
    } catch (error) {
      const key = `${owner.tenantId} ${owner.userId} ${mailbox} ${message}`;
      const since = this.failing.get(key) ?? performance.now();
      this.failing.set(key, since);
      if (performance.now() - since < this.limits.retryMs) throw error;
      this.logger.error({ err: error, ...owner, message }, 'a message is skipped: it cannot be read');
      return null;
    }
  }
}
