import { Injectable } from '@nestjs/common';
import type { Version } from '../../../lib/forms/index.js';
import { Db } from '../../../platform/database/db.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Tx } from '../../../platform/database/tx.js';
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

/** Numbers of responses that are fetched at once, and the bytes of their answers unless one response has more. */
const BATCHES = [500, 100, 20, 5, 1] as const;
const BATCH_BYTES = 1024 * 1024;
/** Before any response. */
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
                       FROM jsonb_each(response.answers) answer WHERE answer.key = ANY ($8::text[])) END AS answers
     FROM form_responses response
     LEFT JOIN member_profiles member ON member.tenant_id = response.tenant_id AND member.user_id = response.respondent_id
    WHERE ${FILTER}`,
);

// The sizes of the same rows, which decide how many of them are fetched at once.
const declareSizes = workspace.statement<never>(
  'form_responses.declare_sizes',
  `DECLARE response_sizes NO SCROLL CURSOR FOR
   SELECT ${jsonBytes('response.answers')} AS bytes FROM form_responses response WHERE ${FILTER}`,
);

const fetchSizes = workspace.statement<{ bytes: number }>(
  'form_responses.fetch_sizes',
  `FETCH ${BATCHES[0]} FROM response_sizes`,
  { reach: 'transaction' },
);

const FETCHES = BATCHES.map((count) => ({
  count,
  statement: workspace.statement<ScanRow>(
    `form_responses.fetch_scan_${count}`,
    `FETCH ${count} FROM response_scan`,
    { reach: 'transaction' },
  ),
}));

// The transaction is idle while a slow client receives a batch.
const allowPauses = workspace.statement<never>(
  'form_responses.scan_timeout',
  `SET LOCAL idle_in_transaction_session_timeout = '120s'`,
  { reach: 'transaction' },
);

/** The number of responses of these sizes that one batch may have. */
function fitting(sizes: readonly number[]): number {
  let bytes = 0;
  const end = sizes.findIndex((size) => (bytes += size) > BATCH_BYTES);
  return end === -1 ? sizes.length : end;
}

/** Reads all responses of a form in batches, in one snapshot and with flat memory. */
@Injectable()
export class ResponseScan {
  constructor(
    private readonly forms: FormsRepository,
    private readonly db: Db,
  ) {}

  /**
   * The connection is held until `use` ends.
   * @param use consumes the batches, the oldest response first, with all versions of the form
   */
  async run<T>(
    tenantId: string,
    form: string,
    { from, to, version, questions, after = FIRST, respondents = true }: ScanFilter,
    use: (versions: Version[], batches: AsyncIterable<ScanRow[]>) => Promise<T>,
  ): Promise<T> {
    return this.db.tx(async (tx) => {
      const times = [from ?? '-infinity', to ?? 'infinity'];
      const selected = [tenantId, form, ...times, version ?? null, ...after];
      await tx.query(declareSizes, selected);
      await tx.query(declare, [...selected, questions ?? null, respondents]);
      await tx.query(allowPauses, []);
      // Read after the snapshot of the cursor, so that the versions of all its responses are among them.
      const versions = await this.forms.versions(tx, tenantId, form);
      return use(versions, this.batches(tx));
    });
  }

  private async *batches(tx: Tx): AsyncGenerator<ScanRow[]> {
    let sizes: number[] = [];
    let isLast = false;
    for (;;) {
      if (sizes.length === 0) {
        sizes = (await tx.query(fetchSizes, [])).map(({ bytes }) => bytes);
        isLast = sizes.length < BATCHES[0];
      }
      const end = fitting(sizes);
      const most = end === sizes.length && isLast ? BATCHES[0] : end;
      const { statement } = FETCHES.find(({ count }) => count <= most) ?? FETCHES.at(-1)!;
      const rows = await tx.query(statement, []);
      if (rows.length === 0) return;
      sizes.splice(0, rows.length);
      yield rows;
    }
  }
}
