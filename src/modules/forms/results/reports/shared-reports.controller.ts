import { Controller, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Ctx, type RequestContext } from '../../../../platform/context/request-context.js';
import { Endpoint } from '../../../../platform/http/endpoint.js';
import { Id } from '../../../../platform/http/id.pipe.js';
import { PageQuery } from '../../../../platform/paging/page.dto.js';
import { ListSharedRows } from './reports.dto.js';
import { ReportErrors } from './reports.errors.js';
import { REPORTS } from './reports.resource.js';
import {
  SharedReportEnvelope,
  SharedReportFormEnvelope,
  SharedReportListEnvelope,
  SharedReportRowsEnvelope,
} from './reports.response.js';
import { SharedReportsService } from './shared-reports.service.js';

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
