import { SetMetadata, type Type } from '@nestjs/common';
import type { Request } from 'express';
import {
  AUTHENTICATED_BY,
  IS_BEFORE_SECOND_FACTOR,
  IS_PUBLIC,
  IS_TENANTLESS,
  IS_WITHOUT_SECOND_FACTOR,
  WITHOUT_TENANT,
} from '../http/api-docs.js';
import type { ErrorKind } from '../http/errors.js';

/** The route needs no bearer token. A contract test has the list of such routes. */
export const Public = () => SetMetadata(IS_PUBLIC, true);

/** The route accepts a token that names no workspace. */
export const Tenantless = () => SetMetadata(IS_TENANTLESS, true);

/** The error for a token that names no workspace. Default: `workspace_forbidden`. */
export const WithoutTenant = (kind: ErrorKind) => SetMetadata(WITHOUT_TENANT, kind);

/** The route accepts a session that has not yet proven the second factor of its account. */
export const BeforeSecondFactor = () => SetMetadata(IS_BEFORE_SECOND_FACTOR, true);

/** The route accepts an account without the second factor that the workspace requires. */
export const WithoutSecondFactor = () => SetMetadata(IS_WITHOUT_SECOND_FACTOR, true);

/**
 * Admits the requests of routes that take no access token, such as those of another protocol: verifies their credential, or counts
 * those of a `@Public()` route, before their body is read.
 */
export interface RequestAuthenticator {
  /** @throws ApiError 401 or 429 */
  authenticate(request: Request): Promise<void>;
}

/** This provider admits the requests of the route. */
export const AuthenticatedBy = (authenticator: Type<RequestAuthenticator>) =>
  SetMetadata(AUTHENTICATED_BY, authenticator);
