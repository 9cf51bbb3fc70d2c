import { ApiProperty } from '@nestjs/swagger';

export class DirectoryResultResponse {
  @ApiProperty({ enum: ['user', 'group'], example: 'user' }) kind!: string;
  @ApiProperty({ format: 'uuid', example: '01890a5d-ac96-774b-bcce-b302099a8057' }) id!: string;
  @ApiProperty({ example: 'Alice Martin' }) name!: string;
  @ApiProperty({
    type: String,
    nullable: true,
    example: 'alice@demo.example',
    description: 'Groups have none.',
  })
  email!: string | null;
  @ApiProperty({ type: String, nullable: true, example: null }) avatar_url!: string | null;
  @ApiProperty({
    example: 1,
    minimum: 0,
    maximum: 1,
    description: '1: begins like that; 0.9: has words that begin like that; less: looks alike.',
  })
  score!: number;
}

export class DirectoryEnvelope {
  @ApiProperty({ type: [DirectoryResultResponse], description: 'Best first.' })
  results!: DirectoryResultResponse[];
}
