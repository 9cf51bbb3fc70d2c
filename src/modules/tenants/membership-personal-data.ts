import { Injectable } from '@nestjs/common';
import { workspace } from '../../platform/database/statement.js';
import { ERASED_NAME, erasedAddress, personalRows } from '../../platform/personal-data/personal-rows.js';
import { PersonalData, PersonalDataSource } from '../../platform/personal-data/personal-data.js';

const membership = workspace.statement<never>(
  'tenants.personal_membership',
  personalRows(`SELECT member.user_id, member.role, member.status, member.email, member.display_name, member.created_at
       FROM tenant_members member WHERE member.tenant_id = $1 AND member.user_id = $2`),
);

// The row stays, since content of other members refers to it.
const eraseMembership = workspace.statement<never>(
  'tenants.erase_membership',
  `UPDATE tenant_members SET email = ${erasedAddress('$2::text')}, display_name = ${ERASED_NAME}, folded = ' deleted user'
    WHERE tenant_id = $1 AND user_id = $2`,
);

/** The membership of a user in the workspace. */
@Injectable()
export class MembershipPersonalData extends PersonalDataSource {
  constructor(data: PersonalData) {
    super(data, {
      name: 'membership',
      rows: { 'membership.json': membership },
      erasure: { rows: [eraseMembership] },
      isErasedLast: true,
    });
  }
}
