import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsString, MaxLength } from 'class-validator';
import { Name, Optional } from '../../../../platform/http/input.decorators.js';

const LANGUAGE = { maxLength: 35, example: 'en' };

export class ListPresets {
  /** Language of the texts (BCP 47): `en`, `de`, `pt` or `vi`. Other languages are English. */
  @ApiPropertyOptional(LANGUAGE)
  @Optional()
  @MaxLength(35)
  @IsString({ message: 'locale must be given once' })
  locale?: string;
}

/** `preset_id`, or `prompt` for the assistant. */
export class DraftForm {
  @ApiPropertyOptional({ maxLength: 64, example: 'event-rsvp' })
  @Optional()
  @MaxLength(64)
  @IsString()
  preset_id?: string;

  /** Description of the form for the assistant. It is sent to the language model that the operator has configured. */
  @ApiPropertyOptional({ maxLength: 4000, example: 'A survey about our canteen with five questions' })
  @Optional()
  @MaxLength(4000)
  @IsString()
  prompt?: string;

  /** Language of the form (BCP 47). Presets exist in `en`, `de`, `pt` and `vi`. */
  @ApiPropertyOptional(LANGUAGE)
  @Optional()
  @MaxLength(35)
  @IsString()
  language?: string;

  /** Default: the title of the preset, or one by the assistant. */
  @ApiPropertyOptional({ minLength: 1, maxLength: 300, example: 'Canteen survey' })
  @Optional()
  @Name(300)
  title?: string;
}
