import { Injectable } from '@nestjs/common';
import { directory } from '../../platform/database/statement.js';
import { PersonalData, PersonalDataSource } from '../../platform/personal-data/personal-data.js';
import { personalRows } from '../../platform/personal-data/personal-rows.js';

const links = directory.statement<never>(
  'issuers.personal_links',
  personalRows(`SELECT link.tenant_id, link.issuer_id, link.subject, link.created_at
       FROM tenant_issuer_links link WHERE link.account_id = $1 ORDER BY link.tenant_id, link.issuer_id`),
);

const eraseLinks = directory.statement<never>(
  'issuers.erase_links',
  `DELETE FROM tenant_issuer_links WHERE tenant_id = $1 AND account_id = $2`,
);

/** The links of an account to issuers of workspaces. */
@Injectable()
export class IssuerPersonalData extends PersonalDataSource {
  constructor(data: PersonalData) {
    super(data, {
      name: 'issuers',
      accountRows: { 'links.json': links },
      erasure: { directoryRows: [eraseLinks] },
    });
  }
}
