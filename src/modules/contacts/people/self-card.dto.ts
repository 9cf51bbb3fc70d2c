import { CARD_VERSIONS, type CardVersion } from '../../../lib/vcard/index.js';
import { OneOf, Optional } from '../../../platform/http/input.decorators.js';

export class SelfCardQuery {
  /** Version of vCard. */
  @Optional() @OneOf(CARD_VERSIONS) version: CardVersion = '3.0';
  /** `false`: without the photo. */
  @Optional() @OneOf(['true', 'false']) photo: 'true' | 'false' = 'true';
}

export const QR_FORMATS = ['png', 'svg'] as const;

export class SelfCardQrQuery {
  /** Format of the picture. */
  @Optional() @OneOf(QR_FORMATS) format: (typeof QR_FORMATS)[number] = 'png';
}
