import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../../../platform/context/request-context.js';
import { JsonReply } from '../../../../platform/http/json-reply.js';
import { Cursors } from '../../../../platform/paging/cursors.js';
import type { PageQuery } from '../../../../platform/paging/page.dto.js';
import { FormsRepository } from '../../forms.repository.js';
import { Db } from '../../../../platform/database/db.js';
import { type ListedRow, ReportReader } from './report-data.js';
import { reportForm } from './report-output.service.js';
import {
  type ListSharedRows,
  REPORTS,
  type SharedReportEnvelope,
  type SharedReportFormEnvelope,
  type SharedReportListEnvelope,
  type SharedReportResponse,
  type SharedReportRowsEnvelope,
} from './reports.dto.js';
import { ReportErrors } from './report-definition.js';
import { type OpenedReport, ReportsRepository, type SharedReport } from './reports.repository.js';

/**
 * Reports as their viewers see them. Each request reads the access, so that a removed viewer is rejected at once. Only the columns
 * of the report leave the database.
 */
@Injectable()
export class SharedReportsService {
  constructor(
    private readonly reports: ReportsRepository,
    private readonly reader: ReportReader,
    private readonly forms: FormsRepository,
    private readonly cursors: Cursors,
    private readonly db: Db,
  ) {}

  async list(ctx: RequestContext, query: PageQuery): Promise<JsonReply<SharedReportListEnvelope>> {
    const { rows, next } = await this.cursors.page(query, {
      scope: `shared reports ${ctx.tenantId} ${ctx.userId}`,
      key: (report: SharedReport): [string] => [report.id],
      rows: (after, limit) => this.reports.listShared(ctx, after, limit),
    });
    return JsonReply.of({ reports: rows.map(present), next });
  }

  /** @throws ApiError 404 without access */
  async read(ctx: RequestContext, id: string): Promise<JsonReply<SharedReportEnvelope>> {
    const report = await this.find(ctx, id);
    const { form_id: form, definition, expose_responses: isExposed } = report;
    const { aggregates } = await this.reader.read(ctx.tenantId, form, definition, isExposed);
    return JsonReply.of({ report: present(report), data: { aggregates } });
  }

  /** @throws ApiError 404, 403 `not_exposed` */
  async rows(
    ctx: RequestContext,
    id: string,
    query: ListSharedRows,
  ): Promise<JsonReply<SharedReportRowsEnvelope>> {
    const report = await this.find(ctx, id);
    if (!report.expose_responses) throw ReportErrors.notExposed.with();
    const { form_id: form, definition, updated_at: at } = report;
    const { rows, next } = await this.cursors.page(query, {
      // A change of the report makes its cursors invalid.
      scope: `shared report rows ${ctx.tenantId} ${ctx.userId} ${id} ${at.toISOString()}`,
      key: ({ row }: ListedRow): [string, string] => [row.submitted_at, row.id],
      fits: ({ fits }) => fits,
      rows: (after, limit) => this.reader.rows(ctx.tenantId, form, definition, after, limit),
    });
    return JsonReply.of({ responses: rows.map(({ row }) => row), next });
  }

  /** @throws ApiError 404, 403 `not_exposed` */
  async form(ctx: RequestContext, id: string): Promise<JsonReply<SharedReportFormEnvelope>> {
    const report = await this.find(ctx, id);
    if (!report.expose_form) throw ReportErrors.notExposed.with();
    const versions = await this.forms.versions(this.db, ctx.tenantId, report.form_id);
    const form = { id: report.form_id, title: report.form_title };
    return JsonReply.of({ form: reportForm(form, report.definition, { versions }) });
  }

  private async find(ctx: RequestContext, id: string): Promise<OpenedReport> {
    const report = await this.reports.sharedById(ctx, id);
    if (!report) throw REPORTS.notFound.with();
    return report;
  }
}

const present = (report: SharedReport): SharedReportResponse => ({
  id: report.id,
  name: report.name,
  form_title: report.form_title,
  expose: { responses: report.expose_responses, form: report.expose_form },
  created_at: report.created_at.toISOString(),
  updated_at: report.updated_at.toISOString(),
});
