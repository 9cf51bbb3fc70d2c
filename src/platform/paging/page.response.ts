import { ApiProperty } from '@nestjs/swagger';

/** A page of a list, beside its items. */
export class PageEnvelope {
  /** The `cursor` of the next page; null on the last page. */
  @ApiProperty({ example: null }) next!: string | null;
}

/** A list without pages, beside its items. */
export class WholeListEnvelope {
  /** Always null: the list is complete. */
  @ApiProperty({ type: String, nullable: true, example: null }) next!: null;
}
