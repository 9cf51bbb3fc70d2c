import { applyDecorators, Controller, Delete, Get, Patch, Post, Put, UseFilters } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { MESSAGES } from '../../lib/scim/index.js';
import { AuthenticatedBy } from '../../platform/context/access.decorators.js';
import { JsonTypes } from '../../platform/http/body/body.guard.js';
import type { BodyReply } from '../../platform/http/replies/body-reply.js';
import { ScimAuthenticator } from './scim-authenticator.js';
import { SCIM_JSON, SCIM_PATH, ScimExceptionFilter, scimReply } from './model/scim-reply.js';

/** The route authenticates the client first, as all routes of SCIM. */
const Unsupported = (path: string, route: (path: string) => MethodDecorator) =>
  applyDecorators(AuthenticatedBy(ScimAuthenticator), JsonTypes(SCIM_JSON), route(path));

/**
 * Optional operations of RFC 7644 that the service does not have: 501, as sections 3.11 and 3.12 describe, so that a client can
 * distinguish them from an unknown resource. The OpenAPI document lists operations that can succeed, so these are not in it.
 */
@ApiExcludeController()
@UseFilters(ScimExceptionFilter)
@Controller(SCIM_PATH)
export class ScimUnsupportedController {
  @Unsupported('Me', Get)
  readMe(): BodyReply {
    return meNotImplemented();
  }

  @Unsupported('Me', Post)
  createMe(): BodyReply {
    return meNotImplemented();
  }

  @Unsupported('Me', Put)
  replaceMe(): BodyReply {
    return meNotImplemented();
  }

  @Unsupported('Me', Patch)
  patchMe(): BodyReply {
    return meNotImplemented();
  }

  @Unsupported('Me', Delete)
  deleteMe(): BodyReply {
    return meNotImplemented();
  }

  @Unsupported('Bulk', Post)
  bulk(): BodyReply {
    return notImplemented('Bulk requests are not supported.');
  }

  @Unsupported('.search', Post)
  searchAll(): BodyReply {
    return notImplemented('A search covers one type of resource: use /Users/.search or /Groups/.search.');
  }
}

const meNotImplemented = () => notImplemented('A provisioning client is not a user: /Me is not supported.');

/** Returned, not thrown: thrown errors with a status of 500 or more are logged as failures of the service. */
const notImplemented = (detail: string): BodyReply =>
  scimReply({ schemas: [`${MESSAGES}:Error`], status: '501', detail }, { status: 501 });
