import { ApiProperty } from '@nestjs/swagger';

export class PersonResponse {
  @ApiProperty({ format: 'uuid', example: '01890a5d-ac96-774b-bcce-b302099a8057' }) user_id!: string;
  @ApiProperty({ example: 'Bob Okafor' }) display_name!: string;
  @ApiProperty({ example: 'bob@demo.example' }) email!: string;
  @ApiProperty({ enum: ['owner', 'admin', 'member'], example: 'admin' }) role!: string;
  @ApiProperty({ enum: ['active', 'deactivated'], example: 'active' }) status!: string;
  @ApiProperty({ format: 'date-time', example: '2026-11-21T09:30:00.000Z' }) created_at!: string;
}

export class PersonEnvelope {
  @ApiProperty({ type: PersonResponse }) member!: PersonResponse;
}

export class PersonListEnvelope {
  @ApiProperty({ type: [PersonResponse] }) members!: PersonResponse[];
  @ApiProperty({
    type: String,
    nullable: true,
    example: null,
    description: 'The `cursor` of the next page; null on the last.',
  })
  next!: string | null;
}
