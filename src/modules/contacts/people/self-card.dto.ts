import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn } from 'class-validator';
import { CARD_VERSIONS, type CardVersion } from '../../../lib/vcard/index.js';
import { Optional } from '../../../platform/http/input.decorators.js';

export class SelfCardQuery {
  /** Version of vCard. */
  @ApiPropertyOptional({ enum: CARD_VERSIONS, default: '3.0' })
  @Optional()
  @IsIn(CARD_VERSIONS)
  version: CardVersion = '3.0';

  /** `false`: without the photo. */
  @ApiPropertyOptional({ enum: ['true', 'false'], default: 'true' })
  @Optional()
  @IsIn(['true', 'false'])
  photo: 'true' | 'false' = 'true';
}

export const QR_FORMATS = ['png', 'svg'] as const;

export class SelfCardQrQuery {
  /** Format of the picture. */
  @ApiPropertyOptional({ enum: QR_FORMATS, default: 'png' })
  @Optional()
  @IsIn(QR_FORMATS)
  format: (typeof QR_FORMATS)[number] = 'png';
}
