import { Controller, Delete, Get, HttpCode, Post, Put, Query } from '@nestjs/common';
import { ApiBody, ApiOkResponse, ApiResponse } from '@nestjs/swagger';
import { XLSX_TYPE } from '../../../lib/xlsx/index.js';
import { Idempotency, type IdempotencyKey } from '../../../platform/concurrency/idempotency.js';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { Requires } from '../../../platform/context/permission.guard.js';
import {
  ApiFile,
  ApiIdempotency,
  BODY_ERRORS,
  IDEMPOTENCY_ERRORS,
  LOCATION_HEADER,
  Operation,
} from '../../../platform/http/api-docs.js';
import { Errors } from '../../../platform/http/errors.js';
import { Id } from '../../../platform/http/id.pipe.js';
import { type Checked, CheckedBody } from '../../../platform/http/input.pipe.js';
import type { JsonReply } from '../../../platform/http/json-reply.js';
import type { BodyReply } from '../../../platform/http/replies/body-reply.js';
import { PageQuery } from '../../../platform/paging/page.dto.js';
import { FORMS } from '../forms.resource.js';
import { ReportOutput } from './report-output.service.js';
import {
  CreateReport,
  EXAMPLE_REPORT,
  ExportReport,
  ShareReport,
  SnapshotQuery,
  UpdateReport,
} from './reports.dto.js';
import { reportConflict, ReportErrors } from './reports.errors.js';
import {
  DeletedFormReportEnvelope,
  FormReportEnvelope,
  FormReportListEnvelope,
  FormReportSnapshot,
  FormReportViewersEnvelope,
} from './reports.response.js';
import { ReportsService } from './reports.service.js';

const FORM_ERRORS = [FORMS.notFound, Errors.forbidden, Errors.invalidId];
const REPORT_ERRORS = [...FORM_ERRORS, ReportErrors.notFound];
const INPUT_ERRORS = [Errors.validationFailed, ...BODY_ERRORS];
const example = (value: object) => ({ examples: { example: { value } } });

@Controller('forms/:id')
export class FormReportsController {
  constructor(
    private readonly reports: ReportsService,
    private readonly output: ReportOutput,
  ) {}

  @Operation({
    tag: 'forms',
    id: 'listFormReports',
    summary: 'List the saved reports of a form',
    description: 'Oldest first. For owners, editors and viewers of the form.',
    errors: [...FORM_ERRORS, Errors.validationFailed, Errors.invalidCursor],
  })
  @ApiOkResponse({ type: FormReportListEnvelope, description: 'A page of reports.' })
  @Get('reports')
  list(@Ctx() ctx: RequestContext, @Id() id: string, @Query() query: PageQuery): Promise<JsonReply> {
    return this.reports.list(ctx, id, query);
  }

  @Operation({
    tag: 'forms',
    id: 'createFormReport',
    summary: 'Save a report',
    description: 'For owners and editors of the form.',
    errors: [...FORM_ERRORS, ReportErrors.invalidReport, ...INPUT_ERRORS, ...IDEMPOTENCY_ERRORS],
  })
  @ApiBody({ type: CreateReport, ...example({ name: 'Attendance', definition: EXAMPLE_REPORT }) })
  @ApiIdempotency()
  @ApiResponse({
    status: 201,
    type: FormReportEnvelope,
    description: 'The new report.',
    headers: LOCATION_HEADER,
  })
  @HttpCode(201)
  @Post('reports')
  create(
    @Ctx() ctx: RequestContext,
    @Id() id: string,
    @Idempotency() key: IdempotencyKey | null,
    @CheckedBody(CreateReport) body: Checked<CreateReport>,
  ): Promise<JsonReply> {
    return this.reports.create(ctx, id, key, body);
  }

  @Operation({
    tag: 'forms',
    id: 'readFormReport',
    summary: 'Read a saved report',
    errors: REPORT_ERRORS,
  })
  @ApiOkResponse({ type: FormReportEnvelope, description: 'The report.' })
  @Get('reports/:report_id')
  read(@Ctx() ctx: RequestContext, @Id() id: string, @Id('report_id') reportId: string): Promise<JsonReply> {
    return this.reports.read(ctx, id, reportId);
  }

