import { Injectable } from '@nestjs/common';
import { workspace } from '../../platform/database/statement.js';
import { eraseUserRows, personalRows } from '../../platform/personal-data/personal-rows.js';
import { PersonalData, PersonalDataSource } from '../../platform/personal-data/personal-data.js';

const profile = workspace.statement<never>(
  'settings.personal_profile',
  personalRows(`SELECT profile.given_name, profile.family_name, profile.title, profile.phone, profile.timezone, profile.locale, profile.updated_at
       FROM user_profiles profile WHERE profile.tenant_id = $1 AND profile.user_id = $2`),
);

const preferences = workspace.statement<never>(
  'settings.personal_preferences',
  personalRows(`SELECT preference.kind, preference.data, preference.updated_at
       FROM preferences preference WHERE preference.tenant_id = $1 AND preference.user_id = $2 ORDER BY preference.kind`),
);

const signatures = workspace.statement<never>(
  'settings.personal_signatures',
  personalRows(`SELECT signature.id, signature.name, signature.html, signature.text, signature.is_default, signature.created_at,
            signature.updated_at
       FROM signatures signature WHERE signature.tenant_id = $1 AND signature.user_id = $2 ORDER BY signature.id`),
);

const erase = eraseUserRows('settings', 'user_profiles', 'preferences', 'signatures');

/** Profile, preferences and signatures of a user. */
@Injectable()
export class SettingsPersonalData extends PersonalDataSource {
  constructor(data: PersonalData) {
    super(data, {
      name: 'settings',
      rows: { 'profile.json': profile, 'preferences.json': preferences, 'signatures.json': signatures },
      erasure: { rows: erase },
    });
  }
}
