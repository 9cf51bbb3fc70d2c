import { Controller, Get, Query } from '@nestjs/common';
import { ApiOkResponse } from '@nestjs/swagger';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { Operation } from '../../../platform/http/api-docs.js';
import { Errors } from '../../../platform/http/errors.js';
import { Id } from '../../../platform/http/id.pipe.js';
import type { JsonReply } from '../../../platform/http/json-reply.js';
import { PageQuery } from '../../../platform/paging/page.dto.js';
import { ReportErrors } from './reports.errors.js';
import {
  SharedReportEnvelope,
  SharedReportFormEnvelope,
  SharedReportListEnvelope,
  SharedReportRowsEnvelope,
} from './reports.response.js';
import { SharedReportsService } from './shared-reports.service.js';

const ERRORS = [ReportErrors.notFound, Errors.invalidId];

@Controller('reports/shared')
export class SharedReportsController {
  constructor(private readonly reports: SharedReportsService) {}

  @Operation({
    tag: 'forms',
    id: 'listSharedReports',
    summary: 'List the reports shared with you',
    description: 'Also by one of your groups; newest first.',
    errors: [Errors.validationFailed, Errors.invalidCursor],
  })
  @ApiOkResponse({ type: SharedReportListEnvelope, description: 'A page of reports.' })
  @Get()
  list(@Ctx() ctx: RequestContext, @Query() query: PageQuery): Promise<JsonReply> {
    return this.reports.list(ctx, query);
  }

  @Operation({
    tag: 'forms',
    id: 'readSharedReport',
    summary: 'Read a report shared with you',
    description: 'The aggregates of its columns.',
    errors: ERRORS,
  })
  @ApiOkResponse({ type: SharedReportEnvelope, description: 'The report and its data.' })
  @Get(':report_id')
  read(@Ctx() ctx: RequestContext, @Id('report_id') id: string): Promise<JsonReply> {
    return this.reports.read(ctx, id);
  }

  @Operation({
    tag: 'forms',
    id: 'listSharedReportResponses',
    summary: 'Read the rows of a report shared with you',
    description: 'The first 1,000 responses with the columns of the report, where it exposes them.',
    errors: [...ERRORS, ReportErrors.notExposed],
  })
  @ApiOkResponse({ type: SharedReportRowsEnvelope, description: 'The rows.' })
  @Get(':report_id/responses')
  rows(@Ctx() ctx: RequestContext, @Id('report_id') id: string): Promise<JsonReply> {
    return this.reports.rows(ctx, id);
  }

  @Operation({
    tag: 'forms',
    id: 'readSharedReportForm',
    summary: 'Read the questions of a report shared with you',
    description: 'Only the columns of the report, where it exposes them.',
    errors: [...ERRORS, ReportErrors.notExposed],
  })
  @ApiOkResponse({ type: SharedReportFormEnvelope, description: 'The questions.' })
  @Get(':report_id/form')
  form(@Ctx() ctx: RequestContext, @Id('report_id') id: string): Promise<JsonReply> {
    return this.reports.form(ctx, id);
  }
}
