import { Body, Controller } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { RateLimited } from '../../../platform/rate-limits/rate-limit.guard.js';
import { AccessErrors } from '../../access/index.js';
import { OWNER_CHECK_ERRORS, PASSWORD_LIMIT } from '../../account-security/index.js';
import { ProfileService } from './profile.service.js';
import {
  DeactivatedProfileEnvelope,
  DeactivateProfile,
  ProfileEnvelope,
  SettingsErrors,
  UpdateProfile,
} from '../settings.dto.js';

@ApiTags('settings')
@Controller('settings/profile')
export class ProfileController {
  constructor(private readonly profiles: ProfileService) {}

  @Endpoint('GET', {
    id: 'readProfile',
    summary: 'Read your profile',
    description: 'Your name, address and details as members of this workspace see them.',
    response: [ProfileEnvelope, 'Your profile in this workspace.'],
  })
  read(@Ctx() ctx: RequestContext): Promise<ProfileEnvelope> {
    return this.profiles.read(ctx);
  }

  @Endpoint('PUT', {
    id: 'updateProfile',
    summary: 'Update your profile',
    description: 'Omitted fields stay unchanged.',
    response: [ProfileEnvelope, 'The updated profile.'],
    errors: [SettingsErrors.fieldLocked],
  })
  update(@Ctx() ctx: RequestContext, @Body() body: UpdateProfile): Promise<ProfileEnvelope> {
    return this.profiles.update(ctx, body);
  }

  @Endpoint('DELETE', {
    id: 'deactivateProfile',
    summary: 'Leave the workspace',
    description:
      'Ends your membership and its sessions within 5 seconds. Closes your account when you belong to no other workspace. Only an administrator can undo this. The last owner cannot leave. Your content stays; `transfer_to` names a new owner of your notes, tasks and folders. An account with neither a password nor a second factor needs a sign-in of the last ten minutes.',
    response: [DeactivatedProfileEnvelope, 'Your deactivated profile.'],
    errors: [...OWNER_CHECK_ERRORS, AccessErrors.lastAdmin, AccessErrors.memberNotFound],
  })
  @RateLimited(PASSWORD_LIMIT)
  deactivate(
    @Ctx() ctx: RequestContext,
    @Body() body: DeactivateProfile,
  ): Promise<DeactivatedProfileEnvelope> {
    return this.profiles.deactivate(ctx, body);
  }
}
