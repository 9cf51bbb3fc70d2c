import { Injectable } from '@nestjs/common';
import { workspace } from '../../platform/database/statement.js';
import { eraseUserRows, personalRows } from '../../platform/personal-data/personal-rows.js';
import { PersonalData, PersonalDataSource } from '../../platform/personal-data/personal-data.js';

const groups = workspace.statement<never>(
  'access.personal_groups',
  personalRows(`SELECT team.id, team.name FROM rbac_members member
       JOIN rbac_groups team ON team.tenant_id = member.tenant_id AND team.id = member.group_id
      WHERE member.tenant_id = $1 AND member.user_id = $2 ORDER BY team.id`),
);

const eraseMemberships = workspace.statement<never>(
  'access.erase_memberships',
  `WITH removed AS (DELETE FROM rbac_members WHERE tenant_id = $1 AND user_id = $2 RETURNING group_id)
   UPDATE rbac_groups team SET members_count = team.members_count - 1 FROM removed
    WHERE team.tenant_id = $1 AND team.id = removed.group_id`,
);

const eraseResets = eraseUserRows('access', 'second_factor_resets');

const eraseInvitations = workspace.statement<never>(
  'access.erase_invitations',
  `DELETE FROM tenant_invitations WHERE tenant_id = $1 AND lower(email) = lower($2)`,
);

// The user may have another address now.
const eraseAcceptedInvitations = workspace.statement<never>(
  'access.erase_accepted_invitations',
  `DELETE FROM tenant_invitations WHERE tenant_id = $1 AND accepted_by = $2`,
);

/** The groups of a user, and the invitation by which the user joined. */
@Injectable()
export class GroupsPersonalData extends PersonalDataSource {
  constructor(data: PersonalData) {
    super(data, {
      name: 'groups',
      rows: { 'groups.json': groups },
      erasure: {
        rows: [eraseMemberships, ...eraseResets, eraseAcceptedInvitations],
        rowsByAddress: [eraseInvitations],
      },
    });
  }
}
