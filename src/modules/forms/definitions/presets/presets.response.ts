import { ApiProperty } from '@nestjs/swagger';
import { FormDefinition, FormResponse } from '../../form.response.js';

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
