import { Module } from '@nestjs/common';
import { TenantsModule } from '../tenants/index.js';
import { FormStatesService } from './definitions/form-states.service.js';
import { FormsController } from './definitions/forms.controller.js';
import { FormsService } from './definitions/forms.service.js';
import { AnalyticsService } from './export/analytics.service.js';
import { FormExportController } from './export/export.controller.js';
import { ExportService } from './export/export.service.js';
import { FormAccess } from './form-access.js';
import { FormDrafts } from './form-drafts.js';
import { FormEvents } from './form-events.js';
import { FormsCleanup } from './forms-cleanup.js';
import { FormsOfMembers } from './forms-of-members.js';
import { FormWritesRepository } from './form-writes.repository.js';
import { FormsRepository } from './forms.repository.js';
import { Assistant } from './presets/assistant.js';
import { FormPresetsController } from './presets/presets.controller.js';
import { PresetsService } from './presets/presets.service.js';
import { PrincipalsRepository } from './principals.repository.js';
import { FormResponsesController } from './responses/responses.controller.js';
import { ResponsesRepository } from './responses/responses.repository.js';
import { ResponsesService } from './responses/responses.service.js';
import { SubmissionsRepository } from './responses/submissions.repository.js';
import { SubmissionsService } from './responses/submissions.service.js';
import { FormUploadsService } from './responses/uploads.service.js';
import { ReportReader } from './reports/report-data.js';
import { ReportOutput } from './reports/report-output.service.js';
import { FormReportsController } from './reports/reports.controller.js';
import { ReportsRepository } from './reports/reports.repository.js';
import { ReportsService } from './reports/reports.service.js';
import { SharedReportsController } from './reports/shared-reports.controller.js';
import { SharedReportsService } from './reports/shared-reports.service.js';
import { ResponseScan } from './response-scan.js';
import { ScanSlots } from './scan-slots.js';
import { FormsSearchController } from './search/forms-search.controller.js';
import { FormSharingController } from './sharing/sharing.controller.js';
import { FormSharingService } from './sharing/sharing.service.js';

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
    FormsRepository,
    FormWritesRepository,
    FormAccess,
    FormEvents,
    FormDrafts,
    FormsService,
    FormStatesService,
    FormsCleanup,
    FormsOfMembers,
    PrincipalsRepository,
    Assistant,
    PresetsService,
    SubmissionsRepository,
    SubmissionsService,
    ResponsesRepository,
    ResponsesService,
    FormUploadsService,
    FormSharingService,
    ResponseScan,
    ScanSlots,
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
