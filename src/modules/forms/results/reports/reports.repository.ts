import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../../../platform/context/request-context.js';
import { Db } from '../../../../platform/database/db.js';
import { type ColumnValues, NOW, rowsOf } from '../../../../platform/database/rows.js';
import { workspace } from '../../../../platform/database/statement.js';
import type { Reader, Tx } from '../../../../platform/database/tx.js';
import { jsonBytes } from '../../../../platform/bounded-pages/page-bytes.js';
import { RowQuota } from '../../../../platform/quotas/row-quota.js';
import { FormReport, FormReportViewer } from '../../forms.schema.js';
import { type Principal, principalName } from '../../principals.repository.js';
import type { ReportDefinition } from './report-definition.js';

export interface SharedReport extends Pick<
  FormReport,
  'id' | 'form_id' | 'name' | 'expose_responses' | 'expose_form' | 'created_at' | 'updated_at'
> {
  form_title: string;
}

/** A report that is shared with its reader. */
export interface OpenedReport extends SharedReport {
  definition: ReportDefinition;
}

/** Name null: a deleted group. */
type Viewer = Principal & { name: string | null };

const viewers = workspace.statement<Viewer>(
  'form_reports.viewers',
  `SELECT viewer.principal_kind AS kind, viewer.principal_id AS id, ${principalName('viewer')} AS name
     FROM form_report_viewers viewer WHERE viewer.tenant_id = $1 AND viewer.report_id = $2
    ORDER BY viewer.principal_kind, name, viewer.principal_id LIMIT 500`,
);

// Index form_report_viewers_principal: by the user and by the groups of the user, as they are now.
const shared = workspace.statement<SharedReport & { definition: ReportDefinition | null }>(
  'form_reports.shared',
  `SELECT report.id, report.form_id, form.title AS form_title, report.name,
          CASE WHEN $3::uuid IS NOT NULL THEN report.definition END AS definition, report.expose_responses,
          report.expose_form, report.created_at, report.updated_at
     FROM form_reports report
     JOIN forms form ON form.tenant_id = report.tenant_id AND form.id = report.form_id AND form.deleted_at IS NULL
    WHERE report.tenant_id = $1 AND ($3::uuid IS NULL OR report.id = $3) AND ($4::uuid IS NULL OR report.id < $4)
      AND report.id IN (SELECT reader.report_id FROM form_report_readers reader WHERE reader.tenant_id = $1 AND reader.user_id = $2)
    ORDER BY report.id DESC LIMIT $5`,
);

// Index form_reports_list.
const reportsOfForm = new RowQuota(
  'item',
  'reports_of_form',
  'form_reports',
  'form_reports WHERE tenant_id = $1 AND form_id = $2',
);

/** Saved reports and their viewers. */
@Injectable()
export class ReportsRepository {
  constructor(private readonly db: Db) {}

  /** Reports beyond the bytes of the page have only their ids. */
  async page(
    tenantId: string,
    formId: string,
    after: readonly [string] | undefined,
    limit: number,
  ): Promise<(FormReport & { fits: boolean })[]> {
    const size = `512 + ${jsonBytes('item.definition')}`;
    return rowsOf(this.db, FormReport).boundedPage(
      { tenant_id: tenantId, form_id: formId },
      ['id'],
      after,
      limit,
      { size },
    );
  }

  async find(tenantId: string, formId: string, id: string): Promise<FormReport | null> {
    return rowsOf(this.db, FormReport).one({ tenant_id: tenantId, form_id: formId, id });
  }

  async lock(tx: Tx, tenantId: string, formId: string, id: string): Promise<FormReport | null> {
    return rowsOf(tx, FormReport).lock({ tenant_id: tenantId, form_id: formId, id });
  }

  async insert(tx: Tx, ctx: RequestContext, values: ColumnValues<FormReport>): Promise<FormReport> {
    const { tenantId, userId: createdBy } = ctx;
    await reportsOfForm.take(tx, tenantId, values.form_id as string);
    const times = { created_at: NOW, updated_at: NOW };
    return (await rowsOf(tx, FormReport).insert({
      ...values,
      ...times,
      tenant_id: tenantId,
      created_by: createdBy,
    }))!;
  }

  async update(tx: Tx, tenantId: string, id: string, values: ColumnValues<FormReport>): Promise<FormReport> {
    return (
      await rowsOf(tx, FormReport).update({ tenant_id: tenantId, id }, { ...values, updated_at: NOW })
    )[0]!;
  }

  async delete(tx: Tx, tenantId: string, id: string): Promise<void> {
    await rowsOf(tx, FormReport).delete({ tenant_id: tenantId, id });
  }

  async viewers(reader: Reader, tenantId: string, report: string): Promise<Viewer[]> {
    return reader.query(viewers, [tenantId, report]);
  }

  async setViewers(
    tx: Tx,
    tenantId: string,
    reportId: string,
    principals: readonly Principal[],
  ): Promise<void> {
    await rowsOf(tx, FormReportViewer).delete({ tenant_id: tenantId, report_id: reportId });
    for (const { kind: principalKind, id: principalId } of principals)
      await rowsOf(tx, FormReportViewer).insert({
        tenant_id: tenantId,
        report_id: reportId,
        principal_kind: principalKind,
        principal_id: principalId,
      });
  }

  /** Reports shared with the caller or a group of the caller, newest first. */
  async listShared(
    { tenantId, userId }: RequestContext,
    after: readonly [string] | undefined,
    limit: number,
  ): Promise<SharedReport[]> {
    return this.db.query(shared, [tenantId, userId, null, after?.[0] ?? null, limit]);
  }

  /** @returns undefined for a report that is not shared with the caller */
  async sharedById({ tenantId, userId }: RequestContext, id: string): Promise<OpenedReport | undefined> {
    return (await this.db.query(shared, [tenantId, userId, id, null, 1]))[0] as OpenedReport | undefined;
  }
}
