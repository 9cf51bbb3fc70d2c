import { ApiProperty } from '@nestjs/swagger';

export class DirectoryResultResponse {
  @ApiProperty({ enum: ['user', 'group'], example: 'user' }) kind!: string;
  @ApiProperty({ format: 'uuid', example: '01890a5d-ac96-774b-bcce-b302099a8057' }) id!: string;
  /** @example "Alice Martin" */ name!: string;
  /** Null for groups. */
  @ApiProperty({ example: 'alice@demo.example' })
  email!: string | null;
  @ApiProperty({ type: String, nullable: true, example: null }) avatar_url!: string | null;
  /** 1: begins with the query; 0.9: contains words that begin with it; less: similar. @example 1 */
  @ApiProperty({ minimum: 0, maximum: 1 })
  score!: number;
}

export class DirectoryEnvelope {
  /** Best match first. */ results!: DirectoryResultResponse[];
}
