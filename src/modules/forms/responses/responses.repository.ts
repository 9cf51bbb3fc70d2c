import { Injectable } from '@nestjs/common';
import type { Answers } from '../../../lib/forms/index.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { workspace } from '../../../platform/database/statement.js';

export interface ResponseRow {
  id: string;
  version: number;
  submitted_at: Date;
  updated_at: Date;
  respondent_id: string | null;
  respondent_name: string | null;
  respondent_email: string | null;
  answers: Answers;
  duration_seconds: number | null;
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
  /** LIKE patterns of lower-case text by question id. */
  texts: Map<string, string>;
}

const SELECT = `SELECT response.id, response.version, response.submitted_at, response.updated_at, response.respondent_id,
       member.display_name AS respondent_name, member.email AS respondent_email, response.answers,
       response.duration_seconds
  FROM form_responses response
  LEFT JOIN member_profiles member ON member.tenant_id = response.tenant_id AND member.user_id = response.respondent_id`;

// Index form_responses_list, backwards.
const list = workspace.statement<ResponseRow>(
  'form_responses.list',
  `${SELECT}
    WHERE response.tenant_id = $1 AND response.form_id = $2
      AND (response.submitted_at, response.id) < ($3::timestamptz, $4::uuid)
      AND response.submitted_at >= $5::timestamptz AND response.submitted_at < $6::timestamptz
      AND ($7::int IS NULL OR response.version = $7)
      AND response.search_text LIKE ALL ($8::text[]) AND response.answers @> $9::jsonb
      AND NOT EXISTS (SELECT FROM unnest($10::text[], $11::text[]) AS wanted (question, pattern)
                       WHERE lower(coalesce(response.answers->>wanted.question, '')) NOT LIKE wanted.pattern)
    ORDER BY response.submitted_at DESC, response.id DESC LIMIT $12`,
);

const find = workspace.statement<ResponseRow>(
  'form_responses.find',
  `${SELECT} WHERE response.tenant_id = $1 AND response.form_id = $2 AND response.id = $3`,
);

const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** Reads responses of a form. */
@Injectable()
export class ResponsesRepository {
  constructor(private readonly db: Db) {}

  /** Newest first. */
  async list(
    tenantId: string,
    form: string,
    filter: ResponseFilter,
    after: readonly [string, string] | undefined,
    limit: number,
  ): Promise<ResponseRow[]> {
    const { from, to, version, words, contains, texts } = filter;
    const place = after ?? ['infinity', LAST_ID];
    const times = [from ?? '-infinity', to ?? 'infinity'];
    const patterns = [[...texts.keys()], [...texts.values()]];
    const values = [...place, ...times, version ?? null, words, contains, ...patterns, limit];
    return this.db.query(list, [tenantId, form, ...values]);
  }

  async find({ tenantId }: RequestContext, form: string, id: string): Promise<ResponseRow | undefined> {
    return (await this.db.query(find, [tenantId, form, id]))[0];
  }
}
