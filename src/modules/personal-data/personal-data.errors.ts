import { defineError } from '../../platform/http/api-error.js';

export const PersonalDataErrors = {
  exportNotFound: defineError(404, 'not_found', 'There is no finished export of your data.'),
  exportRunning: defineError(409, 'export_running', 'An export of your data is already running.'),
} as const;
