import { type Json, type Projection, project, type ResourceType } from '../../../lib/scim/index.js';
import type { BodyReply } from '../../../platform/http/replies/body-reply.js';
import { scimError } from './scim-failure.js';
import { namesVersion, type ScimTarget } from './scim-query.js';
import { emptyReply, scimReply } from './scim-reply.js';

const metaOf = (resource: Json) => resource['meta'] as { version: string; location: string };

/** The selected attributes of a resource, with its version; 201 also has its location. */
export function resourceReply(
  type: ResourceType,
  resource: Json,
  projection: Projection,
  status: 200 | 201 = 200,
): BodyReply {
  const { version, location } = metaOf(resource);
  return scimReply(project(type, resource, projection), {
    status,
    etag: version,
    ...(status === 201 && { location }),
  });
}

/** A resource, or 304 where the client has its version. */
export function readReply(type: ResourceType, resource: Json, target: ScimTarget): BodyReply {
  const { version } = metaOf(resource);
  const isKnown = target.ifNoneMatch !== undefined && namesVersion(target.ifNoneMatch, version);
  return isKnown ? emptyReply(304, version) : resourceReply(type, resource, target);
}

/** @throws ApiError 412 for a stale version */
export function checkVersion({ ifMatch }: ScimTarget, resource: Json): void {
  if (ifMatch !== undefined && !namesVersion(ifMatch, metaOf(resource).version))
    throw scimError(412, 'The resource has changed since it was read.');
}
