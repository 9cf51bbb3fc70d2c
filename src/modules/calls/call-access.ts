import { Injectable } from '@nestjs/common';
import { PermissionSource } from '../../platform/context/permission.guard.js';
import type { MemberKey, RequestContext } from '../../platform/context/request-context.js';
import { Errors } from '../../platform/http/errors.js';
import { CallErrors } from './calls.dto.js';
import { type AccessibleCall, CallsRepository } from './calls.repository.js';

/** Checks the access of members to calls, at each request. */
@Injectable()
export class CallAccess {
  constructor(
    private readonly calls: CallsRepository,
    private readonly permissions: PermissionSource,
  ) {}

  /** @throws ApiError 404 for an unknown call, or one that the caller may not see */
  async read(ctx: RequestContext, callId: string): Promise<AccessibleCall> {
    const call = await this.calls.read(ctx, callId);
    if (!call) throw CallErrors.callNotFound.with();
    return call;
  }

  /**
   * Only the host, moderators of the room and members with the permission `calls.moderate` moderate a call.
   * @throws ApiError 404, 403
   */
  async moderate(ctx: RequestContext, callId: string): Promise<AccessibleCall> {
    const call = await this.read(ctx, callId);
    if (call.role === 'member') await this.assertPermission(ctx, 'calls.moderate');
    return call;
  }

  /** @throws ApiError 403 */
  async assertPermission(ctx: RequestContext, permission: string): Promise<void> {
    if (!(await this.holds(ctx, permission))) throw Errors.forbidden.with();
  }

  async holds(ctx: MemberKey, permission: string): Promise<boolean> {
    return (await this.permissions.permissionsOf(ctx)).has(permission);
  }
}
