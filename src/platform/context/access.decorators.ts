import { SetMetadata } from '@nestjs/common';
import type { ErrorKind } from '../http/api-error.js';

export const IS_PUBLIC = 'workspace:public';
export const IS_TENANTLESS = 'workspace:tenantless';
export const IS_BEFORE_SECOND_FACTOR = 'workspace:before-second-factor';
/** Permissions of which a route needs one: see `Requires`. */
export const REQUIRES = 'workspace:requires';
export const WITHOUT_TENANT = 'workspace:without-tenant';

/** No bearer token needed. A contract test holds the list of such routes. */
export const Public = () => SetMetadata(IS_PUBLIC, true);

/** A token that names no workspace is enough. */
export const Tenantless = () => SetMetadata(IS_TENANTLESS, true);

/** What a token that names no workspace is told; `workspace_forbidden` where not said. */
export const WithoutTenant = (kind: ErrorKind) => SetMetadata(WITHOUT_TENANT, kind);

/** Reached also by a session that has yet to prove the second factor of its account. */
export const BeforeSecondFactor = () => SetMetadata(IS_BEFORE_SECOND_FACTOR, true);
