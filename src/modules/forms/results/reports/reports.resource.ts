import { resource } from '../../../../platform/resources/resource.js';
import { FormReportResponse } from './reports.response.js';

export const REPORTS = resource({
  tag: 'forms',
  name: 'report',
  path: 'forms/:id/reports',
  item: FormReportResponse,
  notFound: 'This report does not exist.',
});
