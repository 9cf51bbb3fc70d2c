/**
 * Metadata keys of the decorators in `platform/context`. They are here because the OpenAPI decorators read them, and
 * `context` imports `http`.
 */
export const IS_PUBLIC = 'workspace:public';
export const IS_TENANTLESS = 'workspace:tenantless';
export const IS_BEFORE_SECOND_FACTOR = 'workspace:before-second-factor';
export const IS_WITHOUT_SECOND_FACTOR = 'workspace:without-second-factor';
/** Permissions; a route needs one of them: see `Requires`. */
export const REQUIRES = 'workspace:requires';
export const WITHOUT_TENANT = 'workspace:without-tenant';
/** The class that authenticates the requests of a route in place of access tokens: see `AuthenticatedBy`. */
export const AUTHENTICATED_BY = 'workspace:authenticated-by';
/** The route is long work: see `LongWorkGuard`. */
export const IS_LONG_WORK = 'workspace:long-work';
