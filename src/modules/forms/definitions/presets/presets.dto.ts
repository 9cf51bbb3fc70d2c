import { ApiProperty } from '@nestjs/swagger';
import { Name, Optional, Text } from '../../../../platform/http/input.decorators.js';
import { FormDefinition, FormResponse } from '../../form.response.js';

const LANGUAGE = { maxLength: 35, example: 'en' };

export class ListPresets {
  /** Language of the texts (BCP 47): `en`, `de`, `pt` or `vi`. Other languages are English. */
  @Optional() @Text(35, { ...LANGUAGE, message: 'locale must be given once' }) locale?: string;
}

/** `preset_id`, or `prompt` for the assistant. */
export class DraftForm {
  @Optional() @Text(64, { example: 'event-rsvp' }) preset_id?: string;
  /** Description of the form for the assistant. It is sent to the language model that the operator has configured. */
  @Optional() @Text(4000, { example: 'A survey about our canteen with five questions' }) prompt?: string;
  /** Language of the form (BCP 47). Presets exist in `en`, `de`, `pt` and `vi`. */
  @Optional() @Text(35, LANGUAGE) language?: string;
  /** Default: the title of the preset, or one by the assistant. */
  @Optional() @Name(300, { example: 'Canteen survey' }) title?: string;
}

export class FormPresetResponse {
  @ApiProperty({ example: 'event-rsvp' }) id!: string;
  @ApiProperty({ example: 'Event reply' }) title!: string;
  @ApiProperty({ example: 'Who attends the event?' }) description!: string;
  @ApiProperty({ example: 'events' }) category!: string;
  definition!: FormDefinition;
}

export class FormPresetListEnvelope {
  presets!: FormPresetResponse[];
}

export class DraftedFormEnvelope {
  form!: FormResponse;
  @ApiProperty({ enum: ['preset', 'assistant'], example: 'preset' }) source!: string;
}
