import type { RequestContext } from './request-context.js';

/** Returns the permissions of a caller in a workspace. Implemented by the access module. */
export abstract class PermissionSource {
  /** The permissions in force when the call begins, whichever process changed them last. */
  abstract of(ctx: Pick<RequestContext, 'tenantId' | 'userId'>): Promise<ReadonlySet<string>>;
}
