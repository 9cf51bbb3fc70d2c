import { Controller, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { type AuditEvent, AuditReader } from '../../../platform/audit/audit-reader.js';
import { Requires } from '../../../platform/context/permission.guard.js';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { Cursors } from '../../../platform/paging/cursors.js';
import { ListAuditEvents } from './tenant-audit.dto.js';
import { AuditEventListEnvelope } from './tenant-audit.response.js';

@ApiTags('tenant')
@Controller('tenant/audit')
export class TenantAuditController {
  constructor(
    private readonly reader: AuditReader,
    private readonly cursors: Cursors,
  ) {}

  @Endpoint('GET', {
    id: 'listAuditEvents',
    summary: 'List the audit events of the workspace',
    description:
      'Newest first. Events never change, and are deleted after a retention time that the operator sets.',
    response: [AuditEventListEnvelope, 'A page of events.'],
  })
  @Requires('audit.read')
  async list(@Ctx() ctx: RequestContext, @Query() query: ListAuditEvents): Promise<AuditEventListEnvelope> {
    const { actor_id, action, object_kind, object_id, since, until } = query;
    const filter = { actorId: actor_id, action, objectKind: object_kind, objectId: object_id, since, until };
    const { rows, next } = await this.cursors.page(query, {
      scope: `audit ${ctx.tenantId} ${JSON.stringify(filter)}`,
      key: ({ id }: AuditEvent): [string] => [id],
      rows: (before, limit) => this.reader.page(ctx.tenantId, filter, limit, before?.[0]),
    });
    const events = rows.map((event) => ({ ...event, occurred_at: event.occurred_at.toISOString() }));
    return { events, next };
  }
}
