import { Controller, Query } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { XLSX_TYPE } from '../../../../lib/xlsx/index.js';
import { Idempotency, type IdempotencyKey } from '../../../../platform/concurrency/idempotency.js';
import { Requires } from '../../../../platform/context/permission.guard.js';
import { Ctx, type RequestContext } from '../../../../platform/context/request-context.js';
import { ApiFile } from '../../../../platform/http/api-docs.js';
import { Endpoint } from '../../../../platform/http/endpoint.js';
import { Errors } from '../../../../platform/http/errors.js';
import { Id } from '../../../../platform/http/id.pipe.js';
import { type Checked, CheckedBody } from '../../../../platform/http/input.pipe.js';
import type { BodyReply } from '../../../../platform/http/replies/body-reply.js';
import { PageQuery } from '../../../../platform/paging/page.dto.js';
import { QuotaErrors } from '../../../../platform/quotas/quotas.dto.js';
import { FORMS } from '../../forms.resource.js';
import { reportConflict, ReportErrors } from './report-definition.js';
import { ReportOutput } from './report-output.service.js';
import {
  CreateReport,
  EXAMPLE_REPORT,
  ExportReport,
  FormReportSnapshot,
  FormReportViewersEnvelope,
  ListSharedRows,
  REPORTS,
  SharedReportEnvelope,
  SharedReportFormEnvelope,
  SharedReportListEnvelope,
  SharedReportRowsEnvelope,
  ShareReport,
  SnapshotQuery,
  UpdateReport,
} from './reports.dto.js';
import { ReportsService } from './reports.service.js';
import { SharedReportsService } from './shared-reports.service.js';

const FORM_ERRORS = [FORMS.notFound, Errors.forbidden];
const REPORT_ERRORS = [...FORM_ERRORS, REPORTS.notFound];

@ApiTags('forms')
@Controller('forms/:id')
export class FormReportsController {
  constructor(
    private readonly reports: ReportsService,
    private readonly output: ReportOutput,
  ) {}

  @Endpoint('GET reports', {
    id: 'listFormReports',
    summary: 'List the saved reports of a form',
    description: 'Oldest first. For owners, editors and viewers of the form.',
    errors: FORM_ERRORS,
    response: [REPORTS.envelopes.list, 'A page of reports.'],
  })
  list(@Ctx() ctx: RequestContext, @Id() id: string, @Query() query: PageQuery) {
    return this.reports.list(ctx, id, query);
  }

  @Endpoint('POST reports', {
    id: 'createFormReport',
    summary: 'Save a report',
    description: 'For owners and editors of the form.',
    errors: [QuotaErrors.exceeded, ...FORM_ERRORS, ReportErrors.invalidReport],
    response: [REPORTS.envelopes.item, 'The new report.'],
    status: 201,
    location: true,
    example: { name: 'Attendance', definition: EXAMPLE_REPORT },
  })
  create(
    @Ctx() ctx: RequestContext,
    @Id() id: string,
    @Idempotency() key: IdempotencyKey | null,
    @CheckedBody(CreateReport) body: Checked<CreateReport>,
  ) {
    return this.reports.create(ctx, id, key, body);
  }

  @Endpoint('GET reports/:report_id', {
    id: 'readFormReport',
    summary: 'Read a saved report',
    description:
      'The definition of the report, without results. For owners, editors and viewers of the form.',
    errors: REPORT_ERRORS,
    response: [REPORTS.envelopes.item, 'The report.'],
  })
  read(@Ctx() ctx: RequestContext, @Id() id: string, @Id('report_id') reportId: string) {
    return this.reports.read(ctx, id, reportId);
  }

  @Endpoint('PUT reports/:report_id', {
    id: 'updateFormReport',
    summary: 'Change a saved report',
    description: 'Missing fields stay. With `rev`, a change since then is a conflict.',
    errors: [...REPORT_ERRORS, reportConflict, ReportErrors.invalidReport],
    response: [REPORTS.envelopes.item, 'The report as it is now.'],
    example: { name: 'Attendance by day', rev: 1 },
  })
  update(
    @Ctx() ctx: RequestContext,
    @Id() id: string,
    @Id('report_id') reportId: string,
    @CheckedBody(UpdateReport) body: Checked<UpdateReport>,
  ) {
    return this.reports.update(ctx, id, reportId, body);
  }

  @Endpoint('DELETE reports/:report_id', {
    id: 'deleteFormReport',
    summary: 'Delete a saved report',
    description: 'Its viewers lose their access at once.',
    errors: REPORT_ERRORS,
    response: [REPORTS.envelopes.deleted, 'The report as it last was.'],
  })
  delete(@Ctx() ctx: RequestContext, @Id() id: string, @Id('report_id') reportId: string) {
    return this.reports.delete(ctx, id, reportId);
  }

