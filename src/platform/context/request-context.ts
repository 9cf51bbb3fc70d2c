import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';

/** The account of a verified token. */
export interface Identity {
  readonly userId: string;
  /** The workspace the token names; null for a token without one. */
  readonly tenantId: string | null;
  /** Role in that workspace; null without one. */
  readonly role: TenantRole | null;
  /** Null for tokens of an external issuer, which keeps its own sessions. */
  readonly sessionId: string | null;
  /** The account has a second factor that this session has not proven. Only `@BeforeSecondFactor()` routes accept it. */
  readonly secondFactorPending?: boolean;
  /** The workspace requires a second factor, and the account has none. Only `@WithoutSecondFactor()` routes accept it. */
  readonly secondFactorMissing?: boolean;
}

export type TenantRole = 'owner' | 'admin' | 'member';

/** The caller of a request. Frozen; created by the bearer guard. */
export interface RequestContext extends Identity {
  readonly tenantId: string;
  readonly requestId: string;
  /** Address of the client according to TRUST_PROXY. */
  readonly ip?: string | null;
}

/** A workspace, for what does not depend on the caller. */
export type WorkspaceKey = Pick<RequestContext, 'tenantId'>;

/** A user of a workspace: the caller, or one for whom a job works. */
export type MemberKey = Pick<RequestContext, 'tenantId' | 'userId'>;

/** The context of `@Tenantless()` routes. */
export type AccountContext = Omit<RequestContext, 'tenantId'> & { readonly tenantId: string | null };

export interface AuthenticatedRequest extends Request {
  id: string;
  ctx?: AccountContext;
  /** The workspace of a caller that is no user, e.g. an identity provider. */
  tenantId?: string;
}

/** Injects the caller, the first parameter of every service method. */
export const Ctx = createParamDecorator(
  (_: unknown, context: ExecutionContext) => context.switchToHttp().getRequest<AuthenticatedRequest>().ctx,
);

/** Resolves an access token to an identity. Implemented by the identity module. */
export abstract class TokenResolver {
  /** @returns the identity of a recently verified token that is not revoked */
  abstract cached(token: string): Identity | undefined;

  /** Verifies signature, claims, session, account and membership. @returns null for an invalid token */
  abstract resolve(token: string): Promise<Identity | null>;

  /** Whether session, account and membership of a verified identity are still valid: read now, not cached. */
  abstract isValid(identity: Pick<Identity, 'userId' | 'tenantId' | 'sessionId'>): Promise<boolean>;
}
