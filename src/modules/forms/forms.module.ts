import { Module } from '@nestjs/common';
import { TenantsModule } from '../tenants/index.js';
import { FormClock } from './definitions/form-clock.js';
import { FormStatesService } from './definitions/form-states.service.js';
import { FormsController } from './definitions/forms.controller.js';
import { FormDrafts, FormsService } from './definitions/forms.service.js';
import { AnalyticsService, ExportService, FormExportController } from './results/export.controller.js';
import { FormAccess } from './form-access.js';
import { FormEvents, FormWritesRepository } from './changes/form-writes.repository.js';
import { FormVisitCounter } from './form-visit-counter.js';
import { FormsCleanup } from './responses/forms-cleanup.js';
import { FormsOfMembers, FormsPersonalData } from './forms-of-members.js';
import { FormsRepository } from './forms.repository.js';
import {
  Assistant,
  FormPresetsController,
  PresetsService,
} from './definitions/presets/presets.controller.js';
import { PrincipalsRepository } from './principals.repository.js';
import { FormResponsesController } from './responses/responses.controller.js';
import { RespondentKeys } from './responses/respondent-keys.js';
import { ResponsesRepository } from './responses/responses.repository.js';
import { ResponsesService } from './responses/responses.service.js';
import { ResponseFiles, SubmissionsRepository } from './responses/submissions.repository.js';
import { SubmissionWrites } from './responses/submission-writes.js';
import { SubmissionsService } from './responses/submissions.service.js';
import { FormUploadsService } from './responses/uploads.service.js';
import { ReportReader } from './results/reports/report-data.js';
import { ReportOutput } from './results/reports/report-output.service.js';
import { FormReportsController, SharedReportsController } from './results/reports/reports.controller.js';
import { ReportsRepository } from './results/reports/reports.repository.js';
import { ReportsService } from './results/reports/reports.service.js';
import { SharedReportsService } from './results/reports/shared-reports.service.js';
import { ResponseScan } from './results/response-scan.js';
import { FormsSearchController } from './search/forms-search.controller.js';
import { FormSharingController, FormSharingService } from './sharing/sharing.controller.js';
import { FormNotifications } from './forms.notifications.js';
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
