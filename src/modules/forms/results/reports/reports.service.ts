import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { type IdempotencyKey, IdempotentWrites } from '../../../../platform/concurrency/idempotency.js';
import type { RequestContext } from '../../../../platform/context/request-context.js';
import { Db } from '../../../../platform/database/db.js';
import type { Reader, Tx } from '../../../../platform/database/tx.js';
import { fieldError } from '../../../../platform/http/errors.js';
import type { Checked } from '../../../../platform/http/input.pipe.js';
import { JsonReply } from '../../../../platform/http/json-reply.js';
import { Cursors } from '../../../../platform/paging/cursors.js';
import type { PageQuery } from '../../../../platform/paging/page.dto.js';
import { hasName } from '../../../../platform/resources/named-principals.js';
import type { ReplyOf } from '../../../../platform/resources/resource.js';
import { FormAccess } from '../../form-access.js';
import { FormEvents } from '../../changes/form-writes.repository.js';
import type { FormReport } from '../../forms.schema.js';
import { FormsRepository } from '../../forms.repository.js';
import { PrincipalsRepository } from '../../principals.repository.js';
import {
  reportConflict,
  type ReportDefinition,
  reportDefinitionOf,
  ReportErrors,
} from './report-definition.js';
import {
  type CreateReport,
  type FormReportResponse,
  type FormReportViewersEnvelope,
  REPORTS,
  type ShareReport,
  type UpdateReport,
} from './reports.dto.js';
import { ReportsRepository } from './reports.repository.js';

/** Saved reports of a form: editors change and share them, viewers of the form read them. */
@Injectable()
export class ReportsService {
  constructor(
    private readonly reports: ReportsRepository,
    private readonly forms: FormsRepository,
    private readonly principals: PrincipalsRepository,
    private readonly access: FormAccess,
    private readonly events: FormEvents,
    private readonly writes: IdempotentWrites,
    private readonly cursors: Cursors,
    private readonly db: Db,
  ) {}

  async list(
    ctx: RequestContext,
    formId: string,
    query: PageQuery,
  ): Promise<ReplyOf<typeof REPORTS, 'list'>> {
    await this.access.open(ctx, formId, 'viewer');
    const { rows, next } = await this.cursors.page(query, {
      scope: `form reports ${ctx.tenantId} ${formId}`,
      key: (report: FormReport & { fits: boolean }): [string] => [report.id],
      fits: (report) => report.fits,
      rows: (after, limit) => this.reports.page(ctx.tenantId, formId, after, limit),
    });
    return REPORTS.page(rows.map(present), next);
  }

  /** @throws ApiError 404, 403, 422 `invalid_report` */
  async create(
    ctx: RequestContext,
    formId: string,
    key: IdempotencyKey | null,
    body: Checked<CreateReport>,
  ): Promise<ReplyOf<typeof REPORTS, 'item'>> {
    await this.access.open(ctx, formId, 'editor');
    const definition = await this.definition(ctx, formId, body.value.definition);
    const id = uuidv7();
    return this.writes.runTx(ctx, key, async (tx) => {
      const values = { id, form_id: formId, name: body.value.name, definition, rev: 1 };
      const report = await this.reports.insert(tx, ctx, values);
      await this.events.record(tx, ctx, 'report_created', formId, { report_id: id });
      const location = `/apis/v1/forms/${formId}/reports/${id}`;
      return REPORTS.response(present(report), { status: 201, location });
    });
  }

  /** @throws ApiError 404, 403 */
  async read(ctx: RequestContext, formId: string, id: string): Promise<ReplyOf<typeof REPORTS, 'item'>> {
    return REPORTS.response(present(await this.requireReadable(ctx, formId, id)));
  }

  /** @throws ApiError 404, 403, 409 `conflict`, 422 `invalid_report` */
  async update(
    ctx: RequestContext,
    formId: string,
    id: string,
    body: Checked<UpdateReport>,
  ): Promise<ReplyOf<typeof REPORTS, 'item'>> {
    return this.change(ctx, formId, id, async (tx, before) => {
      const { name = before.name, definition: plain, rev } = body.value;
      if (rev !== undefined && rev !== before.rev) throw reportConflict.with({ body: { rev: before.rev } });
      const definition = plain ? await this.definition(ctx, formId, plain, tx) : before.definition;
      assertRowsAllowed(definition as ReportDefinition, before.expose_responses);
      const report = await this.reports.update(tx, ctx.tenantId, id, {
        name,
        definition,
        rev: before.rev + 1,
      });
      return { reply: REPORTS.response(present(report)), change: 'report_updated' };
    });
  }

