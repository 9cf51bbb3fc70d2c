import { Module } from '@nestjs/common';
import { AccountSecurityModule } from '../account-security/index.js';
import { CalendarModule, CalendarPlanningModule } from '../calendar/index.js';
import { ContactsModule } from '../contacts/index.js';
import { DirectoryModule } from '../directory/index.js';
import { TasksModule } from '../tasks/index.js';
import { TenantsModule } from '../tenants/index.js';
import { DavAuthenticator } from './auth/dav-authenticator.js';
import { AddressbookCollections } from './collections/addressbooks.js';
import { CalendarHome } from './collections/calendar-home.js';
import { CalendarCollections } from './collections/calendars.js';
import { TaskCollections } from './collections/task-lists.js';
import { DavProfileController } from './dav-profile.controller.js';
import { DavServer } from './dav.server.js';
import { CollectionWrites } from './methods/collection-writes.js';
import { Principals, PrincipalSearch } from './methods/principals.js';
import { Propfind } from './methods/propfind.js';
import { Reports } from './methods/reports.js';
import { Scheduling } from './methods/scheduling.js';
import { SyncStates } from './sync-states.js';
import { DavNames } from './dav-names.js';
import { DavPersonalData } from './dav-personal-data.js';
import { DavPropertyStore } from './dav-properties.js';

/** CalDAV and CardDAV on the services of calendar, tasks and contacts (adr/0067). */
@Module({
  imports: [
    AccountSecurityModule,
    CalendarModule,
    CalendarPlanningModule,
    ContactsModule,
    DirectoryModule,
    TasksModule,
    TenantsModule,
  ],
  controllers: [DavProfileController],
  providers: [
    DavNames,
    DavPersonalData,
    DavPropertyStore,
    CalendarCollections,
    TaskCollections,
    CalendarHome,
    AddressbookCollections,
    Principals,
    PrincipalSearch,
    Propfind,
    Reports,
    Scheduling,
    SyncStates,
    CollectionWrites,
    DavAuthenticator,
    DavServer,
  ],
  exports: [DavServer],
})
export class DavModule {}
