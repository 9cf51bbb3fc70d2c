import { Controller, createParamDecorator, type ExecutionContext, Query } from '@nestjs/common';
import { ApiQuery, ApiTags } from '@nestjs/swagger';
import type { Request } from 'express';
import { ANSWER_LIMITS } from '../../../lib/forms/index.js';
import { DOWNLOAD_ERRORS, UPLOAD_ERRORS } from '../../../platform/blobs/file-errors.dto.js';
import { ApiDownload } from '../../../platform/blobs/download-docs.js';
import { Form, TakesFile, type UploadForm } from '../../../platform/blobs/uploads/upload-form.js';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import type { ContentReply } from '../../../platform/http/replies/content-reply.js';
import { Errors } from '../../../platform/http/errors.js';
import { Id } from '../../../platform/http/id.pipe.js';
import { type Checked, CheckedBody } from '../../../platform/http/input.pipe.js';
import { FormErrors, FORMS } from '../forms.resource.js';
import {
  DeletedFormResponseEnvelope,
  FormResponseEnvelope,
  FormResponseListEnvelope,
  FormStartResponse,
  FormUploadEnvelope,
  ListResponses,
  ReadResponse,
  ResponseErrors,
  StartForm,
  SubmissionEnvelope,
  SubmitForm,
  UploadQuery,
} from './responses.dto.js';
import { ResponsesService } from './responses.service.js';
import { SubmissionsService } from './submissions.service.js';
import { FormUploadsService } from './uploads.service.js';

/** The `filter[<question id>]` parameters. */
const AnswerFilters = createParamDecorator(
  (_: unknown, context: ExecutionContext): Record<string, string> => {
    const { query } = context.switchToHttp().getRequest<Request>();
    const filters = Object.entries(query).flatMap(([name, value]) => {
      const [, question] = /^filter\[([\w-]{1,64})\]$/.exec(name) ?? [];
      return question !== undefined && typeof value === 'string' && !(question in {})
        ? [[question, value]]
        : [];
    });
    return Object.fromEntries(filters.slice(0, 20)) as Record<string, string>;
  },
);

@ApiTags('forms')
@Controller('forms')
export class FormResponsesController {
  constructor(
    private readonly submissions: SubmissionsService,
    private readonly responses: ResponsesService,
    private readonly uploads: FormUploadsService,
  ) {}

  @Endpoint('POST :id/start', {
    id: 'startForm',
    summary: 'Report the start of a response',
    description:
      'Our addition, for `started` of the analytics: a client calls it when the respondent begins to answer. Stores nothing about the respondent.',
    errors: [FORMS.notFound, FormErrors.notPublished],
    response: [FormStartResponse, 'The time of the start.'],
    optionalBody: true,
    example: {},
  })
  start(@Ctx() ctx: RequestContext, @Id() id: string, @CheckedBody(StartForm) body: Checked<StartForm>) {
    return this.submissions.start(ctx, id, body);
  }

  @Endpoint('POST :id/submit', {
    id: 'submitForm',
    summary: 'Submit a response',
    description:
      'Stores the answers once for each `client_response_id`: a repeated request returns 200 with the stored response. With `response_id`, replaces the answers of that response of the caller.',
    errors: [
      FORMS.notFound,
      ResponseErrors.responseNotFound,
      ResponseErrors.notAccepting,
      FormErrors.notPublished,
      ResponseErrors.alreadySubmitted,
      ResponseErrors.clientResponseIdReused,
      ResponseErrors.notEditable,
      ResponseErrors.uploadUsed,
      ResponseErrors.versionOutdated,
      ResponseErrors.invalidAnswers,
    ],
    response: [SubmissionEnvelope, 'The stored response.'],
    unchanged: 'The response that the same request stored before, or that was changed.',
    status: 201,
    location: true,
    example: { answers: { attending: 'yes', diet: 'No nuts' } },
  })
  submit(@Ctx() ctx: RequestContext, @Id() id: string, @CheckedBody(SubmitForm) body: Checked<SubmitForm>) {
    return this.submissions.submit(ctx, id, body);
  }

  @Endpoint('POST :id/attachments', {
    id: 'uploadFormFile',
    summary: 'Upload a file for an answer',
    description:
      'The file belongs to the caller and the question. It is deleted after 24 hours unless a response contains it.',
    errors: [
      FORMS.notFound,
      FormErrors.notPublished,
      ResponseErrors.tooManyUploads,
      Errors.bodyTooLarge,
      Errors.unsupportedMediaType,
      ...UPLOAD_ERRORS,
    ],
    response: [FormUploadEnvelope, 'The stored file.'],
    status: 201,
  })
  @TakesFile(ANSWER_LIMITS.fileBytes)
  upload(
    @Ctx() ctx: RequestContext,
    @Id() id: string,
    @Query() query: UploadQuery,
    @Form() form: UploadForm,
  ) {
    return this.uploads.add(ctx, id, query, form);
  }

  @Endpoint('GET :id/responses', {
    id: 'listFormResponses',
    summary: 'List the responses of a form',
    description: 'Newest first. For owners, editors and viewers.',
    errors: [FORMS.notFound, Errors.forbidden],
    response: [FormResponseListEnvelope, 'A page of responses.'],
  })
  @ApiQuery({
    name: 'filter[question_id]',
    required: false,
    description:
      'Only responses with this answer to the question: an option id, a number, a date, `true`, or part of a text. May be given for several questions.',
    schema: { type: 'string' },
  })
  list(
    @Ctx() ctx: RequestContext,
    @Id() id: string,
    @Query() query: ListResponses,
    @AnswerFilters() filters: Record<string, string>,
  ) {
    return this.responses.list(ctx, id, query, filters);
  }

  @Endpoint('GET :id/responses/:response_id', {
    id: 'readFormResponse',
    summary: 'Read a response',
    description: 'With the version that was answered. Respondents read their own responses.',
    errors: [FORMS.notFound, ResponseErrors.responseNotFound],
    response: [FormResponseEnvelope, 'The response.'],
  })
  read(
    @Ctx() ctx: RequestContext,
    @Id() id: string,
    @Id('response_id') responseId: string,
    @Query() { share_token: token }: ReadResponse,
  ) {
    return this.responses.read(ctx, id, responseId, token);
  }

  @Endpoint('DELETE :id/responses/:response_id', {
    id: 'deleteFormResponse',
    summary: 'Delete a response',
    description:
      'Our addition, e.g. at the request of a respondent. Deletes the files of the response too; in a form that is not anonymous, the respondent can submit again. For owners and editors.',
    errors: [FORMS.notFound, Errors.forbidden, ResponseErrors.responseNotFound],
    response: [DeletedFormResponseEnvelope, 'The response as it last was.'],
  })
  delete(@Ctx() ctx: RequestContext, @Id() id: string, @Id('response_id') responseId: string) {
    return this.responses.delete(ctx, id, responseId);
  }

  @Endpoint('GET :id/responses/:response_id/files/:upload_id', {
    id: 'downloadFormFile',
    summary: 'Download a file of a response',
    description: 'Always as an attachment. For callers who may read the response.',
    errors: [FORMS.notFound, ResponseErrors.responseNotFound, ...DOWNLOAD_ERRORS],
  })
  @ApiDownload('The file.')
  download(
    @Ctx() ctx: RequestContext,
    @Id() id: string,
    @Id('response_id') responseId: string,
    @Id('upload_id') uploadId: string,
    @Query() { share_token: token }: ReadResponse,
  ): Promise<ContentReply> {
    return this.responses.download(ctx, id, responseId, uploadId, token);
  }
}
