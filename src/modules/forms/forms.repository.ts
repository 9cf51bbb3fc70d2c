import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { AnswerChecker, type Definition, type Version } from '../../lib/forms/index.js';
import { fold } from '../../lib/search-text/index.js';
import type { RequestContext } from '../../platform/context/request-context.js';
import { Db } from '../../platform/database/db.js';
import { spelledFor, spelledPattern } from '../../platform/database/like.js';
import { workspace } from '../../platform/database/statement.js';
import type { Reader } from '../../platform/database/tx.js';
import { boundedPage, jsonBytes, PAGE_BYTES, textBytes } from '../../platform/bounded-pages/page-bytes.js';
import type { FormRole, FormState, Form, FormVersion } from './forms.schema.js';

/** A form without its definition, as a caller sees it. */
export interface FormRow extends Pick<
  Form,
  | 'id'
  | 'owner_id'
  | 'title'
  | 'description'
  | 'state'
  | 'accepting'
  | 'draft_rev'
  | 'unpublished_changes'
  | 'current_version'
  | 'settings'
  | 'share_role'
  | 'share_expires_at'
  | 'created_at'
  | 'updated_at'
  | 'published_at'
> {
  owner_name: string;
  owner_email: string;
  shared: boolean;
  /** Null means that the caller has no access. */
  role: FormRole | null;
  response_count: number;
}

/** A form as it was read by its id, and the time of the database. */
export type FoundForm = FormRow & { now: Date };

/** SQL for the number of responses of the row `form`. */
export const RESPONSE_COUNT = `(SELECT coalesce(sum(counter.count), 0)::float8 FROM form_counters counter
    WHERE counter.tenant_id = form.tenant_id AND counter.form_id = form.id)`;

const CONTENT = `form.owner_id, owner.display_name AS owner_name, owner.email AS owner_email, form.title,
  form.description, form.state, form.accepting, form.draft_rev, form.unpublished_changes, form.current_version, form.settings,
  form.share_token_hash IS NOT NULL AS shared, form.share_role, form.share_expires_at, form.created_at, form.updated_at,
  form.published_at, ${RESPONSE_COUNT} AS response_count`;

const OWNER = `JOIN member_profiles owner ON owner.tenant_id = form.tenant_id AND owner.user_id = form.owner_id`;

// Primary keys of forms and member_profiles. The highest role: null without access.
const find = workspace.statement<FoundForm>(
  'forms.find',
  `SELECT form.id, ${CONTENT}, clock_timestamp() AS now,
          greatest(
            (SELECT max(own.role) FROM form_grants own WHERE own.tenant_id = $1 AND own.form_id = $3 AND own.user_id = $2),
            $4::form_role,
            CASE WHEN form.share_token_hash = $5 AND (form.share_expires_at IS NULL OR form.share_expires_at > now())
                 THEN form.share_role END) AS role
     FROM forms form ${OWNER}
    WHERE form.tenant_id = $1 AND form.id = $3 AND form.deleted_at IS NULL`,
  { pipelined: true },
);

/** A form of a page; beyond the bytes of the page it has only its id. */
export type ListedForm = FormRow & { fits: boolean };

// The forms that a user can open, with the highest role on each.
const VISIBLE = `FROM (
       SELECT granted.form_id, max(granted.role) AS role
         FROM (SELECT own.form_id, own.role FROM form_grants own WHERE own.tenant_id = $1 AND own.user_id = $2
               UNION ALL
               SELECT form.id, $3 FROM forms form WHERE $3::form_role IS NOT NULL AND form.tenant_id = $1) granted
        GROUP BY granted.form_id) visible
     JOIN forms form ON form.tenant_id = $1 AND form.id = visible.form_id
    WHERE form.deleted_at IS NULL AND (visible.role >= 'editor' OR form.current_version IS NOT NULL)`;

// Only users who may read the draft find a form by the words of its draft.
const SEARCHED = `CASE WHEN visible.role >= 'editor' OR NOT form.unpublished_changes THEN form.search_text
            ELSE coalesce(form.published_search_text, '') END`;

