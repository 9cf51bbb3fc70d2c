import { Controller, Get, Put, Req } from '@nestjs/common';
import { ApiBody, ApiOkResponse } from '@nestjs/swagger';
import type { Request } from 'express';
import { Ctx, type RequestContext } from '../../platform/context/request-context.js';
import { BODY_ERRORS, Operation } from '../../platform/http/api-docs.js';
import { Errors } from '../../platform/http/errors.js';
import type { PreferenceKind } from './preferences.js';
import { preferencesEnvelope, UPDATE_EXAMPLES, updatePreferences } from './preferences-docs.js';
import { type PreferencesEnvelope, PreferencesService } from './preferences.service.js';
import { SettingsErrors } from './settings.errors.js';

const MERGE =
  'In the manner of RFC 7396: what is left out stays, null goes back to the default, lists are replaced whole. Unknown keys are refused. With `rev`, only unless they have changed since.';

const Answer = (kind: PreferenceKind) =>
  ApiOkResponse({
    description: 'All preferences, those never chosen with their defaults.',
    schema: preferencesEnvelope(kind),
  });

const Patch = (kind: PreferenceKind) =>
  ApiBody({
    description: 'Preferences and `rev`; or both as they were read, the former under `preferences`.',
    schema: updatePreferences(kind),
    examples: UPDATE_EXAMPLES[kind],
  });

const ERRORS = [SettingsErrors.conflict, Errors.validationFailed, ...BODY_ERRORS];

@Controller('settings')
export class PreferencesController {
  constructor(private readonly preferences: PreferencesService) {}

  @Operation({ tag: 'settings', id: 'readGeneralPreferences', summary: 'Your general preferences' })
  @Answer('general')
  @Get('general-preferences')
  readGeneral(@Ctx() ctx: RequestContext): Promise<PreferencesEnvelope> {
    return this.preferences.read(ctx, 'general');
  }

  @Operation({
    tag: 'settings',
    id: 'updateGeneralPreferences',
    summary: 'Change your general preferences',
    description: MERGE,
    errors: ERRORS,
  })
  @Patch('general')
  @Answer('general')
  @Put('general-preferences')
  updateGeneral(@Ctx() ctx: RequestContext, @Req() { body }: Request): Promise<PreferencesEnvelope> {
    return this.preferences.merge(ctx, 'general', body);
  }

  @Operation({
    tag: 'settings',
    id: 'readNotificationPreferences',
    summary: 'What you are told about, and where',
  })
  @Answer('notifications')
  @Get('notifications')
  readNotifications(@Ctx() ctx: RequestContext): Promise<PreferencesEnvelope> {
    return this.preferences.read(ctx, 'notifications');
  }

  @Operation({
    tag: 'settings',
    id: 'updateNotificationPreferences',
    summary: 'Choose what you are told about, and where',
    description: `${MERGE} E-mail about the safety of the account (\`security.*\`) cannot be switched off.`,
    errors: ERRORS,
  })
  @Patch('notifications')
  @Answer('notifications')
  @Put('notifications')
  updateNotifications(@Ctx() ctx: RequestContext, @Req() { body }: Request): Promise<PreferencesEnvelope> {
    return this.preferences.merge(ctx, 'notifications', body);
  }
}
