import { Injectable } from '@nestjs/common';
import type { RequestAuthenticator } from '../../../platform/context/access.decorators.js';
import type { AuthenticatedRequest } from '../../../platform/context/request-context.js';
import { GuestLimits } from './guest-limits.js';
import { visitorOf } from './model/visitor.js';

/** Counts a request of the public routes before its body is read. */
@Injectable()
export class GuestGate implements RequestAuthenticator {
  constructor(private readonly limits: GuestLimits) {}

  async authenticate(request: AuthenticatedRequest): Promise<void> {
    await this.limits.enforce(visitorOf(request));
  }
}

/** As `GuestGate`, for requests that may create a guest or a mail. */
@Injectable()
export class CreationGate implements RequestAuthenticator {
  constructor(private readonly limits: GuestLimits) {}

  async authenticate(request: AuthenticatedRequest): Promise<void> {
    await this.limits.enforce(visitorOf(request), true);
  }
}
