import { ApiProperty } from '@nestjs/swagger';

export class FormAccessResponse {
  @ApiProperty({ enum: ['user', 'group'], example: 'user' }) kind!: string;
  @ApiProperty({ format: 'uuid', example: '01890a5d-ac96-774b-bcce-b302099a8057' }) id!: string;
  @ApiProperty({ example: 'Bob Stone' }) name!: string;
  @ApiProperty({ enum: ['respondent', 'viewer', 'editor'], example: 'respondent' }) role!: string;
}

export class FormAccessListEnvelope {
  access!: FormAccessResponse[];
}
