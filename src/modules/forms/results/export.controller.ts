import { Controller, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { XLSX_TYPE } from '../../../lib/xlsx/index.js';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { ApiFile } from '../../../platform/http/api-docs.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { Errors } from '../../../platform/http/errors.js';
import { Id } from '../../../platform/http/id.pipe.js';
import type { BodyReply } from '../../../platform/http/replies/body-reply.js';
import { type FileRequest, FileRequestParam } from '../../../platform/http/replies/file-reply.js';
import { FORMS } from '../forms.resource.js';
import { FormAnalyticsEnvelope } from './analytics.response.js';
import { AnalyticsService } from './analytics.service.js';
import { AnalyseResponses, ExportResponses } from './export.dto.js';
import { ExportService } from './export.service.js';

const ERRORS = [FORMS.notFound, Errors.forbidden];
const COLUMNS =
  'The columns of all versions: those of the current one first, then removed questions. Questions with equal titles are distinguished by their ids. At most two exports of a workspace run at the same time.';

@ApiTags('forms')
@Controller('forms/:id')
export class FormExportController {
  constructor(
    private readonly exports: ExportService,
    private readonly analytics: AnalyticsService,
  ) {}

  @Endpoint('GET analytics', {
    id: 'analyseForm',
    work: 'long',
    summary: 'Summaries of the responses',
    description:
      'Totals, days and a summary of each question of all versions. For owners, editors and viewers.',
    errors: ERRORS,
    response: [FormAnalyticsEnvelope, 'The summaries.'],
  })
  analyse(@Ctx() ctx: RequestContext, @Id() id: string, @Query() query: AnalyseResponses) {
    return this.analytics.analyse(ctx, id, query);
  }

  @Endpoint('GET export.csv', {
    id: 'exportFormCsv',
    work: 'long',
    summary: 'Export the responses as CSV',
    description: `${COLUMNS} Texts that a spreadsheet would take as formulas get a leading apostrophe.`,
    errors: ERRORS,
  })
  @ApiFile('text/csv', 'UTF-8 with a byte order mark (RFC 4180).')
  csv(
    @Ctx() ctx: RequestContext,
    @Id() id: string,
    @Query() query: ExportResponses,
    @FileRequestParam() { wantsBytes }: FileRequest,
  ): Promise<BodyReply> {
    return this.exports.export(ctx, id, 'csv', query, wantsBytes);
  }

  @Endpoint('GET export.xlsx', {
    id: 'exportFormXlsx',
    work: 'long',
    summary: 'Export the responses as a workbook',
    description: `${COLUMNS} Numbers, dates and times are typed; texts never become formulas. A sheet with more than 1,048,576 rows continues in another one.`,
    errors: ERRORS,
  })
  @ApiFile(XLSX_TYPE, 'The workbook.')
  xlsx(
    @Ctx() ctx: RequestContext,
    @Id() id: string,
    @Query() query: ExportResponses,
    @FileRequestParam() { wantsBytes }: FileRequest,
  ): Promise<BodyReply> {
    return this.exports.export(ctx, id, 'xlsx', query, wantsBytes);
  }
}
