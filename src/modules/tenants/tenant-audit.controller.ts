import { Controller, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { AuditReader } from '../../platform/audit/audit-reader.js';
import { Requires } from '../../platform/context/permission.guard.js';
import { Ctx, type RequestContext } from '../../platform/context/request-context.js';
import { Endpoint } from '../../platform/http/endpoint.js';
import { Cursors } from '../../platform/paging/cursors.js';
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
    const { limit, cursor, actor_id, action, object_kind, object_id, since, until } = query;
    const filter = { actorId: actor_id, action, objectKind: object_kind, objectId: object_id, since, until };
    const scope = `audit ${ctx.tenantId} ${JSON.stringify(filter)}`;
    const before = cursor === undefined ? undefined : (this.cursors.read(scope, cursor)[0] as string);
    const rows = await this.reader.page(ctx.tenantId, filter, limit + 1, before);
    const page = rows.slice(0, limit);
    const last = page.at(-1);
    return {
      events: page.map((event) => ({ ...event, occurred_at: event.occurred_at.toISOString() })),
      next: last && rows.length > limit ? this.cursors.write(scope, [last.id]) : null,
    };
  }
}
