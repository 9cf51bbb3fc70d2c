import { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { auditCsvHeader, auditCsvLine } from '../../../platform/audit/audit-csv.js';
import { type AuditFilter, AuditReader } from '../../../platform/audit/audit-reader.js';
import { Audit } from '../../../platform/audit/audit.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { BodyReply } from '../../../platform/http/replies/body-reply.js';
import { attachmentNamed } from '../../../platform/http/replies/file-reply.js';

const PAGE = 500;
const TYPE = 'text/csv; charset=utf-8';

/** Exports the audit log of a workspace. */
@Injectable()
export class TenantAuditExport {
  constructor(
    private readonly reader: AuditReader,
    private readonly audit: Audit,
    private readonly db: Db,
  ) {}

  /** Streams the events that match, newest first. The export itself is an event. @param wantsBytes false for HEAD */
  async csv(ctx: RequestContext, filter: AuditFilter, wantsBytes: boolean): Promise<BodyReply> {
    const headers = { 'Content-Disposition': attachmentNamed('audit.csv', 'audit.csv') };
    if (!wantsBytes) return new BodyReply(null, { contentType: TYPE, headers });
    await this.db.tx((tx) =>
      this.audit.record(tx, ctx, {
        action: 'tenant.audit.exported',
        objectKind: 'tenant',
        objectId: ctx.tenantId,
        data: { ...filter },
      }),
    );
    return new BodyReply(Readable.from(this.lines(ctx.tenantId, filter)), { contentType: TYPE, headers });
  }

  private async *lines(tenantId: string, filter: AuditFilter): AsyncGenerator<string> {
    yield auditCsvHeader();
    for await (const events of this.reader.pages(tenantId, filter, PAGE))
      yield events.map(auditCsvLine).join('');
  }
}
