import { ApiProperty, ApiPropertyOptional, PartialType } from '@nestjs/swagger';
import { IsString } from 'class-validator';
import { defineError } from '../../../platform/http/errors.js';
import { Flag, MaxBytes, Name, Nullable, Optional } from '../../../platform/http/input.decorators.js';
import { QUOTAS } from '../../../platform/quotas/quotas.js';
import { ItemFields } from '../../../platform/resources/item.response.js';
import { resource } from '../../../platform/resources/resource.js';

export const MAX_HTML = 64 * 1024;

export class CreateSignature {
  @Name(100, { example: 'Work' }) name!: string;

  /** At most 64 KiB. Scripts, forms and the like are removed. */
  @ApiProperty({ maxLength: MAX_HTML, example: '<p>Alice Martin<br>Research</p>' })
  @MaxBytes(MAX_HTML)
  @IsString()
  html!: string;

  /** For mail without HTML. Null: derived from the HTML, now and after each change of it. */
  @ApiPropertyOptional({
    type: String,
    nullable: true,
    maxLength: MAX_HTML,
    example: 'Alice Martin\nResearch',
  })
  @Nullable()
  @MaxBytes(MAX_HTML)
  @IsString()
  text?: string | null;

  /** Replaces the current default. */
  @Optional() @Flag({ example: true }) is_default?: boolean;
}

export class UpdateSignature extends PartialType(CreateSignature, { skipNullProperties: false }) {}

export class SignatureResponse extends ItemFields {
  /** @example "Work" */ name!: string;
  /** @example "<p>Alice Martin<br>Research</p>" */ html!: string;
  /** @example "Alice Martin Research" */ text!: string;
  /** @example true */ is_default!: boolean;
}

export const SIGNATURES = resource({
  tag: 'settings',
  name: 'signature',
  path: 'settings/signatures',
  item: SignatureResponse,
  notFound: 'You have no such signature.',
});

export const tooManySignatures = defineError(
  422,
  'too_many_signatures',
  `A user may have at most ${QUOTAS.user.signatures} signatures.`,
);
