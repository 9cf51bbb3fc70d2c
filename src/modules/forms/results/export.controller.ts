import { Controller, Injectable, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { BYTE_ORDER_MARK, csvLine, type CsvValue } from '../../../lib/csv/index.js';
import { type Cell, Distribution, ExportColumns, Summaries } from '../../../lib/forms/index.js';
import { UUID_WIDTH, XLSX_TYPE, type XlsxCell, XlsxWriter } from '../../../lib/xlsx/index.js';
import { Audit } from '../../../platform/audit/audit.js';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { ApiFile } from '../../../platform/http/api-docs.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { Errors } from '../../../platform/http/errors.js';
import { Id } from '../../../platform/http/id.pipe.js';
import { JsonReply } from '../../../platform/http/json-reply.js';
import { BodyReply } from '../../../platform/http/replies/body-reply.js';
import { type FileRequest, FileRequestParam } from '../../../platform/http/replies/file-reply.js';
import { FormAccess, type OpenForm } from '../form-access.js';
import { FormVisitCounter } from '../form-visit-counter.js';
import { FORMS } from '../forms.resource.js';
import { attachmentTitled, fileStream, type WriteBytes } from './file-stream.js';
import { LocalTime } from './local-time.js';
import { ResponseScan, type ScanRow } from './response-scan.js';
import { AnalyseResponses, ExportResponses, FormAnalyticsEnvelope } from './results.dto.js';
import { waitForSlice } from '../../../lib/turns/index.js';

/** Summaries of all responses of a form. */
@Injectable()
export class AnalyticsService {
  constructor(
    private readonly access: FormAccess,
    private readonly scan: ResponseScan,
    private readonly visits: FormVisitCounter,
  ) {}

  /** @throws ApiError 404, 403 */
  async analyse(
    ctx: RequestContext,
    id: string,
    query: AnalyseResponses,
  ): Promise<JsonReply<FormAnalyticsEnvelope>> {
    await this.access.open(ctx, id, 'viewer', query.share_token);
    const summary = await this.summarise(ctx, id, query);
    return JsonReply.of(summary);
  }

  private async summarise(
    { tenantId }: RequestContext,
    id: string,
    { tz = 'UTC', ...query }: AnalyseResponses,
  ): Promise<FormAnalyticsEnvelope> {
    const local = new LocalTime(tz);
    const { views, starts } = await this.visits.totals(tenantId, id, query);
    return this.scan.compute(tenantId, id, { ...query, respondents: false }, async (versions, batches) => {
      const summaries = new Summaries(versions);
      const days = new Map<string, number>();
      const durations = new Distribution();
      let submitted = 0;
      for await (const rows of batches) {
        for (const { version, answers, submitted_at, duration_seconds: seconds } of rows) {
          summaries.add(version, answers);
          const day = local.day(submitted_at);
          days.set(day, (days.get(day) ?? 0) + 1);
          if (seconds !== null) durations.add(seconds);
        }
        submitted += rows.length;
        await waitForSlice();
      }
      return {
        totals: {
          views,
          started: Math.max(starts, submitted),
          submitted,
          completion_rate: views === 0 ? null : Math.round(Math.min(1, submitted / views) * 10_000) / 10_000,
          median_seconds: durations.median,
        },
        by_day: [...days]
          .map(([day, count]) => ({ day, count }))
          .toSorted((a, b) => (a.day < b.day ? -1 : 1)),
        questions: summaries.all(),
      };
    });
  }
}

const FIXED = ['id', 'submitted_at', 'respondent', 'version'] as const;
/** The widths of these columns in a workbook, in characters. */
const FIXED_WIDTHS = [UUID_WIDTH, 20, 32, 10];

/** A file format of the export. */
interface Format {
  extension: '.csv' | '.xlsx';
  contentType: string;
  begin(write: WriteBytes, form: OpenForm, titles: readonly string[]): Promise<Rows>;
}

interface Rows {
  batch(rows: readonly ScanRow[], cells: (row: ScanRow) => Cell[], local: LocalTime): Promise<void>;
  end(): Promise<void>;
}

const CSV: Format = {
  extension: '.csv',
  contentType: 'text/csv; charset=utf-8',
  begin: async (write, _form, titles) => {
    await write(BYTE_ORDER_MARK + csvLine([...FIXED, ...titles]));
    return {
      batch: async (rows, cells, local) => {
        let text = '';
        for (const row of rows) {
          const fixed = [row.id, local.text(row.submitted_at), row.respondent, row.version];
          text += csvLine([...fixed, ...cells(row).map(csvValue)]);
        }
        await write(text);
      },
      end: async () => undefined,
    };
  },
};

/** A telephone number such as +47 55 50 12 34 is no formula: it is checked, and other programs import the file. */
const csvValue = (cell: Cell): CsvValue =>
  cell?.kind === 'phone' ? { literal: cell.value } : (cell?.value ?? null);

const XLSX: Format = {
  extension: '.xlsx',
  contentType: XLSX_TYPE,
  begin: async (write, form, titles) => {
    const book = new XlsxWriter(write);
    await book.sheet(form.title, [...FIXED, ...titles], FIXED_WIDTHS);
    return {
      batch: async (rows, cells, local) => {
        for (const row of rows) await book.row([...fixedCells(row, local), ...cells(row)]);
      },
      end: () => book.end(),
    };
  },
};

const FORMATS = { csv: CSV, xlsx: XLSX };

const fixedCells = ({ id, submitted_at, respondent, version }: ScanRow, local: LocalTime): XlsxCell[] => [
  { kind: 'text', value: id },
  { kind: 'moment', value: local.ms(submitted_at) },
  respondent === null ? null : { kind: 'text', value: respondent },
  { kind: 'number', value: version },
];

/** Exports of all responses as a stream. */
@Injectable()
export class ExportService {
  constructor(
    private readonly access: FormAccess,
    private readonly scan: ResponseScan,
    private readonly audit: Audit,
    private readonly db: Db,
  ) {}

  /**
   * @param wantsBytes false for HEAD
   * @throws ApiError 404, 403; later errors break the stream
   */
  async export(
    ctx: RequestContext,
    id: string,
    format: keyof typeof FORMATS,
    query: ExportResponses,
    wantsBytes: boolean,
  ): Promise<BodyReply> {
    const form = await this.access.open(ctx, id, 'viewer', query.share_token);
    const { extension, contentType } = FORMATS[format];
    const headers = attachmentTitled(form.title, extension, 'responses');
    if (!wantsBytes) return new BodyReply(null, { contentType, headers });
    await this.record(ctx, id, format);
    const body = fileStream((write) => this.produce(ctx, form, FORMATS[format], query, write));
    return new BodyReply(body, { contentType, headers });
  }

  private async produce(
    { tenantId }: RequestContext,
    form: OpenForm,
    format: Format,
    { tz = 'UTC', columns: questions, ...filter }: ExportResponses,
    write: WriteBytes,
  ): Promise<void> {
    const local = new LocalTime(tz);
    await this.scan.stream(tenantId, form.id, { ...filter, questions }, async (versions, batches) => {
      const columns = new ExportColumns(versions, questions);
      const rows = await format.begin(write, form, columns.titles);
      for await (const batch of batches)
        await rows.batch(batch, ({ version, answers }) => columns.cells(version, answers), local);
      await rows.end();
    });
  }

  private async record(ctx: RequestContext, objectId: string, format: string): Promise<void> {
    await this.db.tx(async (tx) => {
      await this.audit.record(tx, ctx, {
        action: 'form.exported',
        objectKind: 'form',
        objectId,
        data: { format },
      });
    });
  }
}

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
