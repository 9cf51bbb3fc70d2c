import { Injectable } from '@nestjs/common';
import { kindOf, type Question, questionsOf } from '../../../lib/forms/index.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { caselessPattern } from '../../../platform/database/like.js';
import type { ContentReply } from '../../../platform/http/replies/content-reply.js';
import { fieldError } from '../../../platform/http/errors.js';
import { JsonReply } from '../../../platform/http/json-reply.js';
import { Cursors } from '../../../platform/paging/cursors.js';
import { FormAccess, includes } from '../form-access.js';
import { FormEvents } from '../changes/form-writes.repository.js';
import { FormsRepository, likePatterns } from '../forms.repository.js';
import {
  type DeletedFormResponseEnvelope,
  type FormResponseEnvelope,
  type FormResponseItem,
  type FormResponseListEnvelope,
  type ListResponses,
  ResponseErrors,
} from './responses.dto.js';
import {
  type ListedResponse,
  type ResponseFilter,
  type ResponseRow,
  ResponsesRepository,
} from './responses.repository.js';
import { SubmissionWrites } from './submission-writes.js';
import { FormUploadsService } from './uploads.service.js';

/** Largest total of a filtered list. */
const MAX_COUNT = 10_000;

/** Reads the responses of a form, all for viewers, their own for respondents; deletes them for editors. */
@Injectable()
export class ResponsesService {
  constructor(
    private readonly responses: ResponsesRepository,
    private readonly forms: FormsRepository,
    private readonly uploads: FormUploadsService,
    private readonly access: FormAccess,
    private readonly events: FormEvents,
    private readonly writes: SubmissionWrites,
    private readonly cursors: Cursors,
    private readonly db: Db,
  ) {}

  /** @param filters values by question id @throws ApiError 404, 403, 422 for filters of unknown questions */
  async list(
    ctx: RequestContext,
    id: string,
    query: ListResponses,
    filters: Record<string, string>,
  ): Promise<JsonReply<FormResponseListEnvelope>> {
    const { from, to, version, q } = query;
    const form = await this.access.open(ctx, id, 'viewer', query.share_token);
    const filter = {
      from,
      to,
      version,
      words: likePatterns(q),
      ...(await this.answerFilter(ctx, id, filters)),
    };
    const { rows, next } = await this.cursors.page(query, {
      scope: `form responses ${ctx.tenantId} ${id} ${JSON.stringify([from, to, version, q, filters])}`,
      key: (row: ListedResponse): [string, string] => [row.submitted_at.toISOString(), row.id],
      fits: (row) => row.fits,
      rows: (after, limit) => this.responses.list(ctx.tenantId, id, filter, after, limit),
    });
    const filtered =
      [from, to, version, q].some((value) => value !== undefined) || Object.keys(filters).length > 0;
    const total = filtered ? await this.countFiltered(ctx, id, query, filter) : form.response_count;
    return JsonReply.of({ responses: rows.map(present), next, total });
  }

  /** Deletes a response with its files. @throws ApiError 404, 403 */
  async delete(
    ctx: RequestContext,
    id: string,
    responseId: string,
  ): Promise<JsonReply<DeletedFormResponseEnvelope>> {
    await this.access.open(ctx, id, 'editor');
    const row = await this.responses.find(ctx, id, responseId);
    if (!row) throw ResponseErrors.responseNotFound.with();
    await this.db.tx(async (tx) => {
      if (!(await this.writes.delete(tx, ctx, id, responseId, row.respondent_id)))
        throw ResponseErrors.responseNotFound.with();
      await this.events.record(tx, ctx, 'response_deleted', id, { response_id: responseId });
    });
    return JsonReply.of({ response: present(row), deleted: true });
  }

  /** @throws ApiError 404 also for responses of others without the role of a viewer */
  async read(
    ctx: RequestContext,
    id: string,
    responseId: string,
    token: string | undefined,
  ): Promise<JsonReply<FormResponseEnvelope>> {
    const row = await this.readable(ctx, id, responseId, token);
    const version = await this.forms.version(ctx.tenantId, id, row.version);
    return JsonReply.of({ response: present(row), definition: version!.definition });
  }

  /** A response for a viewer of the form; null: deleted. */
  async readShown(ctx: RequestContext, id: string, responseId: string): Promise<FormResponseItem | null> {
    const row = await this.responses.find(ctx, id, responseId);
    return row ? present(row) : null;
  }

  /** @throws ApiError 404 */
  async download(
    ctx: RequestContext,
    id: string,
    responseId: string,
    uploadId: string,
    token: string | undefined,
  ): Promise<ContentReply> {
    await this.readable(ctx, id, responseId, token);
    return this.uploads.download(ctx, id, responseId, uploadId);
  }

  /** Null means that there are more than can be counted, or that the page is not the first one. */
  private async countFiltered(
    { tenantId }: RequestContext,
    id: string,
    { cursor }: ListResponses,
    filter: ResponseFilter,
  ): Promise<number | null> {
    if (cursor !== undefined) return null;
    const count = await this.responses.count(tenantId, id, filter, MAX_COUNT + 1);
    return count > MAX_COUNT ? null : count;
  }

  private async readable(
    ctx: RequestContext,
    id: string,
    responseId: string,
    token: string | undefined,
  ): Promise<ResponseRow> {
    // Both statements go to the database at once.
    const [{ role }, row] = await Promise.all([
      this.access.open(ctx, id, 'respondent', token),
      this.responses.find(ctx, id, responseId),
    ]);
    const isViewer = includes(role, 'viewer') || includes(await this.access.baseRole(ctx), 'viewer');
    if (!row || (!isViewer && row.respondent_id !== ctx.userId)) throw ResponseErrors.responseNotFound.with();
    return row;
  }

  private async answerFilter(
    ctx: RequestContext,
    id: string,
    filters: Record<string, string>,
  ): Promise<Pick<ResponseFilter, 'contains' | 'texts'>> {
    const contains: Record<string, unknown> = {};
    const texts = new Map<string, string>();
    if (Object.keys(filters).length === 0) return { contains, texts };
    const versions = await this.forms.versions(this.db, ctx.tenantId, id);
    const questions = new Map(
      versions
        .flatMap(({ definition }) => questionsOf(definition))
        .map((question) => [question.id, question]),
    );
    for (const [name, value] of Object.entries(filters)) {
      const question = questions.get(name);
      const wanted = question && wantedAnswer(question, value);
      if (wanted === undefined) throw notFilterable(name);
      if (wanted === null) texts.set(name, caselessPattern(value));
      else contains[name] = wanted;
    }
    return { contains, texts };
  }
}

/** The answer that equals the value; null for text, which is searched; undefined for questions without filters. */
function wantedAnswer(question: Question, value: string): unknown {
  switch (kindOf(question).comparison) {
    case 'choice':
    case 'order':
      return value;
    case 'choices':
      return [value];
    case 'number':
      return Number.isFinite(Number(value)) && value.trim() !== '' ? Number(value) : undefined;
    case 'boolean':
      return value === 'true' ? true : value === 'false' ? false : undefined;
    case 'text':
      return null;
    case 'none':
      return undefined;
  }
}

const notFilterable = (name: string) =>
  fieldError(`filter[${name}]`, 'filter', `filter[${name}] must be a value of a question`);

const present = (row: ResponseRow): FormResponseItem => ({
  id: row.id,
  version: row.version,
  submitted_at: row.submitted_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
  respondent:
    row.respondent_id === null
      ? null
      : { id: row.respondent_id, name: row.respondent_name ?? '', email: row.respondent_email ?? '' },
  answers: row.answers,
  duration_seconds: row.duration_seconds,
});
