import { applyDecorators, SetMetadata } from '@nestjs/common';
import { ApiBearerAuth } from '@nestjs/swagger';
import type { ErrorKind } from '../http/api-error.js';

export const IS_PUBLIC = 'workspace:public';
export const IS_TENANTLESS = 'workspace:tenantless';
export const WITHOUT_TENANT = 'workspace:without-tenant';

/** No bearer token needed. A contract test holds the list of such routes. */
export const Public = () => SetMetadata(IS_PUBLIC, true);

/** A token that names no workspace is enough. */
export const Tenantless = () => applyDecorators(SetMetadata(IS_TENANTLESS, true), ApiBearerAuth());

/** What a token that names no workspace is told; `workspace_forbidden` where not said. */
export const WithoutTenant = (kind: ErrorKind) => SetMetadata(WITHOUT_TENANT, kind);