  @Operation({
    tag: 'forms',
    id: 'updateFormReport',
    summary: 'Change a saved report',
    description: 'Missing fields stay. With `rev`, a change since then is a conflict.',
    errors: [...REPORT_ERRORS, reportConflict, ReportErrors.invalidReport, ...INPUT_ERRORS],
  })
  @ApiBody({ type: UpdateReport, ...example({ name: 'Attendance by day', rev: 1 }) })
  @ApiOkResponse({ type: FormReportEnvelope, description: 'The report as it is now.' })
  @Put('reports/:report_id')
  update(
    @Ctx() ctx: RequestContext,
    @Id() id: string,
    @Id('report_id') reportId: string,
    @CheckedBody(UpdateReport) body: Checked<UpdateReport>,
  ): Promise<JsonReply> {
    return this.reports.update(ctx, id, reportId, body);
  }

  @Operation({
    tag: 'forms',
    id: 'deleteFormReport',
    summary: 'Delete a saved report',
    description: 'Its viewers lose their access at once.',
    errors: REPORT_ERRORS,
  })
  @ApiOkResponse({ type: DeletedFormReportEnvelope, description: 'The report as it last was.' })
  @Delete('reports/:report_id')
  delete(
    @Ctx() ctx: RequestContext,
    @Id() id: string,
    @Id('report_id') reportId: string,
  ): Promise<JsonReply> {
    return this.reports.delete(ctx, id, reportId);
  }

  @Operation({
    tag: 'forms',
    id: 'listFormReportViewers',
    summary: 'List the viewers of a report',
    errors: REPORT_ERRORS,
  })
  @ApiOkResponse({ type: FormReportViewersEnvelope, description: 'All of them, at most 500.' })
  @Get('reports/:report_id/share')
  viewers(
    @Ctx() ctx: RequestContext,
    @Id() id: string,
    @Id('report_id') reportId: string,
  ): Promise<JsonReply> {
    return this.reports.viewers(ctx, id, reportId);
  }

  @Operation({
    tag: 'forms',
    id: 'shareFormReport',
    summary: 'Set the viewers of a report',
    description:
      'Replaces the whole list. Viewers see the aggregates of the columns, and what `expose` adds; they need no role on the form.',
    errors: [...REPORT_ERRORS, ReportErrors.unknownViewer, ...INPUT_ERRORS],
  })
  @ApiBody({
    type: ShareReport,
    ...example({ viewers: [{ user_id: '01890a5d-ac96-774b-bcce-b302099a8057' }], expose: { form: true } }),
  })
  @ApiOkResponse({ type: FormReportViewersEnvelope, description: 'The new list.' })
  @HttpCode(200)
  @Post('reports/:report_id/share')
  @Requires('reports.share')
  share(
    @Ctx() ctx: RequestContext,
    @Id() id: string,
    @Id('report_id') reportId: string,
    @CheckedBody(ShareReport) body: Checked<ShareReport>,
  ): Promise<JsonReply> {
    return this.reports.share(ctx, id, reportId, body);
  }

  @Operation({
    tag: 'forms',
    id: 'readFormReportSnapshot',
    summary: 'Read the data of a report',
    description: 'Questions, rows and aggregates in one snapshot. The ETag is a hash of them.',
    errors: [...REPORT_ERRORS, Errors.validationFailed],
  })
  @ApiOkResponse({
    type: FormReportSnapshot,
    description: 'The data.',
    headers: { ETag: { description: 'Hash of form, rows and aggregates.', schema: { type: 'string' } } },
  })
  @Get('report_snapshot')
  snapshot(@Ctx() ctx: RequestContext, @Id() id: string, @Query() query: SnapshotQuery): Promise<JsonReply> {
    return this.output.snapshot(ctx, id, query.report_id);
  }

  @Operation({
    tag: 'forms',
    id: 'exportFormReport',
    summary: 'Export a report as a workbook',
    description: 'Sheets: summary, metrics by group, the table of each chart, the first 1,000 responses.',
    errors: [...REPORT_ERRORS, ReportErrors.invalidReport, ...INPUT_ERRORS],
  })
  @ApiBody({ type: ExportReport, ...example({ definition: EXAMPLE_REPORT, title: 'Attendance' }) })
  @ApiFile(XLSX_TYPE, 'The workbook.')
  @HttpCode(200)
  @Post('report.xlsx')
  workbook(
    @Ctx() ctx: RequestContext,
    @Id() id: string,
    @CheckedBody(ExportReport) body: Checked<ExportReport>,
  ): Promise<BodyReply> {
    return this.output.workbook(ctx, id, body);
  }
}
