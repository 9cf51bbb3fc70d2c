import { Controller, Req } from '@nestjs/common';
import { ApiTags, ApiBody, ApiOkResponse } from '@nestjs/swagger';
import type { Request } from 'express';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { BODY_ERRORS } from '../../../platform/http/api-docs.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { Errors } from '../../../platform/http/errors.js';
import {
  type PreferenceKind,
  preferencesEnvelope,
  UPDATE_EXAMPLES,
  updatePreferences,
} from './preferences.js';
import { type PreferencesEnvelope, PreferencesService } from './preferences.service.js';
import { SettingsErrors } from '../settings.dto.js';

const MERGE =
  'Merges like RFC 7396: omitted members stay, null resets to the default, lists are replaced. Unknown keys are rejected. With `rev`: 409 `conflict` when the preferences have changed since then.';

const PUSH =
  'The channel `push` is that of push messages to the subscriptions of `POST /notifications/push-subscriptions`.';

const PreferencesResponse = (kind: PreferenceKind) =>
  ApiOkResponse({
    description: 'All preferences, with defaults for unset ones.',
    schema: preferencesEnvelope(kind),
  });

const PreferencesBody = (kind: PreferenceKind) =>
  ApiBody({
    description: 'Preferences and `rev`, or both as read, with the preferences under `preferences`.',
    schema: updatePreferences(kind),
    examples: UPDATE_EXAMPLES[kind],
  });

const ERRORS = [SettingsErrors.conflict, Errors.validationFailed, ...BODY_ERRORS];

@ApiTags('settings')
@Controller('settings')
export class PreferencesController {
  constructor(private readonly preferences: PreferencesService) {}

  @Endpoint<PreferencesEnvelope>('GET general-preferences', {
    id: 'readGeneralPreferences',
    summary: 'Read your general preferences',
    description:
      'Language, time zone, formats and the like. Unset preferences have their defaults; `rev` detects concurrent updates.',
  })
  @PreferencesResponse('general')
  readGeneral(@Ctx() ctx: RequestContext): Promise<PreferencesEnvelope> {
    return this.preferences.read(ctx, 'general');
  }

  @Endpoint<PreferencesEnvelope>('PUT general-preferences', {
    id: 'updateGeneralPreferences',
    summary: 'Update your general preferences',
    description: MERGE,
    errors: ERRORS,
  })
  @PreferencesBody('general')
  @PreferencesResponse('general')
  updateGeneral(@Ctx() ctx: RequestContext, @Req() { body }: Request): Promise<PreferencesEnvelope> {
    return this.preferences.merge(ctx, 'general', body);
  }

  @Endpoint<PreferencesEnvelope>('GET notifications', {
    id: 'readNotificationPreferences',
    summary: 'Read your notification preferences',
    description: PUSH,
  })
  @PreferencesResponse('notifications')
  readNotifications(@Ctx() ctx: RequestContext): Promise<PreferencesEnvelope> {
    return this.preferences.read(ctx, 'notifications');
  }

  @Endpoint<PreferencesEnvelope>('PUT notifications', {
    id: 'updateNotificationPreferences',
    summary: 'Update your notification preferences',
    description: `${MERGE} E-mail about the safety of the account (\`security.*\`) and about deactivated webhooks (\`webhook.disabled\`) cannot be switched off. ${PUSH}`,
    errors: ERRORS,
  })
  @PreferencesBody('notifications')
  @PreferencesResponse('notifications')
  updateNotifications(@Ctx() ctx: RequestContext, @Req() { body }: Request): Promise<PreferencesEnvelope> {
    return this.preferences.merge(ctx, 'notifications', body);
  }
}
