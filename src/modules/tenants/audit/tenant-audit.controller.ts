import { Readable } from 'node:stream';
import { Controller, Injectable, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import {
  auditCsvHeader,
  auditCsvLine,
  type AuditFilter,
  AuditReader,
  type ListedAuditEvent,
} from '../../../platform/audit/audit-reader.js';
import { Audit } from '../../../platform/audit/audit.js';
import { Requires } from '../../../platform/context/permission.guard.js';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { ApiFile } from '../../../platform/http/api-docs.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { BodyReply } from '../../../platform/http/replies/body-reply.js';
import {
  attachmentNamed,
  type FileRequest,
  FileRequestParam,
} from '../../../platform/http/replies/file-reply.js';
import { Cursors } from '../../../platform/paging/cursors.js';
import { RateLimited, type RouteLimit } from '../../../platform/rate-limits/rate-limit.guard.js';
import { AuditEventListEnvelope, ExportAuditEvents, ListAuditEvents } from './tenant-audit.dto.js';

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

/** An export reads the whole log. */
const EXPORT_LIMIT: RouteLimit = { scope: 'audit-export', by: 'account', requests: 30, perSeconds: 600 };

@ApiTags('tenant')
@Controller('tenant')
export class TenantAuditController {
  constructor(
    private readonly reader: AuditReader,
    private readonly cursors: Cursors,
    private readonly exports: TenantAuditExport,
  ) {}

  @Endpoint('GET audit', {
    id: 'listAuditEvents',
    summary: 'List the audit events of the workspace',
    description:
      'Newest first. Events never change, and are deleted after a retention time that the operator sets.',
    response: [AuditEventListEnvelope, 'A page of events.'],
  })
  @Requires('audit.read')
  async list(@Ctx() ctx: RequestContext, @Query() query: ListAuditEvents): Promise<AuditEventListEnvelope> {
    const filter = filterOf(query);
    const { rows, next } = await this.cursors.page(query, {
      scope: `audit ${ctx.tenantId} ${JSON.stringify(filter)}`,
      key: ({ id }: ListedAuditEvent): [string] => [id],
      fits: (event) => event.fits,
      rows: (before, limit) => this.reader.page(ctx.tenantId, filter, limit, before?.[0]),
    });
    return { events: rows.map(({ fits: _fits, ...event }) => event), next };
  }

  @Endpoint('GET audit.csv', {
    id: 'exportAuditEvents',
    work: 'long',
    summary: 'Export the audit events of the workspace as CSV',
    description:
      'All events that match, newest first; `data` is JSON. Texts that a spreadsheet would take as formulas get a leading apostrophe. The export itself is an event.',
  })
  @ApiFile('text/csv', 'UTF-8 with a byte order mark (RFC 4180).')
  @RateLimited(EXPORT_LIMIT)
  @Requires('audit.read')
  csv(
    @Ctx() ctx: RequestContext,
    @Query() query: ExportAuditEvents,
    @FileRequestParam() { wantsBytes }: FileRequest,
  ): Promise<BodyReply> {
    return this.exports.csv(ctx, filterOf(query), wantsBytes);
  }
}

function filterOf({
  actor_id,
  action,
  object_kind,
  object_id,
  since,
  until,
}: ExportAuditEvents): AuditFilter {
  return { actorId: actor_id, action, objectKind: object_kind, objectId: object_id, since, until };
}
