import { Controller, Param } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import { Tenantless } from '../../../platform/context/access.decorators.js';
import { type AccountContext, Ctx } from '../../../platform/context/request-context.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { ConnectedAppListEnvelope, ConnectedAppRemoved } from './connected-apps.response.js';
import { ConnectedAppsService, notConnected } from '../connected-apps.service.js';

@Controller('settings/connected-apps')
export class ConnectedAppsController {
  constructor(private readonly apps: ConnectedAppsService) {}

  @Endpoint('GET', {
    tag: 'settings',
    id: 'listConnectedApps',
    summary: 'List the applications that act as you with your consent',
    description: 'By name, with their scopes, the workspaces that they can access, and their sessions.',
    response: [ConnectedAppListEnvelope, 'The applications.'],
  })
  @Tenantless()
  list(@Ctx() ctx: AccountContext): Promise<ConnectedAppListEnvelope> {
    return this.apps.list(ctx);
  }

  @Endpoint('DELETE :client', {
    tag: 'settings',
    id: 'removeConnectedApp',
    summary: 'Withdraw your consent to an application',
    description:
      'Ends its sessions; its tokens become invalid within five seconds. It asks for consent again.',
    response: [ConnectedAppRemoved, 'Number of ended sessions.'],
    errors: [notConnected],
  })
  @ApiParam({
    name: 'client',
    description: 'The `client_id` of the application.',
    schema: { type: 'string', maxLength: 100, example: 'time-sheets' },
  })
  @Tenantless()
  remove(@Ctx() ctx: AccountContext, @Param('client') client: string): Promise<ConnectedAppRemoved> {
    return this.apps.remove(ctx, client);
  }
}
