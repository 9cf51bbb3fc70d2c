import { Injectable } from '@nestjs/common';
import {
  type AnswerFile,
  type Answers,
  type CheckedAnswers,
  kindOf,
  type Problem,
  type Question,
} from '../../../lib/forms/index.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { makeId } from '../../../platform/events/anonymous-events.js';
import type { ApiError } from '../../../platform/http/errors.js';
import type { Checked } from '../../../platform/http/input.pipe.js';
import { JsonReply } from '../../../platform/http/json-reply.js';
import { searchText } from '../../../platform/resources/text-search.js';
import { detailsOf } from '../input/form.dto.js';
import { FormAccess, type OpenForm } from '../form-access.js';
import { FormVisitCounter } from '../form-visit-counter.js';
import { FormErrors } from '../forms.resource.js';
import { FormsRepository, type PublishedVersion } from '../forms.repository.js';
import { type NewResponse, rejectAsClosed } from '../model/form-rules.js';
import {
  type FormStartResponse,
  ResponseErrors,
  type StartForm,
  type SubmissionEnvelope,
  type SubmitForm,
} from './responses.dto.js';
import { SubmissionWrites } from './submission-writes.js';
import { SubmissionsRepository } from './submissions.repository.js';
import { cutText } from '../../../lib/text/index.js';

/** Attempts to store a response. After a publication between the check and the storage both are repeated. */
const MAX_ATTEMPTS = 5;
const MAX_SECONDS = 7 * 24 * 3600;
/** Characters of a response that its search column holds. */
const SEARCH_LENGTH = 4_000;

/** Accepts responses to forms. */
@Injectable()
export class SubmissionsService {
  constructor(
    private readonly forms: FormsRepository,
    private readonly responses: SubmissionsRepository,
    private readonly writes: SubmissionWrites,
    private readonly access: FormAccess,
    private readonly visits: FormVisitCounter,
  ) {}

  /** Counts the start of a respondent. @throws ApiError 404, 409 `not_published` */
  async start(
    ctx: RequestContext,
    id: string,
    body: Checked<StartForm>,
  ): Promise<JsonReply<FormStartResponse>> {
    const token = body.text('share_token');
    const { role, current_version: current } = await this.access.open(ctx, id, 'respondent', token);
    if (body.error) throw body.error;
    if (current === null) throw FormErrors.notPublished.with();
    if (role === 'respondent') this.visits.record('starts', ctx.tenantId, id, current);
    return JsonReply.of({ started_at: new Date().toISOString() });
  }

  /**
   * Stores a response, once for each `client_response_id`.
   * @throws ApiError 403 `not_accepting`, 404, 409 `already_submitted`, `version_outdated`, `client_response_id_reused`,
   *   `upload_used`, `not_editable`, 422 `invalid_answers`
   */
  async submit(
    ctx: RequestContext,
    id: string,
    body: Checked<SubmitForm>,
  ): Promise<JsonReply<SubmissionEnvelope>> {
    for (let attempt = 1; ; attempt += 1) {
      const token = body.text('share_token');
      const form = await this.access.open(ctx, id, 'respondent', token);
      const input = body.value;
      if (form.current_version === null) throw FormErrors.notPublished.with();
      const { response, discarded } = await this.acceptable(ctx, form, form.current_version, input);
      const stored = await (input.response_id === undefined
        ? this.writes.store(ctx, form, response)
        : this.writes.replace(ctx, id, response));
      if (stored === 'outdated') {
        if (attempt < MAX_ATTEMPTS) continue;
        throw rejectAsClosed(form.settings);
      }
      return JsonReply.of(
        {
          response: {
            id: stored.id,
            version: stored.version,
            submitted_at: stored.submitted_at.toISOString(),
          },
          confirmation: form.settings.confirmation,
          discarded,
        },
        stored.isNew ? { status: 201, location: `/apis/v1/forms/${id}/responses/${stored.id}` } : {},
      );
    }
  }

