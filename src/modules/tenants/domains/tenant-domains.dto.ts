import { ApiProperty } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { IsFQDN, MaxLength } from 'class-validator';
import { domainName } from './domain-name.js';

export class AddTenantDomain {
  /**
   * An internationalised domain is stored as DNS spells it, such as `xn--bcher-kva.example`.
   * @example "demo.example"
   */
  @ApiProperty({ maxLength: 253 })
  @Transform(({ value }) => (typeof value === 'string' ? domainName(value) : value))
  @MaxLength(253)
  @IsFQDN({}, { message: 'domain must be a domain name' })
  domain!: string;
}
