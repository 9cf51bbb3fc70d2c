import { ApiProperty } from '@nestjs/swagger';
import { defineError } from '../../platform/http/api-error.js';
import { ErrorResponse } from '../../platform/http/error.response.js';

class YearUnsupportedResponse extends ErrorResponse {
  @ApiProperty({ enum: ['year_unsupported'], example: 'year_unsupported' })
  override error!: 'year_unsupported';
  @ApiProperty({ type: 'integer', example: 2020 }) first_year!: number;
  @ApiProperty({ type: 'integer', example: 2045 }) last_year!: number;
}

export const HolidayErrors = {
  unknownCountry: defineError(422, 'unknown_country', 'There are no holidays for this country code.'),
  unknownRegion: defineError(422, 'unknown_region', 'The country has no region with this code.'),
  yearUnsupported: defineError(
    422,
    'year_unsupported',
    'Holidays are known for the years from first_year to last_year.',
    { example: { first_year: 2020, last_year: 2045 }, type: YearUnsupportedResponse },
  ),
} as const;
