import { Body, Controller, Delete, Get, Put } from '@nestjs/common';
import { ApiOkResponse } from '@nestjs/swagger';
import { Ctx, type RequestContext } from '../../platform/context/request-context.js';
import { BODY_ERRORS, Operation } from '../../platform/http/api-docs.js';
import { Errors } from '../../platform/http/errors.js';
import { RateLimited } from '../../platform/rate-limits/rate-limit.guard.js';
import { AccessErrors } from '../access/index.js';
import { PASSWORD_LIMIT, SecurityErrors } from '../account-security/index.js';
import { ProfileService } from './profile.service.js';
import { DeactivateProfile, UpdateProfile } from './settings.dto.js';
import { DeactivatedProfileEnvelope, ProfileEnvelope } from './settings.response.js';

@Controller('settings/profile')
export class ProfileController {
  constructor(private readonly profiles: ProfileService) {}

  @Operation({ tag: 'settings', id: 'readProfile', summary: 'Read your profile' })
  @ApiOkResponse({ type: ProfileEnvelope, description: 'Your profile in this workspace.' })
  @Get()
  read(@Ctx() ctx: RequestContext): Promise<ProfileEnvelope> {
    return this.profiles.read(ctx);
  }

  @Operation({
    tag: 'settings',
    id: 'updateProfile',
    summary: 'Update your profile',
    description: 'Omitted fields stay unchanged.',
    errors: [Errors.validationFailed, ...BODY_ERRORS],
  })
  @ApiOkResponse({ type: ProfileEnvelope, description: 'The updated profile.' })
  @Put()
  update(@Ctx() ctx: RequestContext, @Body() body: UpdateProfile): Promise<ProfileEnvelope> {
    return this.profiles.update(ctx, body);
  }

  @Operation({
    tag: 'settings',
    id: 'deactivateProfile',
    summary: 'Leave the workspace',
    description:
      'Ends your membership and its sessions within 5 seconds. Closes your account when you belong to no other workspace. Only an administrator can undo this. The last owner cannot leave. Your content stays; `transfer_to` names a new owner of your notes, tasks and folders.',
    errors: [
      SecurityErrors.invalidPassword,
      SecurityErrors.invalidCode,
      SecurityErrors.tooManyAttempts,
      Errors.tooManyRequests,
      AccessErrors.lastAdmin,
      AccessErrors.memberNotFound,
      Errors.validationFailed,
      ...BODY_ERRORS,
    ],
  })
  @ApiOkResponse({ type: DeactivatedProfileEnvelope, description: 'Your deactivated profile.' })
  @RateLimited(PASSWORD_LIMIT)
  @Delete()
  deactivate(
    @Ctx() ctx: RequestContext,
    @Body() body: DeactivateProfile,
  ): Promise<DeactivatedProfileEnvelope> {
    return this.profiles.deactivate(ctx, body);
  }
}
