import { Injectable } from '@nestjs/common';
import { ExportColumns, type QuestionSummary } from '../../../../lib/forms/index.js';
import { UUID_WIDTH, XLSX_TYPE, type XlsxCell, XlsxWriter } from '../../../../lib/xlsx/index.js';
import type { RequestContext } from '../../../../platform/context/request-context.js';
import { fieldError } from '../../../../platform/http/errors.js';
import type { Checked } from '../../../../platform/http/input.pipe.js';
import { JsonReply } from '../../../../platform/http/json-reply.js';
import { BodyReply } from '../../../../platform/http/replies/body-reply.js';
import { Db } from '../../../../platform/database/db.js';
import { attachmentTitled, fileStream } from '../file-stream.js';
import { FormAccess, type OpenForm } from '../../form-access.js';
import { FormsRepository } from '../../forms.repository.js';
import { LocalTime } from '../local-time.js';
import { columnsOf, type ReportData, ReportReader } from './report-data.js';
import { hashOf, questionsById, type ReportDefinition, reportDefinitionOf } from './report-definition.js';
import type { ExportReport, FormReportForm, FormReportSnapshot } from './reports.dto.js';
import { ReportsService } from './reports.service.js';

/** The questions that a report shows. */
export const reportForm = (
  form: { id: string; title: string },
  definition: ReportDefinition,
  { versions }: Pick<ReportData, 'versions'>,
): FormReportForm => ({
  id: form.id,
  title: form.title,
  questions: columnsOf(definition, versions) as FormReportForm['questions'],
});

/** Snapshots and workbooks of reports, for viewers of the form. */
@Injectable()
export class ReportOutput {
  constructor(
    private readonly reports: ReportsService,
    private readonly reader: ReportReader,
    private readonly forms: FormsRepository,
    private readonly access: FormAccess,
    private readonly db: Db,
  ) {}

  /** @throws ApiError 404, 403 */
  async snapshot(
    ctx: RequestContext,
    formId: string,
    reportId: string | undefined,
  ): Promise<JsonReply<FormReportSnapshot>> {
    const form = await this.access.open(ctx, formId, 'viewer');
    const definition =
      reportId === undefined
        ? await this.wholeForm(ctx, formId)
        : ((await this.reports.requireReadable(ctx, formId, reportId)).definition as ReportDefinition);
    const data = await this.data(ctx, formId, definition);
    const content = {
      form: reportForm(form, definition, data),
      rows: data.rows,
      aggregates: data.aggregates,
    };
    const etag = hashOf(content);
    const snapshot_at = new Date().toISOString();
    return JsonReply.of({ snapshot_at, etag, ...content }, { etag: `"${etag}"` });
  }

  /** A workbook: summary, one sheet for each chart, groups, rows. @throws ApiError 404, 403, 422 */
  async workbook(ctx: RequestContext, formId: string, body: Checked<ExportReport>): Promise<BodyReply> {
    const form = await this.access.open(ctx, formId, 'viewer');
    const { report_id: id, definition: plain, title } = body.value;
    if ((id === undefined) === (plain === undefined)) throw notOneSource();
    const saved = id === undefined ? undefined : await this.reports.requireReadable(ctx, formId, id);
    const versions = await this.forms.versions(this.db, ctx.tenantId, formId);
    const definition =
      (saved?.definition as ReportDefinition | undefined) ?? reportDefinitionOf(plain, versions);
    const data = await this.data(ctx, formId, definition);
    const file = fileStream((write) => writeWorkbook(new XlsxWriter(write), form, definition, data));
    const headers = attachmentTitled(title ?? saved?.name ?? form.title, '.xlsx', 'report');
    return new BodyReply(file, { contentType: XLSX_TYPE, headers });
  }

  private async data(ctx: RequestContext, formId: string, definition: ReportDefinition): Promise<ReportData> {
    return this.reader.read(ctx.tenantId, formId, definition, true);
  }

  private async wholeForm(ctx: RequestContext, formId: string): Promise<ReportDefinition> {
    const versions = await this.forms.versions(this.db, ctx.tenantId, formId);
    const columns = [...questionsById(versions).keys()];
    return { columns, filters: [], group_by: null, metrics: [], charts: [], suppress_below: 0 };
  }
}

const text = (value: string): XlsxCell => ({ kind: 'text', value });
const number = (value: number | null): XlsxCell => (value === null ? null : { kind: 'number', value });

async function writeWorkbook(
  book: XlsxWriter,
  form: OpenForm,
  definition: ReportDefinition,
  { rows, aggregates, versions }: ReportData,
): Promise<void> {
  const titles = new Map([...questionsById(versions)].map(([id, question]) => [id, question.title]));
  await book.sheet('Summary', ['Question', 'Type', 'Answered', 'Skipped']);
  await book.row([text(form.title), null, number(aggregates.responses), null]);
  for (const { title, type, answered, skipped } of aggregates.questions)
    await book.row([text(title), text(type), number(answered), number(skipped)]);
  if (definition.metrics.length > 0 || definition.group_by !== null)
    await writeMetrics(book, aggregates, titles);
  for (const { question } of definition.charts) {
    const summary = aggregates.questions.find(({ id }) => id === question);
    if (summary) await writeChart(book, summary);
  }
  // Rows would undo the suppression of small groups.
  if (definition.suppress_below > 0) return book.end();
  const columns = new ExportColumns(versions, definition.columns);
  const local = new LocalTime('UTC');
  await book.sheet('Responses', ['id', 'submitted_at', 'version', ...columns.titles], [UUID_WIDTH]);
  for (const { id, submitted_at, version, answers } of rows) {
    const moment: XlsxCell = { kind: 'moment', value: local.ms(new Date(submitted_at)) };
    await book.row([text(id), moment, number(version), ...columns.cells(version, answers)]);
  }
  await book.end();
}

async function writeMetrics(
  book: XlsxWriter,
  { metrics, groups }: ReportData['aggregates'],
  titles: ReadonlyMap<string, string>,
): Promise<void> {
  const names = metrics.map(({ question, function: name }) => `${name}: ${titles.get(question) ?? question}`);
  await book.sheet('Metrics', ['Group', 'Responses', ...names]);
  await book.row([text('All'), null, ...metrics.map(({ value }) => number(value))]);
  for (const { label, count, metrics: values } of groups)
    await book.row([text(label ?? ''), number(count), ...values.map(({ value }) => number(value))]);
}

/** The table behind a chart. */
async function writeChart(book: XlsxWriter, summary: QuestionSummary): Promise<void> {
  await book.sheet(summary.title, ['Value', 'Count', summary.ranks ? 'Mean rank' : 'Percent']);
  const rows = summary.rows ?? [{ label: '', options: summary.options ?? [] }];
  for (const row of rows)
    for (const { label, count, percent } of row.options) {
      const name = row.label === '' ? label : `${row.label}: ${label}`;
      await book.row([text(name), number(count), number(percent)]);
    }
  for (const { label, count, mean_rank } of summary.ranks ?? [])
    await book.row([text(label), number(count), number(mean_rank)]);
  for (const [name, value] of Object.entries(summary.statistics ?? {}))
    await book.row([text(name), number(value)]);
}

const notOneSource = () =>
  fieldError('report_id', 'one_source', 'report_id or definition must be given, not both');
