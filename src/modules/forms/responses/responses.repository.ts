import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { likeCaseless, spelledFor } from '../../../platform/database/like.js';
import { workspace } from '../../../platform/database/statement.js';
import { fitsPage, jsonBytes, PAGE_BYTES } from '../../../platform/bounded-pages/page-bytes.js';
import type { FormResponseRow } from '../forms.schema.js';

export interface ResponseRow extends Pick<
  FormResponseRow,
  'id' | 'version' | 'submitted_at' | 'updated_at' | 'respondent_id' | 'answers' | 'duration_seconds'
> {
  respondent_name: string | null;
  respondent_email: string | null;
}

/** Conditions of a list of responses. */
export interface ResponseFilter {
  from?: Date;
  to?: Date;
  version?: number;
  /** LIKE patterns of words. */
  words: string[];
  /** Answers that a response must contain. */
  contains: Record<string, unknown>;
  /** LIKE patterns by question id; case does not matter. */
  texts: Map<string, string>;
}

const SELECT = `SELECT response.id, response.version, response.submitted_at, response.updated_at, response.respondent_id,
       member.display_name AS respondent_name, member.email AS respondent_email, response.answers,
       response.duration_seconds
  FROM form_responses response
  LEFT JOIN member_profiles member ON member.tenant_id = response.tenant_id AND member.user_id = response.respondent_id`;

const FILTER = `response.tenant_id = $1 AND response.form_id = $2
      AND response.submitted_at >= $3::timestamptz AND response.submitted_at < $4::timestamptz
      AND ($5::int IS NULL OR response.version = $5)
      AND ${spelledFor("array_to_string($6::text[], ' ')", 'response.search_text')} LIKE ALL ($6::text[]) AND response.answers @> $7::jsonb
      AND NOT EXISTS (SELECT FROM unnest($8::text[], $9::text[]) AS wanted (question, pattern)
                       WHERE NOT (${likeCaseless("coalesce(response.answers->>wanted.question, '')", 'wanted.pattern')}))`;

/** A row of a page. Answers beyond the bytes of the page are not read. */
export interface ListedResponse extends ResponseRow {
  fits: boolean;
}

// Index form_responses_list, backwards.
const list = workspace.statement<ListedResponse>(
  'form_responses.list',
  `WITH page AS MATERIALIZED (
     SELECT response.submitted_at, response.id, ${jsonBytes('response.answers')} AS bytes
       FROM form_responses response
      WHERE ${FILTER} AND (response.submitted_at, response.id) < ($10::timestamptz, $11::uuid)
      ORDER BY response.submitted_at DESC, response.id DESC LIMIT $12),
   sized AS MATERIALIZED (
     SELECT id, submitted_at, ${fitsPage('bytes', '$12', '$13')} AS fits
       FROM page WINDOW page_order AS (ORDER BY submitted_at DESC, id DESC ROWS UNBOUNDED PRECEDING))
   SELECT sized.id, sized.submitted_at, sized.fits, shown.version, shown.updated_at, shown.respondent_id, shown.respondent_name,
          shown.respondent_email, shown.answers, shown.duration_seconds
     FROM sized
     LEFT JOIN LATERAL (
       ${SELECT} WHERE sized.fits AND response.tenant_id = $1 AND response.form_id = $2 AND response.id = sized.id OFFSET 0) shown ON true
    ORDER BY sized.submitted_at DESC, sized.id DESC`,
  { onReplica: true },
);

const count = workspace.statement<{ count: number }>(
  'form_responses.count',
  `SELECT count(*)::int AS count FROM (SELECT FROM form_responses response WHERE ${FILTER} LIMIT $10) found`,
  { onReplica: true },
);

const find = workspace.statement<ResponseRow>(
  'form_responses.find',
  `${SELECT} WHERE response.tenant_id = $1 AND response.form_id = $2 AND response.id = $3`,
  { pipelined: true },
);

const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** Reads responses of a form. */
@Injectable()
export class ResponsesRepository {
  constructor(private readonly db: Db) {}

  /** Newest first. Rows that do not fit the page come last, without answers. */
  async list(
    tenantId: string,
    form: string,
    filter: ResponseFilter,
    after: readonly [string, string] | undefined,
    limit: number,
  ): Promise<ListedResponse[]> {
    const place = after ?? ['infinity', LAST_ID];
    return this.db.query(list, [tenantId, form, ...filterValues(filter), ...place, limit, PAGE_BYTES]);
  }

  /** Number of responses that pass the filter, at most `limit`. */
  async count(tenantId: string, form: string, filter: ResponseFilter, limit: number): Promise<number> {
    return (await this.db.query(count, [tenantId, form, ...filterValues(filter), limit]))[0]!.count;
  }

  async find({ tenantId }: RequestContext, form: string, id: string): Promise<ResponseRow | undefined> {
    return (await this.db.query(find, [tenantId, form, id]))[0];
  }
}

const filterValues = ({ from, to, version, words, contains, texts }: ResponseFilter): unknown[] => [
  from ?? '-infinity',
  to ?? 'infinity',
  version ?? null,
  words,
  contains,
  [...texts.keys()],
  [...texts.values()],
];
