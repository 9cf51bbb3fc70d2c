import { applyDecorators, SetMetadata } from '@nestjs/common';
import { ApiBearerAuth } from '@nestjs/swagger';

export const IS_PUBLIC = 'workspace:public';
export const IS_TENANTLESS = 'workspace:tenantless';
export const IS_BEFORE_SECOND_FACTOR = 'workspace:before-second-factor';

/** No bearer token needed. A contract test holds the list of such routes. */
export const Public = () => SetMetadata(IS_PUBLIC, true);

/** A token that names no workspace is enough. */
export const Tenantless = () => applyDecorators(SetMetadata(IS_TENANTLESS, true), ApiBearerAuth());

/** Reached also by a session that has yet to prove the second factor of its account. */
export const BeforeSecondFactor = () => SetMetadata(IS_BEFORE_SECOND_FACTOR, true);