const list = workspace.statement<ListedForm>(
  'forms.list',
  boundedPage({
    keys: `SELECT form.id, visible.role, 4096 + ${textBytes('form.title', 'form.description')} + ${jsonBytes('form.settings')} AS bytes
             ${VISIBLE}
              AND ($4::form_state IS NULL OR form.state = $4) AND ($5::uuid IS NULL OR form.owner_id = $5)
              AND ${spelledFor("array_to_string($6::text[], ' ')", SEARCHED)} LIKE ALL ($6::text[]) AND ($7::uuid IS NULL OR form.id < $7)
            ORDER BY form.id DESC LIMIT $8`,
    order: 'sized.id DESC',
    limit: '$8',
    bytes: '$9',
    columns: 'sized.id, sized.role, sized.fits, shown.*',
    shown: { columns: CONTENT, from: `forms form ${OWNER} WHERE form.tenant_id = $1 AND form.id = sized.id` },
  }),
  { onReplica: true },
);

const draft = workspace.statement<Pick<Form, 'draft'>>(
  'forms.draft',
  `SELECT form.draft FROM forms form WHERE form.tenant_id = $1 AND form.id = $2`,
);

const version = workspace.statement<Pick<FormVersion, 'definition'>>(
  'forms.version',
  `SELECT definition FROM form_versions WHERE tenant_id = $1 AND form_id = $2 AND version = $3`,
);

const versions = workspace.statement<Version>(
  'forms.versions',
  `SELECT version, definition FROM form_versions WHERE tenant_id = $1 AND form_id = $2 ORDER BY version`,
);

export interface ListFilter {
  state?: FormState;
  owner?: string;
  /** LIKE patterns of words, from `likePatterns`. */
  words: string[];
}

/** A published version, prepared for submissions. */
export interface PublishedVersion {
  definition: Definition;
  checker: AnswerChecker;
}

/** Patterns for `LIKE ALL` that match texts with each word of the query. */
export const likePatterns = (query = ''): string[] =>
  fold(query).split(/\s+/).filter(Boolean).map(spelledPattern);

/** Reads forms and their versions. */
@Injectable()
export class FormsRepository {
  /** The key consists of workspace, form and number. Versions never change. */
  private readonly cache = new LRUCache<string, PublishedVersion>({ max: 200 });

  constructor(private readonly db: Db) {}

  /**
   * @param base role that the permissions of the caller give on all forms
   * @param tokenHash of a share link
   */
  async find(
    { tenantId, userId }: RequestContext,
    id: string,
    base: FormRole | null,
    tokenHash: Buffer | null,
    reader: Reader = this.db,
  ): Promise<FoundForm | undefined> {
    return (await reader.query(find, [tenantId, userId, id, base, tokenHash]))[0];
  }

  /** Forms that the caller can open, newest first. */
  async list(
    { tenantId, userId }: RequestContext,
    base: FormRole | null,
    { state, owner, words }: ListFilter,
    after: readonly [string] | undefined,
    limit: number,
  ): Promise<ListedForm[]> {
    const filters = [base, state ?? null, owner ?? null, words];
    const values = [tenantId, userId, ...filters, after?.[0] ?? null, limit, PAGE_BYTES];
    return this.db.query(list, values);
  }

  async draft(tenantId: string, id: string, reader: Reader = this.db): Promise<Definition> {
    return (await reader.query(draft, [tenantId, id]))[0]!.draft;
  }

  /** @returns undefined for an unknown version */
  async version(
    tenantId: string,
    id: string,
    number: number,
    reader: Reader = this.db,
  ): Promise<PublishedVersion | undefined> {
    const key = `${tenantId} ${id} ${number}`;
    const known = this.cache.get(key);
    if (known) return known;
    const [row] = await reader.query(version, [tenantId, id, number]);
    if (!row) return undefined;
    const made = { definition: row.definition, checker: new AnswerChecker(row.definition) };
    this.cache.set(key, made);
    return made;
  }

  /** All versions of a form, the oldest first. */
  async versions(reader: Pick<Reader, 'query'>, tenantId: string, id: string): Promise<Version[]> {
    return reader.query(versions, [tenantId, id]);
  }
}
