import { Injectable } from '@nestjs/common';
import { workspace } from '../../platform/database/statement.js';
import { PersonalData, PersonalDataSource } from '../../platform/personal-data/personal-data.js';
import { personalRows } from '../../platform/personal-data/personal-rows.js';

const groups = workspace.statement<never>(
  'access.personal_groups',
  personalRows(`SELECT team.id, team.name FROM rbac_members member
       JOIN rbac_groups team ON team.tenant_id = member.tenant_id AND team.id = member.group_id
      WHERE member.tenant_id = $1 AND member.user_id = $2 ORDER BY team.id`),
);

/** The groups of a user. */
@Injectable()
export class GroupsPersonalData extends PersonalDataSource {
  constructor(data: PersonalData) {
    super(data, { name: 'groups', rows: { 'groups.json': groups } });
  }
}
