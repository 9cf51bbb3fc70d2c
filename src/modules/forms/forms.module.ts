import { Module } from '@nestjs/common';
import { FormStatesService } from './definitions/form-states.service.js';
import { FormsController } from './definitions/forms.controller.js';
import { FormsService } from './definitions/forms.service.js';
import { FormAccess } from './form-access.js';
import { FormDrafts } from './form-drafts.js';
import { FormEvents } from './form-events.js';
import { FormWritesRepository } from './form-writes.repository.js';
import { FormsRepository } from './forms.repository.js';
import { Assistant } from './presets/assistant.js';
import { FormPresetsController } from './presets/presets.controller.js';
import { PresetsService } from './presets/presets.service.js';

/** Static paths come before `:id`. */
@Module({
  controllers: [FormPresetsController, FormsController],
  providers: [
    FormsRepository,
    FormWritesRepository,
    FormAccess,
    FormEvents,
    FormDrafts,
    FormsService,
    FormStatesService,
    Assistant,
    PresetsService,
  ],
})
export class FormsModule {}