  @Endpoint('GET reports/:report_id/share', {
    id: 'listFormReportViewers',
    summary: 'List the viewers of a report',
    description: 'Users who may read the results of the report without a role on its form.',
    errors: REPORT_ERRORS,
    response: [FormReportViewersEnvelope, 'All of them, at most 500.'],
  })
  viewers(@Ctx() ctx: RequestContext, @Id() id: string, @Id('report_id') reportId: string) {
    return this.reports.viewers(ctx, id, reportId);
  }

  @Endpoint('POST reports/:report_id/share', {
    id: 'shareFormReport',
    summary: 'Set the viewers of a report',
    description:
      'Replaces the whole list. Viewers see the aggregates of the columns, with `expose` also rows and questions; they need no role on the form.',
    errors: [...REPORT_ERRORS, ReportErrors.unknownViewer],
    response: [FormReportViewersEnvelope, 'The new list.'],
    example: { viewers: [{ user_id: '01890a5d-ac96-774b-bcce-b302099a8057' }], expose: { form: true } },
  })
  @Requires('reports.share')
  share(
    @Ctx() ctx: RequestContext,
    @Id() id: string,
    @Id('report_id') reportId: string,
    @CheckedBody(ShareReport) body: Checked<ShareReport>,
  ) {
    return this.reports.share(ctx, id, reportId, body);
  }

  @Endpoint<FormReportSnapshot>('GET report_snapshot', {
    id: 'readFormReportSnapshot',
    work: 'long',
    summary: 'Read the data of a report',
    description: 'Questions, rows and aggregates in one snapshot. The ETag is a hash of them.',
    errors: REPORT_ERRORS,
  })
  @ApiOkResponse({
    type: FormReportSnapshot,
    description: 'The data.',
    headers: { ETag: { description: 'Hash of form, rows and aggregates.', schema: { type: 'string' } } },
  })
  snapshot(@Ctx() ctx: RequestContext, @Id() id: string, @Query() query: SnapshotQuery) {
    return this.output.snapshot(ctx, id, query.report_id);
  }

  @Endpoint('POST report.xlsx', {
    id: 'exportFormReport',
    work: 'long',
    summary: 'Export a report as a workbook',
    description: 'Sheets: summary, metrics by group, the table of each chart, the first 1,000 responses.',
    errors: [...REPORT_ERRORS, ReportErrors.invalidReport],
    example: { definition: EXAMPLE_REPORT, title: 'Attendance' },
  })
  @ApiFile(XLSX_TYPE, 'The workbook.')
  workbook(
    @Ctx() ctx: RequestContext,
    @Id() id: string,
    @CheckedBody(ExportReport) body: Checked<ExportReport>,
  ): Promise<BodyReply> {
    return this.output.workbook(ctx, id, body);
  }
}

const ERRORS = [REPORTS.notFound];

@ApiTags('forms')
@Controller('reports/shared')
export class SharedReportsController {
  constructor(private readonly reports: SharedReportsService) {}

  @Endpoint('GET', {
    id: 'listSharedReports',
    summary: 'List the reports shared with you',
    description: 'Reports shared with you or with one of your groups, newest first.',
    response: [SharedReportListEnvelope, 'A page of reports.'],
  })
  list(@Ctx() ctx: RequestContext, @Query() query: PageQuery) {
    return this.reports.list(ctx, query);
  }

  @Endpoint('GET :report_id', {
    id: 'readSharedReport',
    work: 'long',
    summary: 'Read a report shared with you',
    description: 'The aggregates of its columns.',
    errors: ERRORS,
    response: [SharedReportEnvelope, 'The report and its data.'],
  })
  read(@Ctx() ctx: RequestContext, @Id('report_id') id: string) {
    return this.reports.read(ctx, id);
  }

  @Endpoint('GET :report_id/responses', {
    id: 'listSharedReportResponses',
    work: 'long',
    summary: 'Read the rows of a report shared with you',
    description: 'Oldest first, with the columns of the report. Only for a report that exposes responses.',
    errors: [...ERRORS, ReportErrors.notExposed],
    response: [SharedReportRowsEnvelope, 'A page of rows.'],
  })
  rows(@Ctx() ctx: RequestContext, @Id('report_id') id: string, @Query() query: ListSharedRows) {
    return this.reports.rows(ctx, id, query);
  }

  @Endpoint('GET :report_id/form', {
    id: 'readSharedReportForm',
    summary: 'Read the questions of a report shared with you',
    description: 'The questions of the columns. Only for a report that exposes its form.',
    errors: [...ERRORS, ReportErrors.notExposed],
    response: [SharedReportFormEnvelope, 'The questions.'],
  })
  form(@Ctx() ctx: RequestContext, @Id('report_id') id: string) {
    return this.reports.form(ctx, id);
  }
}
