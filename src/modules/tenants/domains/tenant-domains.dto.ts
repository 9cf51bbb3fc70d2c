import { ApiProperty } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { IsFQDN, MaxLength } from 'class-validator';

export class AddTenantDomain {
  /** @example "demo.example" */
  @ApiProperty({ maxLength: 253 })
  @Transform(({ value }) => (typeof value === 'string' ? value.trim().toLowerCase() : value))
  @MaxLength(253)
  @IsFQDN({}, { message: 'domain must be a domain name' })
  domain!: string;
}
