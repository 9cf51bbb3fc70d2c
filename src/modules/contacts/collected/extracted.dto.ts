import { IsOptional } from 'class-validator';
import { Text, Time } from '../../../platform/http/input.decorators.js';
import { PageQuery } from '../../../platform/paging/page.dto.js';

export class ListExtracted extends PageQuery {
  /** Beginning of the address, or of a word of the address or name. */
  @IsOptional() @Text(200, { example: 'mar' }) q?: string;

  /** Only addresses used at or after this time. */
  @IsOptional()
  @Time({ message: 'since must be a time (RFC 3339)', example: '2026-01-01T00:00:00Z' })
  since?: Date;
}

export class RemoveExtracted {
  @Text(320, { example: 'maria@example.com' }) email!: string;
}
