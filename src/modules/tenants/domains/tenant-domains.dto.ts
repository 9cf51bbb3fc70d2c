import { ApiProperty } from '@nestjs/swagger';
import { IsFQDN, MaxLength } from 'class-validator';
import { AsDomainName } from './domain-name.js';
import { WholeListEnvelope } from '../../../platform/paging/page.dto.js';
import { DATE_TIME } from '../../../platform/field-docs/field-docs.js';

export class AddTenantDomain {
  /**
   * An internationalised domain is stored as DNS spells it, such as `xn--bcher-kva.example`.
   * @example "demo.example"
   */
  @ApiProperty({ maxLength: 253 })
  @AsDomainName()
  @MaxLength(253)
  @IsFQDN({}, { message: 'domain must be a domain name' })
  domain!: string;
}

const RECORD = {
  name: '_workspace-challenge.demo.example',
  value: 'workspace-verification=4f0c1e8f0d7a4c7d9d0d3e0d6c1f5b7a2e9c8d41',
};

export class DomainRecordResponse {
  /** @example "_workspace-challenge.demo.example" */ name!: string;
  /** @example "workspace-verification=4f0c1e8f0d7a4c7d9d0d3e0d6c1f5b7a2e9c8d41" */ value!: string;
}

export class TenantDomainDetail {
  /** @example "demo.example" */ domain!: string;
  /** @example true */ verified!: boolean;
  @ApiProperty(DATE_TIME) verified_at!: string | null;
  /** The TXT record that verifies the domain; null for a domain that the operator added. */
  @ApiProperty({ type: DomainRecordResponse, nullable: true, example: RECORD })
  txt_record!: DomainRecordResponse | null;
  @ApiProperty(DATE_TIME) created_at!: string;
}

export class TenantDomainEnvelope {
  domain!: TenantDomainDetail;
}

export class TenantDomainListEnvelope extends WholeListEnvelope {
  /** At most 50. */
  domains!: TenantDomainDetail[];
}
