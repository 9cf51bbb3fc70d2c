import {
  applyDecorators,
  type CanActivate,
  type ExecutionContext,
  Injectable,
  SetMetadata,
  UseGuards,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { REQUIRES } from '../http/api-docs.js';
import { Errors } from '../http/errors.js';
import { isUuid } from '../http/id.pipe.js';
import type { AuthenticatedRequest, RequestContext, MemberKey } from './request-context.js';

/** Returns the permissions of a caller in a workspace. Implemented by the access module. */
export abstract class PermissionSource {
  /** The current permissions, also just after another process has changed them. */
  abstract permissionsOf(ctx: MemberKey): Promise<ReadonlySet<string>>;
}

/**
 * Requires one of the permissions of the route. Runs only on routes with `@Requires`. A malformed id is reported before a
 * missing permission, as on all routes.
 */
@Injectable()
class PermissionGuard implements CanActivate {
  constructor(
    private readonly permissions: PermissionSource,
    private readonly reflector: Reflector,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<AuthenticatedRequest>();
    for (const [name, value] of Object.entries(request.params))
      if (name.endsWith('_id') && !isUuid(value)) throw Errors.invalidId.with();
    const wanted = this.reflector.get<string[]>(REQUIRES, context.getHandler());
    const held = await this.permissions.permissionsOf(request.ctx as RequestContext);
    if (!wanted.some((permission) => held.has(permission))) throw Errors.forbidden.with();
    return true;
  }
}

/**
 * The route needs one of these permissions. `Operation`, placed above it, documents the permissions and the 403.
 * @param permissions keys of the access module's catalogue (a contract test compares them)
 */
export const Requires = (...permissions: [string, ...string[]]): MethodDecorator =>
  applyDecorators(SetMetadata(REQUIRES, permissions), UseGuards(PermissionGuard));
