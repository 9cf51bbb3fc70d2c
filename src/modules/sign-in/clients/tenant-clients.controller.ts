import { Body, Controller, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Requires } from '../../../platform/context/permission.guard.js';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { Id } from '../../../platform/http/id.pipe.js';
import { PageQuery } from '../../../platform/paging/page.dto.js';
import { CreateTenantClient } from './tenant-clients.dto.js';
import { AccessErrors } from '../../access/index.js';
import { ClientErrors } from './tenant-clients.errors.js';
import {
  TenantClientEnvelope,
  TenantClientListEnvelope,
  TenantClientSecretEnvelope,
} from './tenant-clients.response.js';
import { TenantClientsService } from './tenant-clients.service.js';

@ApiTags('tenant')
@Controller('tenant/clients')
export class TenantClientsController {
  constructor(private readonly clients: TenantClientsService) {}

  @Endpoint('POST', {
    id: 'createTenantClient',
    summary: 'Register an application or a service account of the workspace',
    description:
      'An application signs in members of this workspace, with their consent. A service signs in with its secret (OAuth client credentials) and acts as a member of its own.',
    status: 201,
    response: [TenantClientSecretEnvelope, 'The client, and its secret, which is not returned again.'],
    errors: [ClientErrors.tooManyClients, AccessErrors.cannotGrantUnheld],
  })
  @Requires('clients.manage')
  create(@Ctx() ctx: RequestContext, @Body() body: CreateTenantClient): Promise<TenantClientSecretEnvelope> {
    return this.clients.create(ctx, body);
  }

  @Endpoint('GET', {
    id: 'listTenantClients',
    summary: 'List the applications and service accounts of the workspace',
    description: 'Only clients that this workspace created, without secrets.',
    response: [TenantClientListEnvelope, 'A page of clients, oldest first.'],
  })
  @Requires('clients.manage')
  list(@Ctx() ctx: RequestContext, @Query() query: PageQuery): Promise<TenantClientListEnvelope> {
    return this.clients.list(ctx, query);
  }

  @Endpoint('GET :client_id', {
    id: 'readTenantClient',
    summary: 'Read a client of the workspace',
    description: 'Its settings, without the secret.',
    response: [TenantClientEnvelope, 'The client.'],
    errors: [ClientErrors.notFound],
  })
  @Requires('clients.manage')
  read(@Ctx() ctx: RequestContext, @Id('client_id') id: string): Promise<TenantClientEnvelope> {
    return this.clients.read(ctx, id);
  }

  @Endpoint('POST :client_id/secret', {
    id: 'rotateTenantClientSecret',
    summary: 'Replace the secret of a client',
    description:
      'The previous secret is invalid at once. Sessions continue. For a service, the caller must hold all permissions of its account.',
    status: 200,
    response: [TenantClientSecretEnvelope, 'The client, and its new secret, which is not returned again.'],
    errors: [ClientErrors.notFound, ClientErrors.withoutSecret, AccessErrors.cannotGrantUnheld],
  })
  @Requires('clients.manage')
  rotate(@Ctx() ctx: RequestContext, @Id('client_id') id: string): Promise<TenantClientSecretEnvelope> {
    return this.clients.rotate(ctx, id);
  }

  @Endpoint('DELETE :client_id', {
    id: 'removeTenantClient',
    summary: 'Remove a client of the workspace',
    description:
      'Its sessions end within five seconds. The account of a service is closed; the caller must hold all its permissions.',
    response: [TenantClientEnvelope, 'The removed client.'],
    errors: [ClientErrors.notFound, AccessErrors.cannotGrantUnheld],
  })
  @Requires('clients.manage')
  remove(@Ctx() ctx: RequestContext, @Id('client_id') id: string): Promise<TenantClientEnvelope> {
    return this.clients.remove(ctx, id);
  }
}
