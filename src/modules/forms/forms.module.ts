import { Module } from '@nestjs/common';
import { TenantsModule } from '../tenants/index.js';
import { FormClock } from './definitions/form-clock.js';
import { FormStatesService } from './definitions/form-states.service.js';
import { FormsController } from './definitions/forms.controller.js';
import { FormsService } from './definitions/forms.service.js';
import { AnalyticsService } from './results/analytics.service.js';
import { FormExportController } from './results/export.controller.js';
import { ExportService } from './results/export.service.js';
import { FormAccess } from './form-access.js';
import { FormDrafts } from './definitions/form-drafts.js';
import { FormEvents } from './changes/form-events.js';
import { FormVisitCounter } from './form-visit-counter.js';
import { FormsCleanup } from './responses/forms-cleanup.js';
import { FormsOfMembers } from './definitions/forms-of-members.js';
import { FormWritesRepository } from './changes/form-writes.repository.js';
import { FormsRepository } from './forms.repository.js';
import { Assistant } from './definitions/presets/assistant.js';
import { FormPresetsController } from './definitions/presets/presets.controller.js';
import { PresetsService } from './definitions/presets/presets.service.js';
import { PrincipalsRepository } from './principals.repository.js';
import { FormResponsesController } from './responses/responses.controller.js';
import { RespondentKeys } from './responses/respondent-keys.js';
import { ResponsesRepository } from './responses/responses.repository.js';
import { ResponsesService } from './responses/responses.service.js';
import { ResponseFiles } from './responses/response-files.repository.js';
import { SubmissionWrites } from './responses/submission-writes.js';
import { SubmissionsRepository } from './responses/submissions.repository.js';
import { SubmissionsService } from './responses/submissions.service.js';
import { FormUploadsService } from './responses/uploads.service.js';
import { ReportReader } from './results/reports/report-data.js';
import { ReportOutput } from './results/reports/report-output.service.js';
import { FormReportsController } from './results/reports/reports.controller.js';
import { ReportsRepository } from './results/reports/reports.repository.js';
import { ReportsService } from './results/reports/reports.service.js';
import { SharedReportsController } from './results/reports/shared-reports.controller.js';
import { SharedReportsService } from './results/reports/shared-reports.service.js';
import { ResponseScan } from './results/response-scan.js';
import { FormsSearchController } from './search/forms-search.controller.js';
import { FormSharingController } from './sharing/sharing.controller.js';
import { FormSharingService } from './sharing/sharing.service.js';
import { FormNotifications } from './forms.notifications.js';
import { FormsPersonalData } from './forms-personal-data.js';
import { FormPublicEvents } from './responses/form-public-events.js';

/** Static paths come before `:id`. */
@Module({
  imports: [TenantsModule],
  controllers: [
    FormPresetsController,
    FormsController,
    FormResponsesController,
    FormSharingController,
    FormExportController,
    FormsSearchController,
    FormReportsController,
    SharedReportsController,
  ],
  providers: [
    FormsPersonalData,
    FormPublicEvents,
    FormNotifications,
    FormsRepository,
    FormWritesRepository,
    FormAccess,
    FormEvents,
    FormVisitCounter,
    FormDrafts,
    FormsService,
    FormStatesService,
    FormClock,
    FormsCleanup,
    FormsOfMembers,
    PrincipalsRepository,
    Assistant,
    PresetsService,
    RespondentKeys,
    SubmissionsRepository,
    ResponseFiles,
    SubmissionWrites,
    SubmissionsService,
    ResponsesRepository,
    ResponsesService,
    FormUploadsService,
    FormSharingService,
    ResponseScan,
    ExportService,
    AnalyticsService,
    ReportsRepository,
    ReportsService,
    ReportReader,
    ReportOutput,
    SharedReportsService,
  ],
})
export class FormsModule {}
