import { Injectable } from '@nestjs/common';
import { BYTE_ORDER_MARK, csvLine, type CsvValue } from '../../../lib/csv/index.js';
import { type Cell, ExportColumns } from '../../../lib/forms/index.js';
import { UUID_WIDTH, XLSX_TYPE, type XlsxCell, XlsxWriter } from '../../../lib/xlsx/index.js';
import { Audit } from '../../../platform/audit/audit.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { BodyReply } from '../../../platform/http/replies/body-reply.js';
import { attachmentTitled, fileStream, type WriteBytes } from './file-stream.js';
import { FormAccess, type OpenForm } from '../form-access.js';
import { LocalTime } from './local-time.js';
import { ResponseScan, type ScanRow } from './response-scan.js';
import type { ExportResponses } from './export.dto.js';

const FIXED = ['id', 'submitted_at', 'respondent', 'version'] as const;
/** Of these columns in a workbook, in characters. */
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
    await this.scan.run(tenantId, form.id, { ...filter, questions }, async (versions, batches) => {
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
