import { Controller, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import {
  type AuditFilter,
  AuditReader,
  type ListedAuditEvent,
} from '../../../platform/audit/audit-reader.js';
import { Requires } from '../../../platform/context/permission.guard.js';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { ApiFile } from '../../../platform/http/api-docs.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import type { BodyReply } from '../../../platform/http/replies/body-reply.js';
import { type FileRequest, FileRequestParam } from '../../../platform/http/replies/file-reply.js';
import { Cursors } from '../../../platform/paging/cursors.js';
import { RateLimited, type RouteLimit } from '../../../platform/rate-limits/rate-limit.guard.js';
import { ExportAuditEvents, ListAuditEvents, AuditEventListEnvelope } from './tenant-audit.dto.js';
import { TenantAuditExport } from './tenant-audit-export.service.js';

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
