import type { RequestContext } from './request-context.js';

/** Tells what a caller may do in their workspace. Implemented by the access module; platform knows no groups. */
export abstract class PermissionSource {
  /** The permissions in force when the call begins, whichever process changed them last. */
  abstract of(ctx: Pick<RequestContext, 'tenantId' | 'userId'>): Promise<ReadonlySet<string>>;
}
