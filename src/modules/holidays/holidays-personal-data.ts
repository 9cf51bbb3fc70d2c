import { Injectable } from '@nestjs/common';
import { workspace } from '../../platform/database/statement.js';
import { eraseUserRows, personalRows } from '../../platform/personal-data/personal-rows.js';
import { PersonalData, PersonalDataSource } from '../../platform/personal-data/personal-data.js';

const subscriptions = workspace.statement<never>(
  'holidays.personal_subscriptions',
  personalRows(`SELECT subscription.subscriptions, subscription.muted_tenant, subscription.updated_at
       FROM holiday_subscriptions subscription WHERE subscription.tenant_id = $1 AND subscription.user_id = $2`),
);

const erase = eraseUserRows('holidays', 'holiday_subscriptions');

/** The holiday subscriptions of a user. */
@Injectable()
export class HolidaysPersonalData extends PersonalDataSource {
  constructor(data: PersonalData) {
    super(data, {
      name: 'holidays',
      rows: { 'subscriptions.json': subscriptions },
      erasure: { rows: erase },
    });
  }
}
