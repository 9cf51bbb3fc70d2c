import { defineError } from '../http/api-error.js';

/** The errors of image processing. */
export const ImageErrors = {
  invalid: defineError(
    422,
    'invalid_image',
    'The content is no PNG, JPEG, GIF or WebP image, it is damaged, or it has too many pixels.',
  ),
  unavailable: defineError(503, 'image_encoder_unavailable', 'Images cannot be processed now; retry later.'),
} as const;
