import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';

/** Who a verified token stands for. */
export interface Identity {
  readonly userId: string;
  /** The workspace the token names; null for a token without one. */
  readonly tenantId: string | null;
  /** Role in that workspace; null without one. */
  readonly role: TenantRole | null;
  /** Null for tokens of an external issuer, which keeps its own sessions. */
  readonly sessionId: string | null;
  /** The account has a second factor that this session has not proven yet: it may do next to nothing. */
  readonly secondFactorPending?: boolean;
}

export type TenantRole = 'owner' | 'admin' | 'member';

/** What every service method is told about its caller. Frozen; made by the bearer guard. */
export interface RequestContext extends Identity {
  readonly tenantId: string;
  readonly requestId: string;
  /** Address of the client, as far as TRUST_PROXY lets it be known. */
  readonly ip?: string | null;
}

/** The context of routes that a token without workspace may reach (`@Tenantless()`). */
export type AccountContext = Omit<RequestContext, 'tenantId'> & { readonly tenantId: string | null };

export interface AuthenticatedRequest extends Request {
  id: string;
  ctx?: AccountContext;
}

/** The caller: the first parameter of every service method. */
export const Ctx = createParamDecorator(
  (_: unknown, context: ExecutionContext) => context.switchToHttp().getRequest<AuthenticatedRequest>().ctx,
);
