import { randomInt } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { In } from 'typeorm';
import type { AnswerFile } from '../../../lib/forms/index.js';
import { Blobs } from '../../../platform/blobs/blobs.js';
import { Db } from '../../../platform/database/db.js';
import { rowsOf } from '../../../platform/database/rows.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Tx } from '../../../platform/database/tx.js';
import { makeId } from '../../../platform/events/anonymous-events.js';
import { FormResponseRow, FormUpload } from '../forms.schema.js';
import type {
  AcceptingForm,
  EarlierResponse,
  NewResponse,
  ResponseChange,
  SubmissionFacts,
} from '../model/form-rules.js';

/** Counters of a form without a quota, so that concurrent submissions do not wait for each other. */
const SHARDS = 16;

/** A form that is locked against changes of its state, and the time of the database. */
export type LockedForm = AcceptingForm & { now: Date };

// Writers of a form take FOR UPDATE: no response is stored after a closure has committed.
const lockForm = workspace.statement<LockedForm>(
  'form_responses.lock_form',
  `SELECT state, accepting, current_version, draft_rev, settings, clock_timestamp() AS now
     FROM forms WHERE tenant_id = $1 AND id = $2 AND deleted_at IS NULL FOR KEY SHARE`,
);

// Shard 0. While the form is locked and has a quota, no other one changes.
const COUNTER = `FROM form_counters counter WHERE counter.tenant_id = $1 AND counter.form_id = $2 AND counter.shard = 0`;
const COUNT = `counter.count + (
       SELECT coalesce(sum(other.count), 0)::bigint FROM form_counters other
        WHERE other.tenant_id = $1 AND other.form_id = $2 AND other.shard <> 0)`;

const lockCounter = workspace.statement<{ count: number }>(
  'form_responses.lock_counter',
  `SELECT (${COUNT})::float8 AS count ${COUNTER} FOR UPDATE OF counter`,
);

interface FactsRow extends EarlierResponse {
  own: string | null;
  is_known: boolean;
}

// Indexes form_responses_client, form_responses_respondent. One row.
const readFacts = workspace.statement<{ [name in keyof FactsRow]: FactsRow[name] | null }>(
  'form_responses.facts',
  `SELECT earlier.id, earlier.version, earlier.submitted_at, earlier.respondent_id, earlier.answers = $4::jsonb AS has_same_answers,
          CASE WHEN $6::bytea IS NOT NULL THEN (
            SELECT own.id FROM form_responses own WHERE own.tenant_id = $1 AND own.form_id = $2 AND own.respondent_id = $5
             ORDER BY own.id DESC LIMIT 1) END AS own,
          EXISTS (SELECT FROM form_response_once once
                   WHERE once.tenant_id = $1 AND once.form_id = $2 AND once.respondent_key = $6) AS is_known
     FROM (VALUES (true)) AS one (row)
     LEFT JOIN form_responses earlier
            ON earlier.tenant_id = $1 AND earlier.form_id = $2 AND earlier.client_response_id = $3`,
);

// Writes no response and returns no row unless the form is as it was read, has at most $18 responses, and the respondent and the
// client_response_id are new.
const insert = workspace.statement<{ id: string }>(
  'form_responses.insert',
  `WITH form AS MATERIALIZED (
     SELECT id FROM forms
      WHERE tenant_id = $1 AND id = $2 AND deleted_at IS NULL AND state = $3 AND accepting = $4 AND current_version = $5
        AND draft_rev = $6 FOR KEY SHARE),
   place AS (
     SELECT counter.form_id ${COUNTER} AND ${COUNT} <= $18::bigint FOR UPDATE OF counter),
   once AS (
     INSERT INTO form_response_once (tenant_id, form_id, respondent_key) SELECT $1, form.id, $17 FROM form WHERE $17::bytea IS NOT NULL
     ON CONFLICT DO NOTHING RETURNING form_id),
   response AS (
     INSERT INTO form_responses (tenant_id, form_id, id, version, respondent_id, client_response_id, answers, search_text,
                                 duration_seconds, submitted_at, updated_at)
     SELECT $1, form.id, $7::uuid, $8::int, $9::uuid, $10::uuid, $11::jsonb, $12::text, $13::int, $14::timestamptz, $14::timestamptz
       FROM form WHERE ($18::bigint IS NULL OR EXISTS (SELECT FROM place)) AND ($17::bytea IS NULL OR EXISTS (SELECT FROM once))
     ON CONFLICT (tenant_id, form_id, client_response_id) WHERE client_response_id IS NOT NULL DO NOTHING
     RETURNING form_id, id),
   counted AS (
     INSERT INTO form_counters AS counter (tenant_id, form_id, shard, count) SELECT $1, form_id, $15::smallint, 1 FROM response
     ON CONFLICT (tenant_id, form_id, shard) DO UPDATE SET count = counter.count + 1)
   INSERT INTO outbox (tenant_id, id, type, payload)
   SELECT $1, $16::uuid, 'form.response_submitted', $19::jsonb FROM response
   RETURNING id`,
);

const files = workspace.statement<AnswerFile & { question_id: string }>(
  'form_uploads.find',
  `SELECT id, name, size::float8 AS size, content_type, question_id
     FROM form_uploads WHERE tenant_id = $1 AND form_id = $2 AND id = ANY ($3)`,
);

// Index form_responses_client.
const versionOf = workspace.statement<Pick<FormResponseRow, 'version'>>(
  'form_responses.version_of',
  `SELECT version FROM form_responses WHERE tenant_id = $1 AND form_id = $2 AND client_response_id = $3`,
);

