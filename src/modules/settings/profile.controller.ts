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

  @Operation({ tag: 'settings', id: 'readProfile', summary: 'Your profile' })
  @ApiOkResponse({ type: ProfileEnvelope, description: 'Your profile in this workspace.' })
  @Get()
  read(@Ctx() ctx: RequestContext): Promise<ProfileEnvelope> {
    return this.profiles.read(ctx);
  }

  @Operation({
    tag: 'settings',
    id: 'updateProfile',
    summary: 'Update your profile',
    description: 'Fields that are left out stay as they are.',
    errors: [Errors.validationFailed, ...BODY_ERRORS],
  })
  @ApiOkResponse({ type: ProfileEnvelope, description: 'Your profile as it is now.' })
  @Put()
  update(@Ctx() ctx: RequestContext, @Body() body: UpdateProfile): Promise<ProfileEnvelope> {
    return this.profiles.update(ctx, body);
  }

  @Operation({
    tag: 'settings',
    id: 'deactivateProfile',
    summary: 'Leave the workspace',
    description:
      'Ends your membership and the sessions of it, everywhere within 5 seconds. When you belong to no other workspace, your account is closed. Only an administrator can undo it. The last owner cannot leave.',
    errors: [
      SecurityErrors.invalidPassword,
      SecurityErrors.invalidCode,
      SecurityErrors.tooManyAttempts,
      Errors.tooManyRequests,
      AccessErrors.lastAdmin,
      Errors.validationFailed,
      ...BODY_ERRORS,
    ],
  })
  @ApiOkResponse({ type: DeactivatedProfileEnvelope, description: 'Your profile as it last was.' })
  @RateLimited(PASSWORD_LIMIT)
  @Delete()
  deactivate(
    @Ctx() ctx: RequestContext,
    @Body() body: DeactivateProfile,
  ): Promise<DeactivatedProfileEnvelope> {
    return this.profiles.deactivate(ctx, body);
  }
}
