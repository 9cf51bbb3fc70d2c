export { FormsModule } from './forms.module.js';
export { RespondentKeys } from './responses/respondent-keys.js';
