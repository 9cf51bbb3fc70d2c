import { applyDecorators, SetMetadata } from '@nestjs/common';
import { ApiBearerAuth } from '@nestjs/swagger';

export const IS_PUBLIC = 'workspace:public';
export const IS_TENANTLESS = 'workspace:tenantless';
/** Permissions of which a route needs one: see `Requires`. */
export const REQUIRES = 'workspace:requires';

/** No bearer token needed. A contract test holds the list of such routes. */
export const Public = () => SetMetadata(IS_PUBLIC, true);

/** A token that names no workspace is enough. */
export const Tenantless = () => applyDecorators(SetMetadata(IS_TENANTLESS, true), ApiBearerAuth());
