import { ApiProperty } from '@nestjs/swagger';
import { UUID } from '../../../platform/field-docs/field-docs.js';

export class FormAccessResponse {
  @ApiProperty({ enum: ['user', 'group'], example: 'user' }) kind!: string;
  @ApiProperty(UUID) id!: string;
  @ApiProperty({ example: 'Bob Stone' }) name!: string;
  @ApiProperty({ enum: ['respondent', 'viewer', 'editor'], example: 'respondent' }) role!: string;
}

export class FormAccessListEnvelope {
  access!: FormAccessResponse[];
}