  /**
   * The checked response. A repeated submission is checked by the version of the stored response, because its answers may not
   * fit a later version.
   */
  private async acceptable(
    ctx: RequestContext,
    form: OpenForm,
    current: number,
    input: SubmitForm,
  ): Promise<{ response: NewResponse; discarded: string[] }> {
    try {
      return await this.checked(ctx, form, current, input);
    } catch (error) {
      const { client_response_id: clientId, response_id: id } = input;
      const version =
        clientId !== undefined && id === undefined
          ? await this.responses.versionOf(ctx.tenantId, form.id, clientId)
          : undefined;
      if (version === undefined || version === current) throw error;
      return this.checked(ctx, form, version, { ...input, version });
    }
  }

  private async checked(
    ctx: RequestContext,
    form: OpenForm,
    current: number,
    input: SubmitForm,
  ): Promise<{ response: NewResponse; discarded: string[] }> {
    const { version = current } = input;
    const answered = await this.forms.version(ctx.tenantId, form.id, version);
    if (!answered) throw outdated(current, []);
    const { answers, discarded, problems } = answered.checker.check(input.answers);
    if (problems.length > 0) throw ResponseErrors.invalidAnswers.with({ details: detailsOf(problems) });
    if (version !== current) await this.assertFits(ctx, form, current, input.answers);
    const uploads = await this.resolveFiles(ctx, form.id, answers);
    const response = {
      id: input.response_id?.toLowerCase() ?? makeId(form.settings.anonymous),
      userId: ctx.userId,
      clientResponseId: input.client_response_id?.toLowerCase() ?? null,
      version,
      checkedVersion: current,
      answers,
      searchText: searchTextOf(answered, answers),
      durationSeconds: secondsSince(input.started_at),
      uploads,
    };
    return { response, discarded };
  }

  /** An older version is accepted while its answers are valid in the current one. */
  private async assertFits(
    ctx: RequestContext,
    form: OpenForm,
    current: number,
    answers: SubmitForm['answers'],
  ): Promise<void> {
    const version = (await this.forms.version(ctx.tenantId, form.id, current)) as PublishedVersion;
    const { problems }: CheckedAnswers = version.checker.check(answers);
    if (problems.length > 0) throw outdated(current, problems);
  }

  /** Replaces the ids of uploads in the answers with the metadata of the files. @returns the ids */
  private async resolveFiles(ctx: RequestContext, form: string, answers: Answers): Promise<string[]> {
    const uploads = Object.entries(answers).flatMap(([question, answer]) =>
      typeof answer === 'object' && 'upload_ids' in answer && Array.isArray(answer.upload_ids)
        ? [{ question, ids: answer.upload_ids }]
        : [],
    );
    if (uploads.length === 0) return [];
    const ids = uploads.flatMap((entry) => entry.ids);
    const found = await this.responses.files(ctx.tenantId, form, ids);
    for (const entry of uploads) {
      const files = entry.ids.map((id) => found.get(id));
      if (!files.every((file) => file?.question_id === entry.question)) throw unknownUpload(entry.question);
      answers[entry.question] = {
        files: (files as AnswerFile[]).map(({ id, name, size, content_type }) => ({
          id,
          name,
          size,
          content_type,
        })),
      };
    }
    return ids;
  }
}

const outdated = (version: number, problems: readonly Problem[]): ApiError =>
  ResponseErrors.versionOutdated.with({ body: { version }, details: detailsOf(problems) });

const unknownUpload = (question: string): ApiError =>
  ResponseErrors.invalidAnswers.with({
    details: [{ field: question, code: 'unknown_upload', message: 'must name uploads for this question' }],
  });

function secondsSince(start: Date | undefined): number | null {
  const seconds = start && Math.round((Date.now() - start.getTime()) / 1000);
  return seconds !== undefined && seconds >= 0 && seconds <= MAX_SECONDS ? seconds : null;
}

/** The folded texts and labels of the answers. */
function searchTextOf({ checker }: PublishedVersion, answers: Answers): string {
  const texts = Object.entries(answers).flatMap(([id, answer]) => {
    const question = checker.questions.get(id) as Question;
    const kind = kindOf(question);
    const columns = kind.columns?.(question) ?? [{ id: '' }];
    const cells = kind.cells(
      question,
      answer,
      columns.map((column) => column.id),
    );
    return cells.flatMap((cell) => (cell?.kind === 'text' ? [cell.value] : []));
  });
  return searchText(cutText(texts.join(' '), SEARCH_LENGTH));
}
