import { applyDecorators } from '@nestjs/common';
import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { IsString, Length, Matches } from 'class-validator';
import { MAX_QUERY } from '../../lib/search-text/index.js';

const message = `q must be text of 1 to ${MAX_QUERY} characters and not blank`;

/** The words of a search, in the field `q`. */
export const QueryText = (docs: ApiPropertyOptions = {}) =>
  applyDecorators(
    ApiProperty({ minLength: 1, maxLength: MAX_QUERY, pattern: '\\S', ...docs }),
    IsString({ message }),
    Matches(/\S/, { message }),
    Length(1, MAX_QUERY, { message }),
  );
