import { Injectable } from '@nestjs/common';
import type { Version } from '../../../lib/forms/index.js';
import { Db } from '../../../platform/database/db.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Reader } from '../../../platform/database/tx.js';
import { jsonBytes } from '../../../platform/bounded-pages/page-bytes.js';
import { FormsRepository } from '../forms.repository.js';
import type { ResponseFilter, ResponseRow } from '../responses/responses.repository.js';

export interface ScanRow extends Pick<
  ResponseRow,
  'id' | 'version' | 'submitted_at' | 'answers' | 'duration_seconds'
> {
  /** Null in anonymous forms, and in scans without respondents. */
  respondent: string | null;
}

export interface ScanFilter extends Pick<ResponseFilter, 'from' | 'to' | 'version'> {
  /** Ids of the questions whose answers are read. Default: all. */
  questions?: readonly string[];
  /** Time and id of the response before the first one. */
  after?: readonly [submittedAt: string, id: string];
  /** Whether the names of the respondents are read. Default: true. */
  respondents?: boolean;
}

/** Number of responses that are fetched at once, and the bytes of their answers after which no further one is. */
const BATCH = 500;
const BATCH_BYTES = 1024 * 1024;
/** It precedes any response. */
const FIRST = ['-infinity', '00000000-0000-0000-0000-000000000000'] as const;

const FILTER = `response.tenant_id = $1 AND response.form_id = $2
      AND response.submitted_at >= $3::timestamptz AND response.submitted_at < $4::timestamptz
      AND ($5::int IS NULL OR response.version = $5)
      AND (response.submitted_at, response.id) > ($6::timestamptz, $7::uuid)
    ORDER BY response.submitted_at, response.id`;

// Index form_responses_list. Columns that a reader must not see do not leave the database.
const declare = workspace.statement<never>(
  'form_responses.declare_scan',
  `DECLARE response_scan NO SCROLL CURSOR FOR
   SELECT response.id, response.version, response.submitted_at, response.duration_seconds,
          CASE WHEN $9::boolean THEN member.email END AS respondent,
          CASE WHEN $8::text[] IS NULL THEN response.answers
               ELSE (SELECT coalesce(jsonb_object_agg(answer.key, answer.value), '{}')
                       FROM jsonb_each(response.answers) answer WHERE answer.key = ANY ($8::text[])) END AS answers,
          ${jsonBytes('response.answers')} AS bytes
     FROM form_responses response
     LEFT JOIN member_profiles member ON member.tenant_id = response.tenant_id AND member.user_id = response.respondent_id
    WHERE ${FILTER}`,
);

const fetch = workspace.statement<ScanRow>(
  'form_responses.fetch_scan',
  `SELECT id, version, submitted_at, duration_seconds, respondent, answers FROM form_scan_fetch($1, $2)`,
  { reach: 'transaction' },
);

// The transaction is idle while a slow client receives a batch.
const allowPauses = workspace.statement<never>(
  'form_responses.scan_timeout',
  `SET LOCAL idle_in_transaction_session_timeout = '120s'`,
  { reach: 'transaction' },
);

type Queries = Pick<Reader, 'query'>;

/** Consumes the batches, the oldest response first, with all versions of the form. */
type Use<T> = (versions: Version[], batches: AsyncIterable<ScanRow[]>) => Promise<T>;

/** Reads all responses of a form in batches, in one snapshot and with flat memory. */
@Injectable()
export class ResponseScan {
  constructor(
    private readonly forms: FormsRepository,
    private readonly db: Db,
  ) {}

  /**
   * Sends the responses to a client. It reads on the primary, because a conflict with the replay of a replica would end the file after its
   * first part is sent. The connection is held until `use` ends.
   */
  async stream(tenantId: string, form: string, filter: ScanFilter, use: Use<void>): Promise<void> {
    await this.db.tx((tx) =>
      this.open(tx, tenantId, form, filter, async (versions, batches) => {
        await tx.query(allowPauses, []);
        await use(versions, batches);
      }),
    );
  }

  /** Computes a result of the responses, on a read replica where one can. @param use has no effects: it may run again on the primary */
  async compute<T>(tenantId: string, form: string, filter: ScanFilter, use: Use<T>): Promise<T> {
    return this.db.scan(tenantId, (reader) => this.open(reader, tenantId, form, filter, use));
  }

  private async open<T>(
    reader: Queries,
    tenantId: string,
    form: string,
    { from, to, version, questions, after = FIRST, respondents = true }: ScanFilter,
    use: Use<T>,
  ): Promise<T> {
    const times = [from ?? '-infinity', to ?? 'infinity'];
    const columns = [questions ?? null, respondents];
    await reader.query(declare, [tenantId, form, ...times, version ?? null, ...after, ...columns]);
    // Read after the snapshot of the cursor, so that the versions of all its responses are among them.
    const versions = await this.forms.versions(reader, tenantId, form);
    return use(versions, this.batches(reader));
  }

  private async *batches(reader: Queries): AsyncGenerator<ScanRow[]> {
    for (;;) {
      const rows = await reader.query(fetch, [BATCH, BATCH_BYTES]);
      if (rows.length === 0) return;
      yield rows;
    }
  }
}