  /** @throws ApiError 404, 403 */
  async delete(ctx: RequestContext, formId: string, id: string): Promise<ReplyOf<typeof REPORTS, 'deleted'>> {
    return this.change(ctx, formId, id, async (tx, before) => {
      await this.reports.delete(tx, ctx.tenantId, id);
      return { reply: REPORTS.deleted(present(before)), change: 'report_deleted' };
    });
  }

  /** @throws ApiError 404, 403 */
  async viewers(
    ctx: RequestContext,
    formId: string,
    id: string,
  ): Promise<JsonReply<FormReportViewersEnvelope>> {
    const report = await this.requireReadable(ctx, formId, id);
    return this.viewersReply(this.db, report);
  }

  /** Replaces the whole list of viewers. @throws ApiError 404 also for viewers, 403, 422 */
  async share(
    ctx: RequestContext,
    formId: string,
    id: string,
    body: Checked<ShareReport>,
  ): Promise<JsonReply<FormReportViewersEnvelope>> {
    return this.change(ctx, formId, id, async (tx, before) => {
      const { viewers, expose = {} } = body.value;
      const principals = await this.principals.read(
        tx,
        ctx.tenantId,
        'viewers',
        viewers,
        ReportErrors.unknownViewer,
        await this.reports.viewers(tx, ctx.tenantId, id),
      );
      const { responses = before.expose_responses, form = before.expose_form } = expose;
      assertRowsAllowed(before.definition as ReportDefinition, responses);
      const values = { expose_responses: responses, expose_form: form };
      const report = await this.reports.update(tx, ctx.tenantId, id, values);
      await this.reports.setViewers(tx, ctx.tenantId, id, principals);
      return { reply: await this.viewersReply(tx, report), change: 'report_shared' };
    });
  }

  /** A saved report. @throws ApiError 404, 403 */
  async requireReadable(ctx: RequestContext, formId: string, id: string): Promise<FormReport> {
    await this.access.open(ctx, formId, 'viewer');
    const report = await this.reports.find(ctx.tenantId, formId, id);
    if (!report) throw REPORTS.notFound.with();
    return report;
  }

  private async change<T>(
    ctx: RequestContext,
    formId: string,
    id: string,
    work: (tx: Tx, before: FormReport) => Promise<{ reply: JsonReply<T>; change: string }>,
  ): Promise<JsonReply<T>> {
    await this.access.open(ctx, formId, 'editor');
    return this.db.tx(async (tx) => {
      const before = await this.reports.lock(tx, ctx.tenantId, formId, id);
      if (!before) throw REPORTS.notFound.with();
      const { reply, change } = await work(tx, before);
      await this.events.record(tx, ctx, change, formId, { report_id: id });
      return reply;
    });
  }

  private async viewersReply(
    reader: Reader,
    report: FormReport,
  ): Promise<JsonReply<FormReportViewersEnvelope>> {
    const { tenant_id, id, expose_responses: responses, expose_form: form } = report;
    const viewers = (await this.reports.viewers(reader, tenant_id, id)).filter(hasName);
    return JsonReply.of({ viewers, expose: { responses, form } });
  }

  private async definition(
    ctx: RequestContext,
    formId: string,
    plain: object,
    reader: Reader = this.db,
  ): Promise<ReportDefinition> {
    return reportDefinitionOf(plain, await this.forms.versions(reader, ctx.tenantId, formId));
  }
}

/** Rows would undo the suppression of small groups. */
function assertRowsAllowed({ suppress_below: least }: ReportDefinition, exposed: boolean): void {
  if (!exposed || least === 0) return;
  const message = 'expose.responses is not possible in a report that suppresses small groups';
  throw fieldError('expose.responses', 'suppressed', message);
}

const present = (report: FormReport): FormReportResponse => ({
  id: report.id,
  form_id: report.form_id,
  name: report.name,
  definition: report.definition as ReportDefinition,
  rev: report.rev,
  created_at: report.created_at.toISOString(),
  updated_at: report.updated_at.toISOString(),
});
