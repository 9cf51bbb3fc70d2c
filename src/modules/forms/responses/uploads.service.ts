import { Injectable } from '@nestjs/common';
import { ANSWER_LIMITS, type Question } from '../../../lib/forms/index.js';
import { Blobs, fileTooLarge, type StoredFile } from '../../../platform/blobs/blobs.js';
import type { UploadForm } from '../../../platform/blobs/uploads/upload-form.js';
import { type ReceivedFile, Uploads } from '../../../platform/blobs/uploads/uploads.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { makeId } from '../../../platform/events/anonymous-events.js';
import { Db } from '../../../platform/database/db.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Reader } from '../../../platform/database/tx.js';
import type { ContentReply } from '../../../platform/http/replies/content-reply.js';
import { Errors, fieldError } from '../../../platform/http/errors.js';
import { JsonReply } from '../../../platform/http/json-reply.js';
import { FormAccess } from '../form-access.js';
import { FormErrors } from '../forms.resource.js';
import { FormsRepository } from '../forms.repository.js';
import { type FormUploadEnvelope, ResponseErrors, type UploadQuery } from './responses.dto.js';

/** Maximum number of files of a user in one form that no response contains yet. */
const MAX_PENDING = 50;
const LIFETIME_HOURS = 24;

const countPending = workspace.statement<{ count: number }>(
  'form_uploads.count_pending',
  `SELECT count(*)::int AS count FROM form_uploads
    WHERE tenant_id = $1 AND form_id = $2 AND user_id = $3 AND response_id IS NULL`,
);
const insert = workspace.statement<{ expires_at: Date }>(
  'form_uploads.insert',
  `INSERT INTO form_uploads (tenant_id, form_id, id, question_id, user_id, blob_id, name, size, content_type, sha256, expires_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, now() + make_interval(hours => ${LIFETIME_HOURS}))
   RETURNING expires_at`,
);

const lockPending = workspace.lock('form_uploads.lock_pending', 'form uploads', 3);

const find = workspace.statement<StoredFile>(
  'form_uploads.read',
  `SELECT blob_id, name, size::float8 AS size, content_type, encode(sha256, 'hex') AS sha256
     FROM form_uploads WHERE tenant_id = $1 AND form_id = $2 AND id = $3 AND response_id = $4`,
);

/** Files of answers. */
@Injectable()
export class FormUploadsService {
  constructor(
    private readonly forms: FormsRepository,
    private readonly access: FormAccess,
    private readonly uploads: Uploads,
    private readonly blobs: Blobs,
    private readonly db: Db,
  ) {}

  /**
   * Stores a file for an answer, for 24 hours or until a response contains it. Checks access before it reads the file.
   * @throws ApiError 404, 409 `not_published`, 413 `file_too_large`, 415 and 422 for the type and the question, 422 `too_many_uploads`
   */
  async add(
    ctx: RequestContext,
    id: string,
    query: UploadQuery,
    form: UploadForm,
  ): Promise<JsonReply<FormUploadEnvelope>> {
    const opened = await this.access.open(ctx, id, 'respondent', query.share_token);
    if (opened.current_version === null) throw FormErrors.notPublished.with();
    const version = await this.forms.version(ctx.tenantId, id, opened.current_version);
    // Checked again under the lock. This first check avoids receiving a file that will be rejected.
    await this.assertWithinLimit(this.db, ctx, id);
    return this.uploads.receive(ctx, form, ANSWER_LIMITS.fileBytes, async (file) => {
      const fields = form.request.body as Record<string, unknown> | undefined;
      const name = query.question_id ?? fields?.['question_id'];
      const question = typeof name === 'string' ? version?.checker.questions.get(name) : undefined;
      assertAccepted(question, file);
      // The time in an ordered id could identify the respondent of an anonymous form.
      const uploadId = makeId(opened.settings.anonymous);
      const expiresAt = await this.store(ctx, id, uploadId, question.id, file);
      const { name: fileName, size, contentType: content_type } = file;
      const upload = {
        id: uploadId,
        name: fileName,
        size,
        content_type,
        expires_at: expiresAt.toISOString(),
      };
      return JsonReply.of({ upload }, { status: 201 });
    });
  }

  /** A file of a response. The caller has checked the access to the response. @throws ApiError 404 */
  async download(ctx: RequestContext, form: string, response: string, id: string): Promise<ContentReply> {
    const [file] = await this.db.query(find, [ctx.tenantId, form, id, response]);
    if (!file) throw ResponseErrors.responseNotFound.with();
    return this.blobs.download(ctx.tenantId, file);
  }

  private async store(
    ctx: RequestContext,
    form: string,
    id: string,
    question: string,
    file: ReceivedFile,
  ): Promise<Date> {
    const { tenantId, userId } = ctx;
    return this.db.tx(async (tx) => {
      const { blobId, name, size, contentType, sha256 } = file;
      await tx.query(lockPending, [tenantId, form, userId]);
      await this.assertWithinLimit(tx, ctx, form);
      const values = [tenantId, form, id, question, userId, blobId, name, size, contentType, sha256];
      const [row] = await tx.query(insert, values);
      await file.keep(tx);
      return (row as { expires_at: Date }).expires_at;
    });
  }

  private async assertWithinLimit(
    reader: Reader,
    { tenantId, userId }: RequestContext,
    form: string,
  ): Promise<void> {
    const [row] = await reader.query(countPending, [tenantId, form, userId]);
    if ((row?.count ?? 0) >= MAX_PENDING) throw ResponseErrors.tooManyUploads.with();
  }
}

/** @throws ApiError 413, 415, 422 unless the question takes this file */
function assertAccepted(question: Question | undefined, file: ReceivedFile): asserts question is Question {
  if (question?.type !== 'file') {
    const message = 'question_id must be the id of a question of the type file';
    throw fieldError('question_id', 'unknown_question', message);
  }
  const { max_bytes: max = ANSWER_LIMITS.fileBytes, content_types: types } = question.settings ?? {};
  if (file.size > max) throw fileTooLarge(max);
  const [group] = file.contentType.split('/');
  if (types && !types.some((type) => type === file.contentType || type === `${group}/*`))
    throw Errors.unsupportedMediaType.with({ message: `The file must be ${types.join(', ')}.` });
}
