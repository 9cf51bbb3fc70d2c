import { Injectable } from '@nestjs/common';
import type { AnswerFile, Answers } from '../../../lib/forms/index.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Tx } from '../../../platform/database/tx.js';

/** Result of a submission: `ok`, `repeated`, `stale` after a publication, or the reason for the rejection. */
export interface SubmitOutcome {
  outcome:
    | 'ok'
    | 'repeated'
    | 'stale'
    | 'not_found'
    | 'archived'
    | 'closed'
    | 'not_open'
    | 'full'
    | 'already_submitted'
    | 'client_response_id_reused'
    | 'upload_used'
    | 'not_editable'
    | 'unknown_response';
  id: string;
  version: number;
  submitted_at: Date;
}

/** As `form_submit` and `form_resubmit` take it. */
export interface NewResponse {
  id: string;
  client_response_id: string | null;
  /** Answered version, and the current one when the answers were checked. */
  version: number;
  current_version: number;
  answers: Answers;
  search_text: string;
  /** Hexadecimal. */
  respondent_key: string;
  uploads: string[];
  duration_seconds: number | null;
  event_id: string;
}

const RESULT = 'outcome, id, version, submitted_at';

const submit = workspace.statement<SubmitOutcome>(
  'form_responses.submit',
  `SELECT ${RESULT} FROM form_submit($1, $2, $3, $4)`,
);

const resubmit = workspace.statement<SubmitOutcome>(
  'form_responses.resubmit',
  `SELECT ${RESULT} FROM form_resubmit($1, $2, $3, $4)`,
);

const files = workspace.statement<AnswerFile & { question_id: string }>(
  'form_uploads.find',
  `SELECT id, name, size::float8 AS size, content_type, question_id
     FROM form_uploads WHERE tenant_id = $1 AND form_id = $2 AND id = ANY ($3)`,
);

// Index form_responses_respondent.
const own = workspace.statement<{ id: string }>(
  'form_responses.own',
  `SELECT id FROM form_responses WHERE tenant_id = $1 AND form_id = $2 AND respondent_id = $3 ORDER BY id DESC LIMIT 1`,
);

// Index form_responses_client.
const versionOf = workspace.statement<{ version: number }>(
  'form_responses.version_of',
  `SELECT version FROM form_responses WHERE tenant_id = $1 AND form_id = $2 AND client_response_id = $3`,
);

/** Writes of responses, each in one statement. */
@Injectable()
export class SubmissionsRepository {
  constructor(private readonly db: Db) {}

  /** @param replaces whether the answers replace those of a response of the caller */
  async submit(
    tx: Tx,
    { tenantId, userId }: RequestContext,
    form: string,
    response: NewResponse,
    replaces: boolean,
  ): Promise<SubmitOutcome> {
    return (await tx.query(replaces ? resubmit : submit, [tenantId, form, userId, response]))[0]!;
  }

  /** Uploaded files of a form by id. */
  async files(
    tenantId: string,
    form: string,
    ids: string[],
  ): Promise<Map<string, AnswerFile & { question_id: string }>> {
    const rows = await this.db.query(files, [tenantId, form, ids]);
    return new Map(rows.map((row) => [row.id, row]));
  }

  /** The version that a stored response has answered. */
  async versionOf(tenantId: string, form: string, clientResponseId: string): Promise<number | undefined> {
    return (await this.db.query(versionOf, [tenantId, form, clientResponseId]))[0]?.version;
  }

  /** The last response of the caller. */
  async own({ tenantId, userId }: RequestContext, form: string): Promise<string | undefined> {
    return (await this.db.query(own, [tenantId, form, userId]))[0]?.id;
  }
}
