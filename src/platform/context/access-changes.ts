import type { Identity } from './request-context.js';

/** A change of the access of an account: a session ended, a role or a membership changed. */
export interface AccessChange {
  readonly account_id: string;
  /** Null means every workspace. */
  readonly tenant_id: string | null;
  /** Null means every session. The id of an application password that has ended counts as that of a session. */
  readonly session_id: string | null;
}

/** Reports the access changes of all processes, within about a second. Implemented by the identity module. */
export abstract class AccessChanges {
  abstract onChange(listener: (change: AccessChange) => void): void;
}

/** Whether a change concerns the identity of a caller. */
export function concerns(
  change: AccessChange,
  identity: Pick<Identity, 'userId' | 'tenantId' | 'sessionId'>,
): boolean {
  return (
    change.account_id === identity.userId &&
    (change.tenant_id === null || change.tenant_id === identity.tenantId) &&
    (change.session_id === null || change.session_id === identity.sessionId)
  );
}