/** Rows of submissions. Lock order: form, files, counter, respondent. */
@Injectable()
export class SubmissionsRepository {
  constructor(private readonly db: Db) {}

  /** Locks a form against changes of its state. @returns undefined for an unknown or deleted one */
  async lockForm(tx: Tx, tenantId: string, form: string): Promise<LockedForm | undefined> {
    return (await tx.query(lockForm, [tenantId, form]))[0];
  }

  /** Locks the number of responses of a locked form with a quota. */
  async lockCounter(tx: Tx, tenantId: string, form: string): Promise<number> {
    return (await tx.query(lockCounter, [tenantId, form]))[0]?.count ?? 0;
  }

  /** @param key of the respondent, in forms with one response of each user; otherwise null */
  async facts(
    tx: Tx,
    tenantId: string,
    form: string,
    { clientResponseId, answers, userId }: NewResponse,
    key: Buffer | null,
  ): Promise<Pick<SubmissionFacts, 'own' | 'isKnown'> & { earlier: EarlierResponse | null }> {
    if (clientResponseId === null && key === null) return { earlier: null, own: null, isKnown: false };
    const values = [tenantId, form, clientResponseId, answers, userId, key];
    const { own, is_known, ...earlier } = (await tx.query(readFacts, values))[0]!;
    return {
      earlier: earlier.id === null ? null : (earlier as EarlierResponse),
      own,
      isKnown: is_known === true,
    };
  }

  /**
   * Stores a response with its event, and counts it, unless the form has changed since it was read.
   * @param key as in `facts`
   * @returns false: no response is stored, because the form has changed, or the respondent or the `client_response_id` is known
   */
  async insert(
    tx: Tx,
    tenantId: string,
    id: string,
    { state, accepting, current_version, draft_rev, settings }: AcceptingForm,
    response: NewResponse,
    { respondentId, submittedAt, highestCount }: ResponseChange,
    key: Buffer | null = null,
  ): Promise<boolean> {
    const form = [id, state, accepting, current_version, draft_rev];
    const answered = [response.answers, response.searchText, response.durationSeconds, submittedAt];
    const ids = [response.id, response.version, respondentId, response.clientResponseId];
    const shard = settings.max_responses === null ? randomInt(SHARDS) : 0;
    const conditions = [key, highestCount];
    const { anonymous } = settings;
    const payload = { form_id: id, response_id: response.id, ...(anonymous && { anonymous }) };
    const event = makeId(anonymous);
    const values = [tenantId, ...form, ...ids, ...answered, shard, event, ...conditions, payload];
    return (await tx.query(insert, values)).length > 0;
  }

  /** Locks a response of a respondent. */
  async lockResponse(tx: Tx, tenantId: string, formId: string, { id, userId }: NewResponse) {
    return rowsOf(tx, FormResponseRow).lock({
      tenant_id: tenantId,
      form_id: formId,
      id,
      respondent_id: userId,
    });
  }

  /** Replaces the answers of a response. */
  async update(tx: Tx, { tenant_id, form_id, id }: FormResponseRow, response: NewResponse, updatedAt: Date) {
    const { answers, searchText, version } = response;
    await rowsOf(tx, FormResponseRow).update(
      { tenant_id, form_id, id },
      { answers, search_text: searchText, version, updated_at: updatedAt },
    );
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
}

const lock = workspace.statement<Pick<FormUpload, 'id'>>(
  'form_uploads.lock',
  `SELECT id FROM form_uploads
    WHERE tenant_id = $1 AND form_id = $2 AND id = ANY ($3::uuid[]) AND user_id = $4 AND (response_id IS NULL OR response_id = $5)
    ORDER BY id FOR UPDATE`,
);

// Index form_uploads_response.
const remove = workspace.statement<Pick<FormUpload, 'tenant_id' | 'blob_id'>>(
  'form_uploads.delete_of_response',
  `DELETE FROM form_uploads WHERE tenant_id = $1 AND form_id = $2 AND response_id = $3 AND id <> ALL ($4::uuid[])
   RETURNING tenant_id, blob_id`,
);

/** The files that responses contain. */
@Injectable()
export class ResponseFiles {
  constructor(private readonly blobs: Blobs) {}

  /** Locks the files of answers. @returns false: one is unknown, of another user, or belongs to another response */
  async lock(tx: Tx, tenantId: string, form: string, { id, userId, uploads }: NewResponse): Promise<boolean> {
    if (uploads.length === 0) return true;
    const rows = await tx.query(lock, [tenantId, form, uploads, userId, id]);
    return rows.length === uploads.length;
  }

  /** Binds locked files to a response. @param userId null in an anonymous form, whose files keep no reference to the user */
  async claim(
    tx: Tx,
    tenantId: string,
    formId: string,
    { id, uploads }: NewResponse,
    userId: string | null,
  ): Promise<void> {
    if (uploads.length === 0) return;
    const values = { response_id: id, user_id: userId, expires_at: null };
    await rowsOf(tx, FormUpload).update({ tenant_id: tenantId, form_id: formId, id: In(uploads) }, values);
  }

  /** Deletes the files of a response except for some. @param kept their ids */
  async deleteOthers(
    tx: Tx,
    tenantId: string,
    form: string,
    response: string,
    kept: readonly string[],
  ): Promise<void> {
    await this.blobs.release(tx, await tx.query(remove, [tenantId, form, response, kept]));
  }
}
